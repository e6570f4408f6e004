#!/usr/bin/env python3
"""What vendor answers do to a report, through the real binary: recorded ones, broken ones, none, and a library that misbehaves.

usage: vendor.py GPUCHECK MACHINES BROKEN_LIBRARIES
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GPUCHECK, MACHINES, BROKEN = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
PROBLEMS = []
ENV = {"PATH": "/usr/bin:/bin"} | {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}
MACHINE, GPUS = "h100-x8-healthy", 8
KNOWN = {"value": True, "source": "nvmlDeviceGetHandleByPciBusId_v2"}


def expect(name, ok, detail=""):
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else f": {detail}"))
    if not ok:
        PROBLEMS.append(name)


def judge(machine, *args):
    start = time.monotonic()
    done = subprocess.run([GPUCHECK, "run", "--machine", str(machine), "--format", "json", *map(str, args)], capture_output=True,
                          timeout=120, env=ENV)
    report = json.loads(done.stdout) if done.stdout else {}
    return done.returncode, report, done.stderr.decode(), time.monotonic() - start


def codes(report):
    return {(f["code"], f["subject"]) for f in report.get("findings", [])}


def addresses(machine):
    return sorted(p.name for p in (machine / "sysroot/sys/bus/pci/drivers/nvidia").glob("0000:*")) or sorted(
        g["bdf"] for g in judge(machine)[1]["gpus"])


def copy_of(folder, vendor=None):
    machine = Path(folder) / f"machine{len(list(Path(folder).iterdir()))}"
    shutil.copytree(MACHINES / MACHINE, machine, symlinks=True)
    if vendor is not None:
        (machine / "vendor.json").write_text(vendor if isinstance(vendor, str) else json.dumps(vendor))
    return machine


def answers(gpus, **more):
    return {"nvml": {"system": {}, "gpus": {g: {"first": {"identity": {"handle": KNOWN}}} for g in gpus}, "troubles": [], **more}}


def recorded(folder):
    gpus = addresses(copy_of(folder))
    expect("the machine has its GPUs", len(gpus) == GPUS, gpus)

    _, report, _, _ = judge(copy_of(folder), "--profile", "boot")
    expect("nothing captured is nothing read", ("telemetry.not_read", "host") in codes(report), codes(report))

    _, report, _, _ = judge(copy_of(folder, answers(gpus)), "--profile", "boot")
    expect("answers of all GPUs are telemetry", ("telemetry.not_read", "host") not in codes(report), codes(report))

    _, report, _, _ = judge(copy_of(folder, answers(gpus[:-1])), "--profile", "boot")
    expect("one GPU that is not among them is not read", ("telemetry.not_read", "host") in codes(report), codes(report))

    for outcome, code in {"hangs": "vendor.call.hangs", "unkillable": "vendor.call.unkillable", "crashed": "vendor.call.crashes",
                          "exited": "vendor.call.exits", "flooded": "vendor.call.floods", "garbage": "vendor.call.garbage",
                          "out_of_memory": "vendor.call.out_of_memory", "not_started": "vendor.call.not_started"}.items():
        trouble = {"library": "libnvidia-ml.so.1", "call": "nvmlDeviceGetEccMode", "device": gpus[3], "outcome": outcome, "detail": "x"}
        code_of_exit, report, _, _ = judge(copy_of(folder, answers(gpus, troubles=[trouble])))
        expect(f"{outcome} is {code} and counts in quick", code_of_exit == 2 and (code, gpus[3]) in codes(report),
               (code_of_exit, codes(report)))


def broken_documents(folder):
    for name, text in {"junk": "\x00\x01", "half": '{"nvml": ', "list": "[]", "number": '{"nvml": 1}', "address": '{"nvml": {"gpus": {"gpu0": {}}}}',
                       "negative": '{"nvml": {"system": {"gpu_count": {"value": -1, "source": ""}}}}', "deep": "[" * 100000,
                       "long": '{"x": "' + "a" * (100 << 20) + '"}'}.items():
        code, report, errors, _ = judge(copy_of(folder, text))
        expect(f"vendor.json with {name} is refused in one sentence", code == 64 and not report and "vendor.json" in errors
               and len(errors) < 1000 and errors.count("\n") == 1, (code, errors[:300]))


def libraries(folder):
    empty = Path(folder) / "no-libraries"
    empty.mkdir()
    machine = copy_of(folder)
    code, report, errors, _ = judge(machine, "--driver-dir", Path(folder) / "nowhere")
    expect("a driver folder that is none is a wrong command line", code == 64 and "nowhere" in errors, (code, errors))
    code, report, _, took = judge(machine, "--driver-dir", empty, "--profile", "boot")
    expect("without the library nothing was read", ("telemetry.not_read", "host") in codes(report), codes(report))
    expect("that is simulated", report["simulated"] is True)
    # Every call of this library hangs, from the first: each child is given up, and the report is on time.
    code, report, errors, took = judge(machine, "--driver-dir", BROKEN / "hangs")
    expect("a library that hangs: the report comes", report.get("verdict") in ("pass", "unknown", "warn"), (code, errors))
    expect("a library that hangs: on time", took < 4 * float(os.environ.get("GPUCHECK_TEST_SLOWDOWN", 1)), took)
    expect("a library that hangs: it is named", "dlopen libnvidia-ml.so.1" in json.dumps(report), report.get("findings"))
    code, report, errors, _ = judge(machine, "--driver-dir", BROKEN / "crashes")
    expect("a library that crashes when loaded: every GPU says so",
           code == 2 and len([c for c in codes(report) if c[0] == "vendor.call.crashes"]) >= GPUS, (code, codes(report), errors))


def capture(folder):
    serial, uuid = "1654922001234", "GPU-01234567-89ab-cdef-0123-456789abcdef"
    machine = copy_of(folder)
    gpus = addresses(machine)
    document = answers(gpus)
    first = document["nvml"]["gpus"][gpus[0]]["first"]["identity"]
    first |= {"serial": {"value": serial, "source": "nvmlDeviceGetSerial"}, "uuid": {"value": uuid, "source": "nvmlDeviceGetUUID"},
              "vbios_version": {"value": "96.00.89.00.01", "source": "nvmlDeviceGetVbiosVersion"}}
    (machine / "vendor.json").write_text(json.dumps(document))
    copy = Path(folder) / "captured"
    done = subprocess.run([GPUCHECK, "capture", str(copy), "--machine", str(machine)], capture_output=True, timeout=120, env=ENV)
    expect("capture works", done.returncode == 0, done.stderr.decode())
    text = (copy / "vendor.json").read_text()
    expect("capture writes no serial and no UUID", serial not in text and uuid[4:] not in text)
    kept = json.loads(text)["nvml"]["gpus"][gpus[0]]["first"]["identity"]
    expect("capture keeps what is no identity", kept["vbios_version"]["value"] == "96.00.89.00.01" and kept["handle"]["value"] is True, kept)
    expect("capture puts another name", kept["serial"]["value"].isdigit() and kept["uuid"]["value"].startswith("GPU-"), kept)
    before, after = judge(machine, "--profile", "boot")[1], judge(copy, "--profile", "boot")[1]
    changed = {c for c in codes(before) ^ codes(after) if not c[0].startswith("kernel.log.")}  # an empty log is not copied
    expect("the copy is judged alike", not changed, changed)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for part in (recorded, broken_documents, libraries, capture):
            part(folder)
    print(f"{len(PROBLEMS)} problems")
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    sys.exit(main())
