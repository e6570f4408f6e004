#!/usr/bin/env python3
"""Judges one recorded machine with the real binary and compares with its expected.json.

usage: judge.py GPUCHECK MACHINE [SCHEMA]

Compared are the verdict and the findings as (code, subject, verdict), in any order. expect_options of expected.json become the command
line. GPUCHECK_UPDATE_EXPECTED=1 rewrites verdict and findings instead: read the difference before you commit it.
"""
import json
import os
import subprocess
import sys
from pathlib import Path


def command_of(gpucheck, machine, options):
    command = [gpucheck, "run", "--machine", str(machine), "--format", "json"]
    for key, value in options.items():
        if key in ("provider", "instance_type"):
            command += ["--" + key.replace("_", "-"), str(value)]
        else:
            command += ["--expect", f"{key}={value}"]
    return command


def judge(gpucheck, machine, options):
    """The report and the exit status; raises on anything but a report."""
    done = subprocess.run(command_of(gpucheck, machine, options), capture_output=True, timeout=30)
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"exit status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout), done.returncode


def told(report):
    return sorted({(f["code"], f["subject"], f["verdict"]) for f in report["findings"]})


def check_schema(report, schema):
    try:
        import jsonschema
    except ImportError:
        return
    jsonschema.Draft202012Validator(json.loads(Path(schema).read_text())).validate(report)


def main():
    gpucheck, machine = sys.argv[1], Path(sys.argv[2])
    file = machine / "expected.json"
    expected = json.loads(file.read_text())
    report, status = judge(gpucheck, machine, expected.get("expect_options", {}))
    if len(sys.argv) > 3:
        check_schema(report, sys.argv[3])
    findings = told(report)
    if os.environ.get("GPUCHECK_UPDATE_EXPECTED") == "1":
        expected["verdict"] = report["verdict"]
        expected["findings"] = [{"code": c, "subject": s, "verdict": v} for c, s, v in findings]
        file.write_text(json.dumps(expected, indent=2) + "\n")
        return 0
    wanted = sorted({(f["code"], f["subject"], f["verdict"]) for f in expected["findings"]})
    problems = [f"missing:    {f}" for f in wanted if f not in findings] + [f"unexpected: {f}" for f in findings if f not in wanted]
    if report["verdict"] != expected["verdict"]:
        problems.insert(0, f"verdict {report['verdict']}, expected {expected['verdict']}")
    if status != {"pass": 0, "warn": 0, "fail": 1, "unknown": 2}[report["verdict"]]:
        problems.append(f"exit status {status} does not fit verdict {report['verdict']}")
    if not report["simulated"]:
        problems.append("the report of a recorded machine does not say simulated")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
