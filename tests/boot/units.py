#!/usr/bin/env python3
"""The shipped units: every line is one that systemd knows, the sandbox is as closed as it is said to be, and the doors that GPU work
needs are open.

usage: units.py SOURCE_DIR     (skipped without systemd-analyze: 77)
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
LIMITS = {"gpucheck-boot.service": 5.0, "gpucheck-report.service": 3.0}
# Closing one of these hides or blocks the GPUs, their log, or the compilers of CUDA and HIP (docs/boot.md, "Sandbox").
OPEN = ["PrivateDevices", "DeviceAllow", "ProtectClock", "ProtectKernelLogs", "ProtectKernelModules", "PrivateNetwork",
        "MemoryDenyWriteExecute", "PrivateUsers", "DynamicUser", "ProcSubset"]


def keys_of(text):
    return dict(re.findall(r"^(\w+)=(.*)$", text, flags=re.M))


def main():
    folder = Path(sys.argv[1]) / "cloud-init/systemd"
    if not shutil.which("systemd-analyze"):
        print("skipped: no systemd-analyze")
        return SKIPPED
    problems = []
    environment = dict(os.environ, LC_ALL="C", SYSTEMD_LOG_LEVEL="info")
    with tempfile.TemporaryDirectory() as scratch:
        for unit in folder.glob("gpucheck-*"):
            # The program is not installed where this runs.
            (Path(scratch) / unit.name).write_text(re.sub(r"^ExecStart=.*", "ExecStart=/bin/true", unit.read_text(), flags=re.M))
        units = sorted(Path(scratch).iterdir())
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", *units], env=environment, capture_output=True, text=True,
                              timeout=60)
        if done.returncode or "gpucheck" in done.stdout + done.stderr:
            problems.append("systemd-analyze verify: " + done.stdout + done.stderr)
    left_out = False
    for name, limit in LIMITS.items():
        done = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", folder / name], env=environment,
                              capture_output=True, text=True, timeout=60)
        found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
        if not found:
            print("exposure not looked at: this systemd-analyze knows no --offline")
            left_out = True
            break
        print(f"{name}: exposure {found[1]}")
        if float(found[1]) > limit:
            problems.append(f"{name}: exposure {found[1]}, at most {limit}\n{done.stdout}")
    boot = (folder / "gpucheck-boot.service").read_text()
    keys = keys_of(boot)
    for key in OPEN:
        if keys.get(key, "no") not in ("no", "all"):
            problems.append(f"gpucheck-boot.service: {key}={keys[key]} closes what GPU work needs")
    if any(key.startswith("Condition") for key in keys):
        problems.append("gpucheck-boot.service: a condition that is false counts as success: gpucheck-passed.target would be reached")
    for key in ("TimeoutStartSec", "RemainAfterExit", "StandardOutput", "LoadCredential", "SetCredential"):
        if key not in keys:
            problems.append(f"gpucheck-boot.service: no {key}")
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    return 1 if problems else SKIPPED if left_out else 0


if __name__ == "__main__":
    sys.exit(main())
