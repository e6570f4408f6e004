#!/usr/bin/env python3
"""Bench of the quick profile with telemetry of eight fake GPUs: wall time (median) and peak memory.

usage: telemetry.py GPUCHECK FAKE_DRIVER_DIR [RUNS]

The machine is the recorded eight-GPU H100 host; the GPUs answer through the fake libnvidia-ml.so.1, each in a child of its own. The same
machine without telemetry is measured in the same run, so that the price of the children can be seen.
"""
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

MACHINE = Path(__file__).resolve().parent.parent / "machines" / "h100-x8-healthy"
LIMIT_MS, LIMIT_MIB = 60.0, 20.0


def once(command):
    """Wall milliseconds of one run."""
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall = (time.perf_counter() - start) * 1000
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"{command[0]} ended with {done.returncode}: {done.stderr}")
    return wall


def peak_mib(command):
    """Peak resident memory of the largest process, by time(1)."""
    done = subprocess.run(["/usr/bin/time", "-f", "%M", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return int(done.stderr.split()[-1]) / 1024


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    gpucheck, driver = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 25
    os.environ["GPUCHECK_FAKE_SCENARIO"] = os.path.join(driver, "scenario.json")
    bare = [gpucheck, "run", "--machine", str(MACHINE), "--expect", "gpu_count=8", "--format", "json"]
    full = bare + ["--driver-dir", driver]
    once(full), once(bare)
    with_telemetry, without = [], []
    for _ in range(runs):
        with_telemetry.append(once(full))
        without.append(once(bare))
    wall, other = statistics.median(with_telemetry), statistics.median(without)
    memory = max(peak_mib(full) for _ in range(5))
    ok = wall <= LIMIT_MS and memory <= LIMIT_MIB
    print(f"8 fake H100, quick with telemetry: median {wall:.1f} ms of {runs} runs (limit {LIMIT_MS:.0f}; {other:.1f} ms without), "
          f"peak {memory:.1f} MiB (limit {LIMIT_MIB:.0f}){'' if ok else '  ABOVE THE LIMIT'}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
