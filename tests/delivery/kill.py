#!/usr/bin/env python3
"""Kill test: runs and flushes are ended by SIGKILL at random moments while the receiver answers 200, 500, 429, resets, or takes the
report and dies. No report whose verdict was printed may be lost, and none may be accepted twice under one key.

usage: kill.py GPUCHECK MACHINE [KILLED_RUNS [SEED]]
"""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from receiver import Receiver, Tool, report_of

RUNS = int(sys.argv[3]) if len(sys.argv) > 3 else 40
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 30)
DICE = random.Random(SEED)
WAYS = [201, 201, 500, (429, {"Retry-After": "0"}), "reset", "dies"]


def start(tool, *args):
    return subprocess.Popen(tool.command(*args), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=tool.env, start_new_session=True)


def end_at(process, delay_s):
    """What it printed, and whether it was killed. All of its processes, or (one in three) the first alone."""
    whole = DICE.random() < 0.67
    try:
        out, _ = process.communicate(timeout=delay_s)
        return out, False
    except subprocess.TimeoutExpired:
        (os.killpg if whole else os.kill)(process.pid, signal.SIGKILL)
        out, _ = process.communicate()
        return out, True


def printed_id(out):
    try:
        return json.loads(out)["report_id"]
    except (ValueError, KeyError):
        return None


def typical_s(tool, *args):
    def once():
        start_s = time.monotonic()
        tool.run(*args)
        return time.monotonic() - start_s
    return min(once() for _ in range(3))


def forget_holds(tool):
    """A receiver that was down would not be asked for a while: here it is asked all the time."""
    for hold in (tool.state / "spool/receivers").glob("*"):
        hold.unlink(missing_ok=True)


def main():
    receiver = Receiver(lambda headers: DICE.choice(WAYS))
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(sys.argv[1], Path(folder), [{"url": receiver.url, "timeout_s": 5}])
        machine = sys.argv[2]
        receiver.behave = lambda headers: 201
        usual = typical_s(tool, "run", "--machine", machine, "--format", "json")
        usual_flush = typical_s(tool, "report", "flush", "--now")
        receiver.behave = lambda headers: DICE.choice(WAYS)
        told, kills, flush_kills, runs = set(), 0, 0, 0
        while kills < RUNS and runs < 8 * RUNS:
            runs += 1
            forget_holds(tool)
            flush = start(tool, "report", "flush", "--now") if DICE.random() < 0.4 else None
            run = start(tool, "run", "--machine", machine, "--format", "json")
            if flush:  # more takes longer
                flush_kills += end_at(flush, DICE.uniform(0, (1 + len(tool.waiting()) / 10) * usual_flush))[1]
            out, killed = end_at(run, DICE.uniform(0, usual))
            kills += killed
            usual *= 1.01 if killed else 0.98  # the machine's load changes: two thirds are to be killed, at any moment
            told.add(printed_id(out))
        told.discard(None)
        files = len(tool.waiting())
        kept = {name.split(".")[0] for name in tool.waiting()}
        with receiver.lock:  # what it took so far
            early = len(receiver.accepted)
        receiver.behave = lambda headers: 201
        for _ in range(5):
            status, out, err = tool.run("report", "flush", "--now")
            if status == 0:
                break
        left = tool.waiting()
        rejected = list((tool.state / "spool/rejected").iterdir())
        damaged = list((tool.state / "spool/damaged").iterdir())
        temporary = [p.name for p in (tool.state / "spool/pending").glob(".new-*")]
    receiver.close()
    accepted = set(receiver.accepted)
    lost = (told | kept) - accepted
    unlike = [key for key, body in receiver.accepted.items()
              if report_of({"content-encoding": "gzip", "content-type": "application/vnd.dsse.envelope.v1+json"}, body)["report_id"] != key]
    print(f"seed {SEED}: {runs} runs, {kills} killed; {flush_kills} flushes killed; usual run {usual * 1000:.0f} ms, flush {usual_flush * 1000:.0f} ms")
    print(f"verdicts printed {len(told)}; accepted while killing {early}, waiting then {files}, accepted at the end {len(accepted)}")
    print(f"answers {receiver.answers}; deliveries {receiver.deliveries} of which again {receiver.deliveries - len(accepted)}")
    print(f"lost {len(lost)}; accepted twice under one key {len(receiver.conflicts)}; key of another report {len(unlike)}; "
          f"left {len(left)}, rejected {len(rejected)}, damaged {len(damaged)}, unfinished files {len(temporary)}")
    bad = lost or receiver.conflicts or unlike or left or rejected or damaged
    if kills < RUNS or not (told and accepted):
        print("nothing was killed or nothing was told: this proves nothing")
        return 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
