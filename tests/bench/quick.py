#!/usr/bin/env python3
"""Bench of the quick profile: wall time (median), peak memory and binary size, against a peer in the same run.

usage: quick.py GPUCHECK [RUNS]

Machines: an eight-GPU H100 host whose PCI tree is filled up to 256 functions, and the MI300X in CPX with 63 GPU nodes. The peer is
`grep -rs . SYSROOT` over the same recorded files: what reading them all costs a well-made C program. Runs alternate.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MACHINES = Path(__file__).resolve().parent.parent / "machines"
LIMIT_MS, LIMIT_MIB, LIMIT_BINARY_MIB = 25.0, 15.0, 6.0


def once(command):
    """Wall milliseconds of one run. (Peak memory is measured apart: a process forked from Python starts with Python's.)"""
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall = (time.perf_counter() - start) * 1000
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"{command[0]} ended with {done.returncode}")
    return wall


def peak_mib(command):
    """Peak resident memory of the program and its children, by time(1)."""
    done = subprocess.run(["/usr/bin/time", "-f", "%M", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return int(done.stderr.split()[-1]) / 1024


def fill_pci_tree(machine, total):
    """Adds network, storage and bridge functions until the bus lists `total`."""
    bus = machine / "sysroot/sys/bus/pci/devices"
    have = len(list(bus.iterdir()))
    for i in range(max(0, total - have)):
        name = f"0001:{i // 8 + 1:02x}:{i % 8:02x}.0"
        folder = machine / f"sysroot/sys/devices/pci0001:00/{name}"
        folder.mkdir(parents=True)
        for file, text in {"vendor": "0x8086", "device": "0x352a", "class": "0x088000", "subsystem_vendor": "0x8086",
                           "subsystem_device": "0x0000", "numa_node": "0", "current_link_speed": "16.0 GT/s PCIe",
                           "current_link_width": "16", "max_link_speed": "16.0 GT/s PCIe", "max_link_width": "16"}.items():
            (folder / file).write_text(text + "\n")
        (bus / name).symlink_to(f"../../../devices/pci0001:00/{name}")


def bench(gpucheck, name, machine, expect, runs):
    command = [gpucheck, "--machine", str(machine), "--expect", f"gpu_count={expect}", "--format", "json"]
    peer = ["grep", "-rs", ".", str(machine / "sysroot")]
    ours, theirs = [], []
    once(command), once(peer)
    for _ in range(runs):
        ours.append(once(command))
        theirs.append(once(peer))
    wall, other = statistics.median(ours), statistics.median(theirs)
    memory = max(peak_mib(command) for _ in range(5))
    ok = wall <= LIMIT_MS and memory <= LIMIT_MIB
    print(f"{name}: median {wall:.1f} ms of {runs} runs (limit {LIMIT_MS:.0f}), peak {memory:.1f} MiB (limit {LIMIT_MIB:.0f}), "
          f"{wall / other:.2f} x grep -r over the same files ({other:.1f} ms){'' if ok else '  ABOVE THE LIMIT'}")
    return ok


def main():
    gpucheck = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 25
    with tempfile.TemporaryDirectory() as scratch:
        full = Path(scratch) / "h100-full-host"
        shutil.copytree(MACHINES / "h100-x8-healthy", full, symlinks=True)
        fill_pci_tree(full, 256)
        ok = bench(gpucheck, "8 x H100, 256 PCI functions", full, 8, runs)
        ok &= bench(gpucheck, "8 x MI300X in CPX, 63 GPU nodes", MACHINES / "mi300x-x8-cpx-63-nodes", 8, runs)
        stripped = Path(scratch) / "gpucheck"
        subprocess.run(["strip", "-o", stripped, gpucheck], check=True)
        size = stripped.stat().st_size / 1048576
    print(f"binary: {size:.2f} MiB stripped (limit {LIMIT_BINARY_MIB:.0f})")
    return 0 if ok and size <= LIMIT_BINARY_MIB else 1


if __name__ == "__main__":
    sys.exit(main())
