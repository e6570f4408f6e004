#!/usr/bin/env python3
"""The scripts for a real GPU, without one: the table on reports made for it, and the whole of run.sh on fake GPUs.

usage: device_test.py GPUCHECK FAKE_DRIVER MACHINES
"""
import copy
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
BDF = "0000:19:00.0"
problems = []


def expect(what, condition, output=""):
    if not condition:
        problems.append(what)
        print(f"FAILED {what}\n{output}")


def result(experiment, variant, median, unit, **changes):
    return {"experiment": experiment, "variant": variant, "peer": None, "ran": True, "timed": True, "mismatches": 0, "values_checked": 8,
            "values_expected": 8, "units_tested": 132, "units_total": 132, "quantities": [{"median": median, "unit": unit}], **changes}


def report(*results, injected=None, duration=30.0):
    return {"verdict": "pass", "duration_s": duration, "injected": injected,
            "gpus": [{"bdf": BDF, "experiments": {"results": list(results)}}]}


def good_run():
    healthy = report(result("matrix", "bf16", 800.0, "TFLOP/s"), result("matrix", "e4m3", 1500.0, "TFLOP/s"),
                     result("memory_stream", "copy", 4200.0, "GB/s"))
    files = {"boot": healthy, "long": copy.deepcopy(healthy),
             "vendor": {"library": "BLAS", "bf16_tflops": 780.0, "e4m3_tflops": 1600.0, "copy_gb_s": 4300.0}}
    for fault in ("bit", "lane", "operand", "skip"):
        files[f"inject-{fault}"] = report(result("memory_pattern", "random", 1.0, "GB/s", mismatches=1), injected=fault)
    return files


def table(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            text = content if isinstance(content, str) else json.dumps(content)
            (Path(folder) / f"{name}.json").write_text(text)
        done = subprocess.run([sys.executable, HERE / "table.py", folder, Path(folder) / "summary.json"], capture_output=True, text=True)
        summary = Path(folder) / "summary.json"
        return done.returncode, done.stdout + done.stderr, json.loads(summary.read_text()) if summary.exists() else {}


def test_table():
    status, text, summary = table(good_run())
    expect("a good run is good", status == 0 and summary.get("good") is True, text)
    expect("rates are compared", "ok     matrix bf16 over BLAS 8192^3: 800.0 / 780.0 = 1.026" in text, text)
    expect("a slower one is told and fails nothing", "BELOW  matrix e4m3" in text and "ok     memory copy" in text, text)
    expect("the boot profile's time is told", "ok     boot profile: 30.0 s of 45 s" in text, text)

    for what, change in {
            "a mismatch": lambda files: files["boot"]["gpus"][0]["experiments"]["results"][0].update(mismatches=1),
            "values left out": lambda files: files["long"]["gpus"][0]["experiments"]["results"][1].update(values_checked=7),
            "units left out": lambda files: files["long"]["gpus"][0]["experiments"]["results"][1].update(units_tested=131),
            "an experiment that did not run": lambda files: files["long"]["gpus"][0]["experiments"]["results"][1].update(
                ran=None, missing={"ran": {"source": "cuLaunchKernel", "why": "CUDA_ERROR_UNKNOWN"}}),
            "no result": lambda files: files["boot"].update(gpus=[]),
            "no report": lambda files: files.pop("long"),
            "a broken report": lambda files: files.update(boot="{"),
            "an injected fault that was missed": lambda files: files.update({"inject-lane": report(
                result("matrix", "bf16", 1.0, "TFLOP/s"), injected="lane")}),
            "a fault that was not injected": lambda files: files["inject-bit"].update(injected=None),
            "no injection": lambda files: files.pop("inject-skip")}.items():
        files = good_run()
        change(files)
        status, text, summary = table(files)
        expect(f"{what} fails", status == 1 and summary.get("good") is False, text)

    files = good_run()
    files["vendor"] = {"absent": "PyTorch: none"}
    for row in files["boot"]["gpus"][0]["experiments"]["results"] + files["long"]["gpus"][0]["experiments"]["results"]:
        row["timed"] = False
    status, text, summary = table(files)
    expect("no figure is made up", status == 0 and text.count("not measured:") == 5, text)


def test_script(gpucheck, driver, machines):
    script = HERE / "run.sh"
    expect("run.sh parses", subprocess.run(["bash", "-n", script]).returncode == 0)
    if shutil.which("shellcheck"):
        done = subprocess.run(["shellcheck", script], capture_output=True, text=True)
        expect("shellcheck is silent", done.returncode == 0, done.stdout)
    else:
        print("skipped: no shellcheck here")
    for wrong in (["--seconds", "x"], ["--bogus"]):
        expect(f"{wrong} is refused", subprocess.run(["bash", script, *wrong], capture_output=True).returncode == 64)
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "scenario.json"
        scenario.write_text(json.dumps({"gpus": [], "compute": {"gpus": [{"bdf": BDF, "memory_bytes": 16 << 20}]}}))
        machine = Path(machines) / "h100-x8-healthy"
        out = Path(folder) / "out"
        done = subprocess.run(
            ["bash", script, "--binary", gpucheck, "--out", out, "--seconds", "20", "--", "--machine", machine, "--driver-dir", driver,
             "--experiment", "matrix.types=bf16"], capture_output=True, text=True, timeout=280, env={**os.environ, "GPUCHECK_FAKE_SCENARIO": str(scenario)})
        text = done.stdout + done.stderr
        summary = json.loads((out / "summary.json").read_text())
        rows = {run["name"]: [row for row in run["results"] if row["gpu"] == BDF] for run in summary["runs"]}
        if any("image absent" in row["why"] for row in rows["boot"]):
            print("skipped: a build without GPU images cannot run run.sh's experiments")
            return
        for name in ("boot", "long"):
            expect(f"the fake GPU is clean in {name}", bool(rows[name]) and all(row["clean"] for row in rows[name]), text)
        expect("every injected fault is found", all(row["found"] for row in summary["injected"]), text)
        expect("every step of gpucheck ended well", not [line for line in text.splitlines() if line.startswith("FAILED") and
                                                        line.split()[1].rstrip(":") in ("boot", "long", "binary", "inject-bit")], text)
        expect("a simulated rate is no measurement", all(row["ours"] is None for row in summary["comparison"]), text)
        done = subprocess.run(["bash", script, "--binary", "/nonexistent", "--out", out, "--seconds", "5"], capture_output=True, text=True,
                              timeout=280)
        expect("without a binary it fails and still writes a table", done.returncode == 1 and "no results" not in done.stdout and
               (out / "table.txt").stat().st_size > 0, done.stdout + done.stderr)


test_table()
test_script(*sys.argv[1:4])
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
