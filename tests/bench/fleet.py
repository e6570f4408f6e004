#!/usr/bin/env python3
"""Bench of a fleet's summary: 100,000 reports of about 15 KB, as files in folders and as one file of JSON lines, on two cores. Wall time
and peak of resident memory (VmHWM).

usage: fleet.py GPUCHECK GPUCHECK_FLEET [REPORTS]
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_S, MOST_MIB, BYTES = 20, 512, 15_000
MEASURED = {"memory_read_gb_s": 3020, "memory_write_gb_s": 2890, "memory_copy_gb_s": 2840, "memory_triad_gb_s": 2870, "bf16_tflops": 742,
            "fp16_tflops": 738, "fp8_tflops": 1410, "matrix_bf16_tflops": 801, "matrix_fp8_tflops": 1602, "host_link_h2d_gb_s": 55.1,
            "host_link_d2h_gb_s": 54.2, "host_link_both_gb_s": 88.4, "launch_us": 3.1, "power_w": 688, "capacity_bytes": 85_520_809_984}


def template(gpucheck):
    """A real report of eight GPUs with marks where one differs from the next."""
    done = subprocess.run([gpucheck, "--machine", ROOT / "machines/h100-x8-healthy", "--format", "json"], capture_output=True, check=True)
    report = json.loads(done.stdout)
    report.update(report_id="@ID@", created="2026-11-30T10:00:00Z", simulated=False, machine=None, profile="acceptance", not_checked=[])
    report["host"]["hostname"] = "@NODE@"
    for place in [report["host"], report["instance"], *report["gpus"]]:
        place["missing"] = {}
    for number, gpu in enumerate(report["gpus"]):
        gpu.update(serial=f"@SERIAL@{number}", uuid=f"GPU-@NODE@-{number}", nodes=[])
        gpu["measurements"] = {name: f"@{name}@" for name in MEASURED}
        for name in ("pci", "link", "partition", "board_name"):  # about 15 KB, and nothing that is read goes
            gpu.pop(name)
    for check in report["checks"]:
        check.pop("title")
        check["reason"] = None
    text = json.dumps(report, separators=(",", ":"))
    report["cost_notes"] = ["x" * max(0, BYTES - len(text))]
    return json.dumps(report, separators=(",", ":"))


def texts(gpucheck, reports):
    base = template(gpucheck)
    # A measurement is a number: the quotes around its mark go.
    joined = base
    for name in MEASURED:
        joined = joined.replace(f'"@{name}@"', f"@{name}@")
    parts = joined.split("@")
    draw = random.Random(9).gauss
    for number in range(reports):
        values = {"ID": f"01a22e6d-f626-713c-92c0-{number:012x}", "NODE": f"node-{number:06d}", "SERIAL": f"16{number:010d}"}
        filled = [values.get(part) or (f"{draw(MEASURED[part], MEASURED[part] * 0.01):.2f}" if part in MEASURED else part) for part in parts]
        yield values["NODE"], "".join(filled)


def summary(fleet, path):
    start, before = time.monotonic(), os.times().children_user + os.times().children_system
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([fleet, "summary", path, "--top", "3"], stdout=out, preexec_fn=lambda: os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2]))
        peak = 0
        while child.poll() is None:
            try:
                status = Path(f"/proc/{child.pid}/status").read_text()
                peak = max(peak, *[int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")] or [0])
            except (FileNotFoundError, ProcessLookupError):
                break
            time.sleep(0.02)
        child.wait()
        wall = time.monotonic() - start
        used = os.times().children_user + os.times().children_system - before
        out.seek(0)
        first = out.readline().decode().strip()
    return wall, used, peak / 1024, child.returncode, first


def main():
    gpucheck, fleet = sys.argv[1:3]
    reports = int(sys.argv[3]) if len(sys.argv) > 3 else 100_000
    room = "/dev/shm" if shutil.disk_usage("/dev/shm").free > 6 * reports * BYTES else None
    good = True
    with tempfile.TemporaryDirectory(dir=room) as name:
        folder, lines, size = Path(name) / "reports", Path(name) / "reports.jsonl", 0
        with lines.open("w") as together:
            for number, (node, text) in enumerate(texts(gpucheck, reports)):
                place = folder / f"rack-{number // 500:04d}"
                place.mkdir(parents=True, exist_ok=True)
                (place / f"{node}.json").write_text(text)
                together.write(text + "\n")
                size += len(text)
        print(f"{reports} reports of {size / reports / 1024:.1f} KiB, {size >> 20} MiB; load before: {os.getloadavg()[0]:.1f}")
        for what, path in (("files", folder), ("JSON lines", lines)):
            wall, used, peak, status, first = summary(fleet, path)
            print(f"{what}: {wall:.1f} s, {used:.1f} s of processors, peak {peak:.0f} MiB, status {status}: {first}")
            good = good and wall <= MOST_S and peak <= MOST_MIB and status in (0, 1) and f"{reports} nodes" in first
    print(f"target: {MOST_S} s, {MOST_MIB} MiB for 100000 reports on 2 cores: {'met' if good else 'MISSED'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
