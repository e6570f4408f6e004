#!/usr/bin/env python3
"""Captures recorded machines again and demands that the capture is judged like the original.

usage: capture_agrees.py GPUCHECK MACHINES

Serials and names are replaced in the copy, addresses on the PCI bus are not, so verdict and findings must be equal.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from judge import judge, told

# Captures of captures cannot know what the first one did not try; hostile bytes are not text that can be compared.
LEFT_OUT = {"mi300x-captured-partly"}


def main():
    gpucheck, machines = sys.argv[1], Path(sys.argv[2])
    problems = 0
    for machine in sorted(p.parent for p in machines.glob("*/expected.json")):
        if machine.name in LEFT_OUT:
            continue
        options = json.loads((machine / "expected.json").read_text()).get("expect_options", {})
        original, _ = judge(gpucheck, machine, options)
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch) / "copy"
            subprocess.run([gpucheck, "capture", "--machine", str(machine), str(copy)], check=True, capture_output=True, timeout=60)
            again, _ = judge(gpucheck, copy, options)
        if (original["verdict"], told(original)) != (again["verdict"], told(again)):
            problems += 1
            print(f"{machine.name}: {original['verdict']} became {again['verdict']}")
            for finding in set(told(original)) ^ set(told(again)):
                print(f"    {'lost' if finding in told(original) else 'new'}: {finding}")
    print(f"{problems} machines are judged otherwise after capture" if problems else "all captures agree")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
