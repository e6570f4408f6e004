#!/usr/bin/env python3
"""The whole boot profile on eight fake GPUs of which some hang, crash or leave: the report comes in time, names them, and judges
the others in full.

usage: boot_profile.py GPUCHECK FAKE_DRIVER MACHINES; the exit status is 77 when this build has no GPU images.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

GPUCHECK, DRIVER, MACHINES = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
BUDGET = 60  # seconds: the profile's own
LESS = "matrix.types=f16,matrix.reps=0,launch.reps=4"  # than a simulated device has to do otherwise; the rest is as it is

HOT = 0x40  # nvml.h, hardware thermal slowdown: what the third GPU tells while it computes


def gpus_of(machine):
    folder = machine / "sysroot/sys/bus/pci/devices"
    return sorted(d.name for d in folder.iterdir()
                  if (d / "class").read_text().startswith(("0x0302", "0x1200", "0x0380")))


class Vendor:
    def __init__(self, machine, architecture, calls):
        self.machine, self.architecture, self.calls = MACHINES / machine, architecture, calls
        self.gpus = gpus_of(self.machine)

    def scenario(self, faults, hidden=(), used=()):
        base = json.loads((DRIVER / "scenario.json").read_text())
        for index in used:
            base["gpus"][index]["values"] = {"nvmlDeviceGetComputeRunningProcesses_v3": 2}
        base["gpus"][2]["values"] = {"nvmlDeviceGetCurrentClocksEventReasons": {"under_load": HOT, "idle": 1}}
        amd = self.architecture.startswith("gfx")
        base["compute"] = {
            "each": {"vendor": "amd" if amd else "nvidia", "architecture": self.architecture, "memory_bytes": 6 << 20},
            "gpus": [{"bdf": gpu, "hidden": i in hidden} for i, gpu in enumerate(self.gpus)],
            "faults": [{**fault, "call": self.calls[fault["call"]], **({"gpu": self.gpus[gpu]} if gpu is not None else {})}
                       for gpu, fault in faults]}
        return base


def machine_in(folder, vendor, used):
    """The recorded machine; with GPUs in use, a copy in which KFD says so. A process that only opened KFD uses none."""
    if not used:
        return vendor.machine
    copy = Path(folder) / "machine"
    shutil.copytree(vendor.machine, copy, symlinks=True)
    kfd = copy / "sysroot/sys/devices/virtual/kfd/kfd"
    if kfd.is_dir():
        ids = [(node / "gpu_id").read_text().strip() for node in sorted((kfd / "topology/nodes").iterdir(), key=lambda n: int(n.name))]
        ids = [gpu_id for gpu_id in ids if gpu_id != "0"]  # in the order of the PCI addresses
        for pid in ("4711", "4712"):
            (kfd / "proc" / pid).mkdir(parents=True)
            for index, gpu_id in enumerate(ids):
                (kfd / "proc" / pid / f"vram_{gpu_id}").write_text("8192\n" if index in used else "0\n")
    return copy


NVIDIA = Vendor("h100-x8-healthy", "sm_90", {"init": "cuInit", "load": "cuModuleLoadData", "allocate": "cuMemAlloc",
                                             "launch": "cuLaunchKernel", "synchronise": "cuStreamSynchronize"})
AMD = Vendor("mi300x-x8-healthy", "gfx942", {"init": "hipInit", "load": "hipModuleLoadData", "allocate": "hipMalloc",
                                             "launch": "hipModuleLaunchKernel", "synchronise": "hipStreamSynchronize"})


def run(vendor, faults, hidden=(), used=()):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.json"
        path.write_text(json.dumps(vendor.scenario(faults, hidden, used)))
        machine = machine_in(folder, vendor, used)
        start = time.monotonic()
        done = subprocess.run(
            [GPUCHECK, "run", "--profile", "boot", "--budget", str(BUDGET), "--machine", str(machine), "--driver-dir", str(DRIVER),
             "--experiment", LESS, "--format", "json"],
            env={**os.environ, "GPUCHECK_FAKE_SCENARIO": str(path)}, capture_output=True, timeout=4 * BUDGET)
        took = time.monotonic() - start
    if done.returncode not in (0, 1, 2):
        raise AssertionError(f"exit status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout), took


def check(name, vendor, faults, sick, hidden=(), used=()):
    """sick: index of a GPU -> (how its child ended, the call that is named); every other GPU is whole."""
    report, took = run(vendor, faults, hidden, used)
    problems = []
    if took > BUDGET + 2:
        problems.append(f"took {took:.1f} s of {BUDGET} + 2")
    if any("image absent" in f["observed"] for f in report["findings"]):
        return name, ["image absent"], took
    if not report["simulated"]:
        problems.append("does not say simulated")
    if len(report["gpus"]) != len(vendor.gpus):
        return name, problems + [str([f["observed"] for f in report["findings"] if f["check"] == "run"])], took
    findings = [f for f in report["findings"] if f["check"] == "burn"]
    for index, bdf in enumerate(vendor.gpus):
        gpu = next(g for g in report["gpus"] if g["bdf"] == bdf)
        results = (gpu.get("experiments") or {}).get("results") or []
        bad = [f["code"] for f in findings if f["subject"] == bdf and f["verdict"] != "pass"
               and f["code"] != "burn.units.short"]  # which a fake GPU of a few units rightly is
        if index in sick:
            how, call = sick[index]
            told = json.dumps([gpu.get("experiments"), [f for f in report["findings"] if f["subject"] == bdf]])
            problems += [f"{bdf}: '{word}' is not named" for word in (how, call) if not any(each in told for each in word.split("|"))]
            if "burn.not_run" not in bad:
                problems.append(f"{bdf}: no burn.not_run, but {bad}")
            continue
        unwell = [f"{r['experiment']} {r['variant']}" for r in results
                  if not r["ran"] or r["mismatches"] or r["values_checked"] != r["values_expected"]]
        kinds = {r["experiment"] for r in results}
        wanted = {"launch", "matrix", "memory_pattern", "memory_stream", "host_link"} | ({"peer"} if len(sick) < 7 else set())
        if bad or unwell or kinds != wanted:
            problems.append(f"{bdf} is well: {bad} {unwell} lacks {wanted - kinds}")
    load = (report["gpus"][2].get("experiments") or {}).get("load") or {}
    if vendor is NVIDIA and "launches" in name and load.get("throttle_mask") not in (HOT, HOT | 1):
        problems.append(f"{vendor.gpus[2]}: throttle reasons {load.get('throttle_mask')} while it computes, not {HOT}")
    if sick and report["verdict"] not in ("unknown", "fail"):
        problems.append(f"verdict {report['verdict']} with GPUs that were not tested")
    return name, problems, took


def everyone(how, call):
    return {i: (how, call) for i in range(8)}


def cases():
    for vendor, name in ((NVIDIA, "nvidia"), (AMD, "amd")):
        call = vendor.calls
        launch = call["launch"]
        yield (f"{name}: one hangs in launches, one crashes", vendor,
               [(2, {"kind": "hang", "call": "launch", "kernel": "matrix_f16"}), (5, {"kind": "segv", "call": "launch", "kernel": "pattern_check"})],
               {2: ("hangs", launch), 5: ("crashed", launch)})
        yield (f"{name}: all hang", vendor, [(None, {"kind": "hang", "call": "launch"})], everyone("hangs", launch))
        yield (f"{name}: hang in init", vendor, [(None, {"kind": "hang", "call": "init"})], everyone("hangs", call["init"]))
        yield (f"{name}: hangs in load, allocation and synchronisation, and an exit", vendor,
               [(0, {"kind": "hang", "call": "load", "after": 2}), (1, {"kind": "hang", "call": "allocate", "after": 4}),
                (3, {"kind": "hang", "call": "synchronise", "after": 20}), (6, {"kind": "exit0", "call": "launch", "kernel": "stream_copy"})],
               {0: ("hangs", call["load"]), 1: ("hangs", call["allocate"]), 3: ("hangs", call["synchronise"]), 6: ("exited", launch)})
        yield (f"{name}: errors, a flood, rubbish, an exception, one that is not listed, and one in use by others", vendor,
               [(0, {"kind": "lost", "call": "launch", "kernel": "stream_copy", "error": 719}), (1, {"kind": "flood", "call": "launch", "after": 9}),
                (2, {"kind": "junk", "call": "launch", "after": 9}), (3, {"kind": "throw", "call": "allocate", "after": 5})],
               # Rubbish does not stop the library: by the time it is read, the child may be in a later call.
               {0: ("", "LAUNCH_FAIL" if vendor is NVIDIA else "LaunchFailure"), 1: ("flooded", launch), 2: ("garbage", ""),
                # A binary with a runtime of its own does not catch what another one throws: there the child ends.
                3: ("threw an exception|crashed: SIGABRT", call["allocate"]), 4: ("ENOENT", "ByPCIBusId"), 7: ("in use by 2 processes", "")}, {4}, {7})


def main():
    failed = absent = 0
    with ThreadPoolExecutor(10) as pool:  # they mostly wait
        for name, problems, took in pool.map(lambda case: check(*case), cases()):
            absent += problems == ["image absent"]
            failed += bool(problems) and problems != ["image absent"]
            print(f"{'FAILED' if problems else 'ok    '} {name}, {took:.1f} s")
            for problem in problems:
                print(f"       {problem}")
    if absent and not failed:
        print("skipped: a build without GPU images cannot run experiments")
        return 77
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
