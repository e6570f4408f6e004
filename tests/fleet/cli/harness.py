"""Runs gpucheck-fleet as its users do, and keeps what was wrong."""
import json
import subprocess
import sys
from pathlib import Path

from reports import report

GPUCHECK, FLEET, SOURCE = sys.argv[1], sys.argv[2], Path(sys.argv[3])
NOW = "2026-11-30T12:00:00Z"  # of the day of the reports, whatever day it is
problems = []


def check(what, fine, more=""):
    if not fine:
        problems.append(f"{what}: {more}" if more != "" else what)


def fleet(*arguments, program=FLEET, now=NOW, **options):
    decides = {"summary", "baseline", "compare", "html"} & set(map(str, arguments[:2]))
    clock = ["--now", now] if decides and now else []
    return subprocess.run([program, *map(str, arguments), *clock], capture_output=True, timeout=120, **options)


def write(folder, reports):
    folder.mkdir(parents=True, exist_ok=True)
    for each in reports:
        (folder / f"{each['report_id']}.json").write_text(json.dumps(each))
    return folder


def healthy(count=16, **members):
    return [report(number, **members) for number in range(count)]
