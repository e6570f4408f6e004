#!/usr/bin/env python3
"""The receiver is killed under load, again and again: every report that it acknowledged is there, and none twice.

usage: kill.py SERVER LOAD GPUCHECK MACHINE sqlite|postgres KILLS
"""
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from harness import Maker, Postgres, Server, Sqlite

SERVER, LOAD, GPUCHECK, MACHINE, WHICH, KILLS = *sys.argv[1:6], int(sys.argv[6])


def main():
    if WHICH == "postgres" and Postgres.programs() is None:
        print("skipped: no PostgreSQL on this machine (Debian: postgresql)")
        return 77
    chance = random.Random(20261130)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        template = folder / "template.json"
        template.write_bytes(subprocess.run([GPUCHECK, "--machine", MACHINE, "--format", "json"], capture_output=True).stdout)
        maker = Maker(LOAD, template, folder)
        database = {"sqlite": Sqlite, "postgres": Postgres}[WHICH](folder)
        try:
            return killing(database, maker, chance)
        finally:
            database.close()


def killing(database, maker, chance):
    options = database.fresh()
    acknowledged, waiting, conflicts, lock = set(), [], [], threading.Lock()
    cut_off = 0
    for round_number in range(KILLS):
        waiting += maker.many(120, "key", f"node-{round_number}")
        with Server(SERVER, *options) as server:
            over = threading.Event()

            def send():
                nonlocal cut_off
                while not over.is_set():
                    with lock:
                        if not waiting:
                            return
                        report = waiting.pop()
                    try:
                        status = server.deliver(report)[0]
                    except OSError:
                        status = 0
                    with lock:
                        if status in (200, 201):
                            acknowledged.add(report.id)
                        else:
                            waiting.append(report)  # as gpucheck does: the same bytes under the same key
                            cut_off += 1
                        if status == 409:
                            conflicts.append(report.id)

            threads = [threading.Thread(target=send) for _ in range(8)]
            for thread in threads:
                thread.start()
            time.sleep(chance.uniform(0.01, 0.3))
            server.kill()
            over.set()
            for thread in threads:
                thread.join()
    under_fire = len(acknowledged)
    with Server(SERVER, *options) as server:
        for report in waiting:
            if server.deliver(report)[0] in (200, 201):
                acknowledged.add(report.id)
    rows = [row[0] for row in database.run("SELECT report_id FROM reports")]
    lost, twice = acknowledged - set(rows), len(rows) - len(set(rows))
    print(f"{KILLS} kills, {len(rows)} reports, {under_fire} acknowledged between kills, {cut_off} requests cut off; lost: {len(lost)}, twice: {twice}, conflicts: {len(conflicts)}, never acknowledged: {KILLS * 120 - len(acknowledged)}")
    return 1 if lost or twice or conflicts or len(acknowledged) != KILLS * 120 else 0


if __name__ == "__main__":
    sys.exit(main())
