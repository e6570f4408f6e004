#!/usr/bin/env python3
"""Writes vendor.json of the recorded machines that have a scenario.json: what the fake NVML answers, through `gpucheck capture`.

usage: answers.py GPUCHECK FAKE_DRIVER_DIR [MACHINE...]
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main():
    gpucheck, driver = map(os.path.abspath, sys.argv[1:3])
    names = sys.argv[3:] or sorted(p.parent.name for p in HERE.glob("*/scenario.json"))
    for name in names:
        folder = HERE / name
        with tempfile.TemporaryDirectory() as scratch:
            scenario = Path(scratch) / "scenario.json"
            scenario.write_bytes((folder / "scenario.json").read_bytes())
            (folder / "vendor.json").unlink(missing_ok=True)  # it would win over the library
            subprocess.run([gpucheck, "capture", f"{scratch}/captured", "--machine", folder, "--driver-dir", driver],
                           env={**os.environ, "GPUCHECK_FAKE_SCENARIO": str(scenario)}, check=True, stdout=subprocess.DEVNULL)
            answers = json.loads((Path(scratch) / "captured/vendor.json").read_text())
        answers["nvml"]["system"]["library"]["value"] = "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.133.20"
        (folder / "vendor.json").write_text(json.dumps(answers, indent=1) + "\n")
        print(name)


if __name__ == "__main__":
    main()
