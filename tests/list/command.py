#!/usr/bin/env python3
"""`gpucheck list` from outside: tables, topology, and --watch that ends when it is told to or when nobody reads.

usage: command.py GPUCHECK MACHINES
"""
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

GPUCHECK, MACHINES = sys.argv[1], Path(sys.argv[2])
PROBLEMS = []


def expect(what, good, shown=""):
    if not good:
        PROBLEMS.append(what)
        print(f"{what}: {shown}")


def run(*arguments, machine="mi300x-x8-healthy"):
    done = subprocess.run([GPUCHECK, "list", "--machine", MACHINES / machine, *arguments], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def watched(*arguments, **options):
    return subprocess.Popen([GPUCHECK, "list", "--machine", MACHINES / "mi300x-x8-healthy", "--watch", "0.2", *arguments],
                            stdout=options.get("stdout", subprocess.PIPE), stderr=subprocess.PIPE)


def tables():
    code, out, _ = run()
    expect("telemetry: a row a GPU", code == 0 and out.count("132/750") == 1 and "ECC UE/CE" in out and "TEMP C" in out, out)
    expect("telemetry: one line a GPU in each table", out.count("0000:19:00.0") == 2, out)
    expect("telemetry: links up of all", "7/7" in out, out)
    _, out, _ = run(machine="mi210-x8-two-hives")
    expect("MI210: power1_average and layout 1.3", "41/300" in out and "none" in out, out)
    _, out, _ = run(machine="mi350x-x2-layout-1-9")
    expect("MI350X: layout 1.9", "/1000" in out and "7/7" in out, out)
    code, out, _ = run(machine="mi300x-x2-cpx")
    expect("CPX: one row a physical GPU", code == 0 and out.count("0000:") == 4, out)
    code, out, _ = run(machine="mi300x-vf-few-files")
    expect("a VF shows what it has", code == 0 and "132/750" in out and "ECC" not in out, out)
    code, out, _ = run(machine="h100-x8-healthy")
    expect("no telemetry: the first table alone", code == 0 and "BOARD" in out and "TEMP" not in out, out)
    snapshot = json.loads(run("--json")[1])
    hotspot = snapshot["gpus"][0]["telemetry"]["first"]["amd"]["metrics"]["hotspot_c"]
    expect("--json has the telemetry with sources", hotspot["value"] == 46 and "gpu_metrics" in hotspot["source"], hotspot)
    fabric = json.loads(run("--json", machine="h100-x8-healthy")[1])["host"]["units"]["value"][0]
    expect("--json has the units", fabric["processes"]["value"] == 1 and fabric["enabled"]["value"], fabric)


def topology():
    for machine, word, count in (("mi300x-x8-healthy", "XGMI", 56), ("mi210-x8-two-hives", "XGMI", 24),
                                 ("mi300x-x8-cpx-63-nodes", "XGMI", 56), ("mi300x-x2-cpx", "XGMI", 2)):
        code, out, _ = run("--topology", "--json", machine=machine)
        words = [w for row in json.loads(out)["relations"] for w in row]
        expect(f"topology: {machine}", code == 0 and words.count(word) == count, words)
    code, out, _ = run("--topology")
    expect("topology: legend and columns", code == 0 and "NUMA" in out and "xGMI hop" in out and "NVLinks" not in out, out)
    code, out, _ = run("--topology", machine="h100-x8-healthy")
    expect("topology: what was not read is said", "was not read" in out, out)
    code, out, _ = run("--topology", machine="no-gpu-vm")
    expect("topology: no GPU", code == 0 and "no GPU" in out, out)


def labels():
    for machine, lines in (("mi300x-x8-healthy", ["board=mi300x", "count=8", "islands=1", "link=xgmi"]), ("h100-x8-healthy", ["count=8", "vendor=nvidia"]),
                           ("mi210-x8-two-hives", ["islands=2", "per-island=4"]), ("no-gpu-vm", ["count=0"])):
        code, out, err = run("--labels", machine=machine)
        expect(f"labels: {machine}", code == 0 and all(f"gpucheck.io/gpu.{line}\n" in out for line in lines), out + err)
    for machine, name in (("h100-x8-healthy", "islands"), ("mi300x-x8-xgmi-link-down", "islands"), ("h100-x2-fabric-not-started", "link"),
                          ("mi300x-vf-healthy", "numa-nodes"), ("sysfs-not-mounted", "count"), ("unknown-board", "board")):
        code, out, _ = run("--labels", machine=machine)
        expect(f"labels: {machine} says no {name}", code == 0 and f"gpu.{name}=" not in out, out)
    for folder in sorted(path.parent for path in MACHINES.glob("*/expected.json")):
        code, out, err = run("--labels", machine=folder.name)
        expect(f"labels: {folder.name} is a features file", code == 0 and re.fullmatch(
            r"(gpucheck\.io/gpu\.[a-z0-9-]{1,59}=[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?\n){0,32}", out), out + err)
    expect("labels excludes json", run("--labels", "--json")[0] == 64)


def watch():
    code, out, err = run("--watch", "0.2", "--count", "3")
    expect("watch: three blocks", code == 0 and out.count("TEMP C") == 3, out + err)
    expect("watch: rates from the second on", out.count("NEW UE/CE") == 2 and "+0/+0" in out, out)
    expect("watch: blocks, not a screen", "\x1b" not in out, out)
    code, out, _ = run("--count", "3")
    expect("count needs watch", code == 64)
    code, out, _ = run("--watch", "0.2", "--json")
    expect("watch excludes json", code == 64)
    code, out, _ = run("--watch", "soon")
    expect("watch wants a number", code == 64)
    code, out, _ = run("--watch", "--count", "1")
    expect("watch without a number", code == 0 and out.count("TEMP C") == 1, out)
    for sign in (signal.SIGINT, signal.SIGTERM):
        process = watched()
        process.stdout.readline()
        process.send_signal(sign)
        out, err = process.communicate(timeout=30)
        expect(f"watch: {sign.name} ends it with 0", process.returncode == 0 and err == b"", (process.returncode, err))
    process = watched()
    process.stdout.readline()
    process.stdout.close()
    expect("watch: ends when nobody reads", process.wait(timeout=30) == 0, process.returncode)
    process.stderr.close()


def terminal():
    main, worker = pty.openpty()
    environment = dict(os.environ, TERM="xterm")
    process = subprocess.Popen([GPUCHECK, "list", "--machine", MACHINES / "mi300x-x8-healthy", "--watch", "0.2", "--count", "2"],
                               stdout=worker, stderr=worker, stdin=worker, env=environment)
    os.close(worker)
    out = b""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            part = os.read(main, 65536)
        except OSError:
            break
        if not part:
            break
        out += part
    expect("watch: a terminal is redrawn in place", process.wait(timeout=30) == 0 and out.count(b"\x1b[H") == 2 and out.count(b"\x1b[J") == 2,
           out)
    os.close(main)


def main():
    tables()
    topology()
    labels()
    watch()
    terminal()
    print(f"{len(PROBLEMS)} problems")
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    sys.exit(main())
