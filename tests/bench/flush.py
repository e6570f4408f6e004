#!/usr/bin/env python3
"""Bench of delivery: reports per second and memory of a flush to a receiver on 127.0.0.1 that keeps connections alive, what a dead network
adds to a run, and what signing and spooling cost.

usage: flush.py GPUCHECK [REPORTS]
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "delivery"))
from receiver import Receiver, Tool  # noqa: E402

MACHINE = ROOT / "machines/mi300x-x8-healthy"
if not MACHINE.exists():
    MACHINE = ROOT / "machines/h100-x8-healthy"
LEAST_PER_S, MOST_ADDED_S = 500, 2.0


def fill(tool, receiver, reports):
    """One real entry, multiplied: the same bytes under other ids."""
    receiver.behave = lambda headers: 503
    tool.run("run", "--machine", MACHINE)
    pending = tool.state / "spool/pending"
    name = tool.waiting()[0]
    content = (pending / name).read_bytes()
    identity = name.split(".")[0]
    for number in range(reports):
        other = f"{identity[:24]}{number:012x}"
        (pending / name.replace(identity, other)).write_bytes(content.replace(identity.encode(), other.encode(), 1))
    (pending / name).unlink()
    return len(content)


def flush(tool):
    start = time.monotonic()
    done = subprocess.run(["/usr/bin/time", "-f", "%M", *tool.command("report", "flush", "--now")], capture_output=True, text=True, env=tool.env)
    return time.monotonic() - start, int(done.stderr.split()[-1]) / 1024, done.stdout.strip()


def throughput(gpucheck, reports):
    receiver = Receiver()
    rows = []
    for count in (reports // 10, reports):
        with tempfile.TemporaryDirectory() as name:
            tool = Tool(gpucheck, Path(name), [{"url": receiver.url}])
            size = fill(tool, receiver, count)
            receiver.behave = lambda headers: 201
            receiver.accepted.clear()
            connections = receiver.connections
            wall, peak, line = flush(tool)
            rows.append((count, wall, peak))
            print(f"{count} reports of {size / 1024:.1f} KiB: {count / wall:.0f}/s, peak {peak:.1f} MiB, {receiver.connections - connections} connections; "
                  f"{line}; {len(receiver.accepted)} accepted")
            if len(receiver.accepted) != count:
                return False
    receiver.close()
    return rows[-1][0] / rows[-1][1] >= LEAST_PER_S and rows[-1][2] - rows[0][2] < 16


def wall_of(command, env):
    start = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    return time.monotonic() - start


def added(gpucheck):
    """Seconds that delivery adds to a run, median of 5, by what the network does."""
    ok = True
    for name, behaviour, url in (("takes it", 201, None), ("never answers", "silent", None), ("refuses connections", None, "http://127.0.0.1:9/"),
                                 ("is not routed", None, "https://192.0.2.1/"), ("has no name", None, "https://receiver.invalid/")):
        receiver = Receiver(lambda headers: behaviour)
        walls, bare = [], []
        with tempfile.TemporaryDirectory() as folder:
            tool = Tool(gpucheck, Path(folder), [{"url": url or receiver.url}])
            for _ in range(5):
                shutil.rmtree(tool.state / "spool", ignore_errors=True)
                walls.append(wall_of(tool.command("run", "--machine", str(MACHINE)), tool.env))
                bare.append(wall_of([gpucheck, "run", "--machine", str(MACHINE)], tool.env))
        receiver.close()
        more = statistics.median(walls) - statistics.median(bare)
        ok = ok and max(walls) - statistics.median(bare) <= MOST_ADDED_S + 0.25
        print(f"a receiver that {name} adds {more * 1000:.0f} ms (most {(max(walls) - statistics.median(bare)) * 1000:.0f}) to {statistics.median(bare) * 1000:.0f} ms")
    return ok


def startup(gpucheck):
    walls = sorted(wall_of([gpucheck, "--version"], os.environ) for _ in range(200))
    print(f"--version, 200 runs: median {walls[100] * 1000:.2f} ms, 5th percentile {walls[10] * 1000:.2f} ms")


def main():
    gpucheck = sys.argv[1]
    reports = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    startup(gpucheck)
    good = throughput(gpucheck, reports)
    good = added(gpucheck) and good
    print("within bounds" if good else "OUT OF BOUNDS")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
