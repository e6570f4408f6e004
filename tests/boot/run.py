#!/usr/bin/env python3
"""`gpucheck run --boot` and `--wait` from outside: what lies in /run afterwards, what a killed run leaves behind, and that running out of
time is unknown and never a fail.

usage: run.py GPUCHECK SOURCE_DIR
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

gpucheck, source = sys.argv[1], Path(sys.argv[2])
problems = []


def expect(what, fine, more=""):
    if not fine:
        problems.append(f"{what}: {more}")


def run(*arguments, folder=None):
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_DIRECTORY")}
    if folder:
        environment.update(RUNTIME_DIRECTORY=str(folder / "run"), STATE_DIRECTORY=f"{folder / 'state'}:/var/lib/other")
    done = subprocess.run([gpucheck, "run", *arguments], capture_output=True, text=True, timeout=120, env=environment)
    return done.returncode, done.stdout, done.stderr


def place(scratch, name):
    folder = scratch / name
    (folder / "state").mkdir(parents=True)
    return folder


def codes_of(folder):
    return json.loads((folder / "run/verdict.json").read_text())["codes"]


def boot_of_a_recorded_machine(scratch):
    machine = ["--boot", "--machine", source / "tests/machines/h100-x8-one-missing", "--expect", "gpu_count=8"]
    status, _, told = run(*machine)
    expect("a simulated verdict is not written where this machine's is", status == 64 and "RUNTIME_DIRECTORY" in told, told)
    folder = place(scratch, "recorded")
    status, out, told = run(*machine, folder=folder)
    verdict = json.loads((folder / "run/verdict.json").read_text())
    expect("the verdict is the exit status", status == 1 == verdict["exit_status"], (status, told))
    expect("one line on the console", out.count("\n") == 1 and out.startswith("gpucheck: FAIL: 7 of 8 GPUs"), out)
    expect("the same line in verdict.json", verdict["line"] == out.strip(), verdict["line"])
    expect("its codes", "gpu.count.missing" in verdict["codes"], verdict["codes"])
    expect("it says that it is simulated", verdict["simulated"] is True)
    report = json.loads((folder / "run/report.json").read_text())
    expect("the report beside it", report["report_id"] == verdict["report_id"] and report["profile"] == "boot", report["profile"])
    expect("nothing is waited for on a recorded machine", report["readiness"] is None)
    expect("a report for people", "gpu.count.missing" in (folder / "run/report.txt").read_text())
    expect("one line for the message of the day", (folder / "run/motd").read_text().count("\n") == 1)
    expect("a run that ended leaves no marker", not (folder / "state/running.json").exists())
    expect("and none was there", "boot.interrupted" not in verdict["codes"])

    for content, where in (('{"boot_id":"other","started":"2026-11-30T10:00:00Z","stage":"experiments: matrix (0000:19:00.0)",'
                            '"device":"0000:19:00.0","earlier":1}', "matrix"), ("\x00\xff{", "does not say where")):
        (folder / "state/running.json").write_text(content, encoding="latin-1")
        run(*machine, folder=folder)
        text = " ".join((folder / "run/report.txt").read_text().split())
        expect("a run that was cut off is seen", "boot.interrupted" in codes_of(folder) and where in text, text[:2000])
        run(*machine, folder=folder)
        expect("and seen once", "boot.interrupted" not in codes_of(folder))


def what_goes_wrong_after_the_verdict(scratch):
    folder = place(scratch, "unwritable")
    machine = ["--boot", "--machine", source / "tests/machines/h100-x8-one-missing", "--expect", "gpu_count=8"]
    status, out, told = run(*machine, "--output", folder / "no/such", folder=folder)
    verdict = json.loads((folder / "run/verdict.json").read_text())
    expect("a report that cannot be written is status 70", status == 70 == verdict["exit_status"], (status, verdict, told))
    expect("and the verdict stays what it was", verdict["verdict"] == "fail" and "gpu.count.missing" in verdict["codes"], verdict)
    expect("with its report", json.loads((folder / "run/report.json").read_text())["report_id"] == verdict["report_id"])
    expect("and its line", out.startswith("gpucheck: FAIL") and "FAIL" in (folder / "run/motd").read_text(), out)


def what_cannot_be_done(scratch):
    """Nobody waits for ever, and nobody takes the verdict of an earlier run for this one's."""
    folder = place(scratch, "refused")
    machine = ["--machine", source / "tests/machines/h100-x8-one-missing"]
    (folder / "config.json").write_text("{")
    for what, options in (("an option of another program", ["--bogus"]), ("a number that is none", ["--budget", "soon"]),
                          ("a config that is none", ["--config", folder / "config.json"]),
                          ("a promise that is none", ["--expect", "gpus=many"]),
                          ("an experiment that is none", ["--experiment", "nonsense"]),
                          ("a machine that is none", ["--machine", folder / "nowhere"])):
        run("--boot", *machine, folder=folder)
        expect(f"{what}: the run before had a report", (folder / "run/report.json").exists())
        given = options if options[0] == "--machine" else machine + options
        status, _, told = run("--boot", *given, folder=folder)
        verdict = json.loads((folder / "run/verdict.json").read_text())
        expect(f"{what}: refused", status == 64 == verdict["exit_status"] and verdict["verdict"] == "unknown", (status, verdict, told))
        expect(f"{what}: its line", verdict["line"].startswith("gpucheck: UNKNOWN: gpucheck could not begin: "), verdict["line"])
        expect(f"{what}: simulated, and no report", verdict["simulated"] and verdict["report_id"] is None, verdict)
        expect(f"{what}: no report of the run before", not (folder / "run/report.json").exists())
    run("--boot", *machine, folder=folder)
    before = (folder / "run/verdict.json").read_text()
    run(*machine, "--bogus", folder=folder)
    expect("without --boot nobody is told", (folder / "run/verdict.json").read_text() == before)


