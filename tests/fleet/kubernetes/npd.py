#!/usr/bin/env python3
"""The node-problem-detector plugin: 80 bytes, 5 s, and never "no fault" about what is old, broken or not there.

usage: npd.py GPUCHECK SOURCE_DIR
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GPUCHECK, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
SCRIPT = SOURCE / "fleet/kubernetes/gpucheck-npd"
problems = []


def check(what, fine, more=""):
    if not fine:
        problems.append(what)
        print(f"PROBLEM {what}: {more}")


def plugin(*arguments, script=SCRIPT):
    began = time.monotonic()
    done = subprocess.run(["/bin/sh", script, *map(str, arguments)], capture_output=True, text=True, timeout=30, env={"PATH": "/nowhere", "IFS": "x"})
    check(f"{arguments}: one line of at most 80 bytes", len(done.stdout.encode()) <= 80 and done.stdout.count("\n") == 1 and done.stdout.strip(), done.stdout)
    return done.returncode, done.stdout.strip(), time.monotonic() - began


def metrics_of(machine, folder, *more):
    path = folder / f"{machine}.prom"
    subprocess.run([GPUCHECK, "run", "--machine", SOURCE / "tests/machines" / machine, "--format", "prometheus", "--output", path, *more],
                   capture_output=True, timeout=60)
    text = path.read_text()
    return path, re.sub(r"(gpucheck_run_timestamp_seconds) \S+", rf"\1 {int(time.time())}", text)


def from_metrics(folder):
    for machine, more, status, line in (
            ("h100-x8-healthy", (), 0, "gpucheck: no fault found"), ("h100-x2-one-narrow", (), 1, "pcie.link.narrow on 0000:29:00.0"),
            ("mi300x-kfd-denied-to-user", (), 1, "kfd.node.denied on /dev/kfd (+1)"),
            ("h100-x8-healthy", ("--profile", "boot"), 2, "unknown: experiments.not_run on host (+3)"), ("no-gpu-vm", (), 2, "unknown: ")):
        path, text = metrics_of(machine, folder, *more)
        path.write_text(text)
        got = plugin(path, 900)
        check(f"metrics of {machine}", got[0] == status and got[1].startswith(line), got)
    path, text = metrics_of("h100-x8-healthy", folder)
    now = int(time.time())
    for what, changed, line in (("old", re.sub(r"(timestamp_seconds) \S+", rf"\1 {now - 7200}", text), "last looked 120 min ago"),
                                ("of the future", re.sub(r"(timestamp_seconds) \S+", rf"\1 {now + 7200}", text), "a clock is wrong"),
                                ("without a time", re.sub(r"gpucheck_run_timestamp_seconds \S+\n", "", text), "without a verdict"),
                                ("without a verdict", re.sub(r"gpucheck_verdict \d\n", "", text), "without a verdict"),
                                ("with another verdict", text.replace("gpucheck_verdict 1", "gpucheck_verdict 9"), "without a verdict"),
                                ("of two runs", text + "gpucheck_verdict 1\n", "more than one verdict"),
                                ("empty", "", "without a verdict"), ("junk", "\x00\xff" * 5000, "")):
        path.write_text(changed, errors="surrogateescape")
        got = plugin(path, 900)
        check(f"metrics that are {what} are no news", got[0] == 2 and line in got[1], got)
    path.write_text(text.replace("gpucheck_verdict 1", "gpucheck_verdict 4") + 'gpucheck_finding{code="$(reboot)",subject="x",verdict="fail"} 1\n'
                    f'gpucheck_finding{{code="a.b",subject="{"x" * 300}",verdict="fail"}} 1\n')
    got = plugin(path, 900)
    check("only codes and subjects get out", got[0] == 1 and got[1].startswith("a.b on xxx"), got)
    for arguments in ((folder / "absent", 900), (path, "x"), (path, ""), (path,), (path, 1, 2)):
        check(f"{arguments} is no news", plugin(*arguments)[0] == 2)


def hostile_files(folder):
    """Whatever lies where the metrics are looked for: an answer in time, and no news."""
    good = metrics_of("h100-x8-healthy", folder)[1]
    pipe, loop, dangling, huge, device = (folder / name for name in ("pipe", "loop", "dangling", "huge", "device"))
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    dangling.symlink_to(folder / "absent")
    device.symlink_to("/dev/zero")
    huge.write_text(good)
    os.truncate(huge, 1 << 40)  # sparse
    lines, line, binary, locked, linked = (folder / name for name in ("lines", "line", "binary", "locked", "linked"))
    lines.write_text(good + "# comment\n" * 200000)
    line.write_text(good.replace("\n", " ") + "x" * 900000)
    binary.write_bytes(os.urandom(300000))
    locked.write_text(good)
    locked.chmod(0)
    for path, words in ((pipe, "no regular file"), (folder, "no regular file"), (device, "no regular file"), (Path("/dev/stdin"), ""),
                        (loop, "no metrics"), (dangling, "no metrics"), (huge, "larger than"), (lines, "larger than"), (line, "without a verdict"),
                        (binary, ""), (folder / ("x" * 5000), "no metrics"), (Path("--help"), "no metrics"), (Path("-"), "no metrics")):
        got = plugin(path, 900)
        check(f"{path.name[:20]} is no news, in time", got[0] == 2 and words in got[1] and got[2] < 25, got)
    linked.symlink_to(folder / "h100-x8-healthy.prom")
    (folder / "h100-x8-healthy.prom").write_text(good + "# comment\n" * 50000)
    got = plugin(linked, 900)
    check("a long file behind a link is read", got[0] == 0, got)
    if os.getuid() == 0:
        folder.chmod(0o755)
        done = subprocess.run(["/bin/sh", "-s", locked, "900"], stdin=SCRIPT.open(), user=65534, capture_output=True, text=True, timeout=30)
        check("no permission", done.returncode == 2 and "no permission" in done.stdout, done)
    else:
        got = plugin(locked, 900)
        check("no permission", got[0] == 2 and "no permission" in got[1], got)


def judging(folder):
    """The script as it is, with a gpucheck of ours in its PATH."""
    script = folder / "gpucheck-npd"
    script.write_text(SCRIPT.read_text().replace("PATH=/usr/sbin", f"PATH={folder}:/usr/sbin", 1))
    tool = folder / "gpucheck"
    for machine, status, line in (("h100-x8-healthy", 0, "gpucheck: no fault found (pass)"), ("h100-x2-one-narrow", 1, "pcie.link.narrow on 0000:29:00.0"),
                                  ("no-gpu-vm", 2, "unknown: ")):
        tool.write_text(f'#!/bin/sh\ncase $1 in run) exec {GPUCHECK} "$@" --machine {SOURCE}/tests/machines/{machine} ;; esac\nexec {GPUCHECK} "$@"\n')
        tool.chmod(0o755)
        got = plugin(script=script)
        check(f"judges {machine}", got[0] == status and got[1].startswith(line), got)
    record = folder / "h100-x2-one-narrow.json"
    subprocess.run([GPUCHECK, "run", "--machine", SOURCE / "tests/machines/h100-x2-one-narrow", "--output", record], capture_output=True, timeout=60)
    tool.write_text(f'#!/bin/sh\necho "$*" >>{folder}/asked\ncase $1 in run) cat {record}; sleep 30 & exit 1 ;; esac\nexec {GPUCHECK} "$@"\n')
    got = plugin(script=script)
    check("what still holds the pipe is not waited for", got[0] == 1 and got[1].startswith("pcie.link.narrow") and got[2] < 20, got)
    check("the config's receiver gets none of these looks", "--no-deliver" in (folder / "asked").read_text())
    tool.write_text(f'#!/bin/sh\ncase $1 in report) printf "caf\\303\\251 \\033[31m\\n"; exit ;; esac\ncat {record}; exit 1\n')
    got = plugin(script=script)
    check("nothing but ASCII gets out", got[0] == 1 and got[1].startswith("caf__ _[31m"), got)
    for body, line in (("trap '' TERM; while :; do sleep 1; done", "hung"), ("exit 70", "broke, exit status 70"), ("exit 0", "left no report"),
                       ("exit 1", "left no report")):
        tool.write_text(f"#!/bin/sh\n{body}\n")
        got = plugin(script=script)
        check(f"{body}: not known", got[0] == 2 and line in got[1] and got[2] < 20, got)


def configurations():
    pod, host = (json.loads((SOURCE / f"fleet/kubernetes/npd-{name}.json").read_text()) for name in ("pod", "host"))
    for config in (pod, host):
        settings, rule = config["pluginConfig"], config["rules"][0]
        check("limits", settings["max_output_length"] == 80 and settings["timeout"] == rule["timeout"] == "5s")
        check("a restart is no good news (node-problem-detector#304)", settings["skip_initial_status"] is True)
        check("the condition is the rule's", rule["condition"] == config["conditions"][0]["type"] == "GpuCheckFailed" and rule["type"] == "permanent")
    check("the patch mounts what the rule reads", pod["rules"][0]["path"] == "/gpucheck/gpucheck-npd"
          and pod["rules"][0]["args"] == ["/gpucheck-metrics/gpucheck.prom", "900"])


def main():
    with tempfile.TemporaryDirectory() as name:
        from_metrics(Path(name))
        hostile_files(Path(name))
        judging(Path(name))
    configurations()
    if shutil.which("shellcheck"):
        done = subprocess.run(["shellcheck", SCRIPT], capture_output=True, text=True)
        check("shellcheck", done.returncode == 0, done.stdout)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
