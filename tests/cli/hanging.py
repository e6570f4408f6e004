#!/usr/bin/env python3
"""A file that hangs when it is opened costs itself alone, through the real binary.

usage: hanging.py GPUCHECK MACHINES HANGING_OPEN.so
"""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

GPUCHECK, MACHINE, PRELOAD = sys.argv[1], Path(sys.argv[2]) / "mi300x-x8-cpx-63-nodes", sys.argv[3]
FILE = "0000:19:00.0/vbios_version"
PROBLEMS = []


def expect(name, ok, detail=""):
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else f": {detail}"))
    if not ok:
        PROBLEMS.append(name)


def run(hangs, budget):
    env = {"PATH": "/usr/bin:/bin", "LD_PRELOAD": PRELOAD} | ({"GPUCHECK_TEST_HANGS": hangs} if hangs is not None else {})
    start = time.monotonic()
    done = subprocess.run([GPUCHECK, "--machine", str(MACHINE), "--format", "json", "--budget", budget], stdout=subprocess.PIPE, timeout=120, env=env)
    report = json.loads(done.stdout)
    return report, [f["code"] for f in report["findings"]], time.monotonic() - start


def main():
    report, told, _ = run(None, "20")
    expect("nothing hangs: nothing is said", not {"host.read.hangs", "run.out_of_time"} & set(told), told)
    expect("and the file is read", all(gpu["vbios_version"] for gpu in report["gpus"]))

    report, told, _ = run(FILE, "10")
    hanging = [f for f in report["findings"] if f["code"] == "host.read.hangs"]
    expect("a file that hangs is named", len(hanging) == 1 and FILE in json.dumps(hanging), told)
    expect("it costs only itself", "run.out_of_time" not in told and len(report["gpus"]) == 8 and all(gpu["memory_bytes"] for gpu in report["gpus"])
           and sum(gpu["vbios_version"] is not None for gpu in report["gpus"]) == 7, told)
    expect("it is no pass", report["verdict"] != "pass", report["verdict"])

    report, told, took = run("", "2")
    expect("when everything hangs the report comes in time, and is no pass",
           "run.out_of_time" in told and report["verdict"] == "unknown" and took < 30, f"{report['verdict']} {took:.1f} s {told}")
    print(f"{len(PROBLEMS)} problems")
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    sys.exit(main())