def wait_for_what_does_not_come(scratch):
    if any(Path("/dev").glob("nvidia[0-9]*")) or Path("/dev/kfd").exists():
        print("this machine has GPUs: the wait for them is not tried")
        return
    promised = ["--expect", "gpu_count=8", "--budget", "30"]
    status, out, told = run("--wait", "1", *promised, "--format", "json")
    report = json.loads(out)
    expect("it waited", 1 <= report["readiness"]["waited_s"] < 60, report["readiness"])
    expect("each change of state is a line", "[bus, " in told, told)
    found = {finding["code"]: finding for finding in report["findings"]}
    expect("running out of time is unknown", found.get("driver.not_ready", {}).get("verdict") == "unknown", list(found))
    status, out, _ = run(*promised, "--format", "json")
    expect("without --wait nothing is waited for", json.loads(out)["readiness"] is None and "driver.not_ready" not in out)
    try:
        import jsonschema
        schema = json.loads((source / "docs/report.schema.json").read_text())
        jsonschema.Draft202012Validator(schema).validate(report)
    except ImportError:
        print("no jsonschema: the report is not validated")

    folder = place(scratch, "killed")
    environment = dict(os.environ, RUNTIME_DIRECTORY=str(folder / "run"), STATE_DIRECTORY=str(folder / "state"))
    killed = subprocess.Popen([gpucheck, "run", "--boot", "--wait", "100", *promised], env=environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    marker = folder / "state/running.json"
    for _ in range(600):
        if marker.exists() and "waiting for drivers" in marker.read_text():
            break
        time.sleep(0.05)
    status, out, _ = run("--profile", "boot", "--wait", "0", *promised, "--format", "json", folder=folder)
    expect("a run beside it is no interruption", "boot.interrupted" not in out)
    expect("and leaves its marker alone", marker.exists())
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    for _ in range(100):  # its keeper ends a moment after it
        status, out, _ = run("--profile", "boot", "--wait", "0", *promised, "--format", "json", folder=folder)
        found = {finding["code"]: finding for finding in json.loads(out)["findings"]}
        if "boot.interrupted" in found:
            break
        time.sleep(0.1)
    expect("a run that was killed is seen", "waiting for drivers" in found.get("boot.interrupted", {}).get("observed", ""), found.get("boot.interrupted"))
    expect("in this boot", "in this boot" in found.get("boot.interrupted", {}).get("observed", ""))
    expect("no verdict of it is there", not (folder / "run/verdict.json").exists())


def wrong_command_lines():
    for text in ("-1", "soon", "nan", "1e9", ""):
        status, _, _ = run("--wait", text)
        expect(f"--wait '{text}' is refused", status == 64, status)


def main():
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        boot_of_a_recorded_machine(scratch)
        what_goes_wrong_after_the_verdict(scratch)
        what_cannot_be_done(scratch)
        wait_for_what_does_not_come(scratch)
    wrong_command_lines()
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
