#!/usr/bin/env python3
"""gpucheck fleet as its users call it: decisions, order, summaries of summaries, exit statuses, pipes that break, files that hurt.

usage: fleet.py GPUCHECK GPUCHECK_FLEET SOURCE_DIR
"""
import gzip
import json
import os
import pty
import random
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema

from claims import CLAIMS
from harness import FLEET, GPUCHECK, NOW, SOURCE, check, fleet, healthy, problems, write
from reports import failing, report
from trust import cut, dates, words

SCHEMA = jsonschema.Draft202012Validator(json.loads((SOURCE / "docs/fleet.schema.json").read_text()))


def decisions(scratch):
    good = write(scratch / "good", healthy())
    done = fleet("summary", good)
    check("a healthy fleet is accepted", done.returncode == 0 and done.stdout.startswith(b"ACCEPT: 16 nodes: 16 accepted"), done)
    bad = write(scratch / "bad", healthy(15) + [failing(15)])
    done = fleet("summary", bad)
    text = done.stdout.decode()
    check("a fleet with a faulty node is rejected", done.returncode == 1 and text.startswith("REJECT"), done)
    check("the worst node comes first, with the reason", "pcie.link.narrow" in text.split("Nodes that are not accepted")[1].split("\n\n")[0] and
          "node-015" in text.splitlines()[[i for i, line in enumerate(text.splitlines()) if line.startswith("Nodes that")][0] + 1], text)
    slow = write(scratch / "slow", healthy(15) + [report(15, factor=0.9)])
    done = fleet("summary", slow)
    check("a node that is 10 % slow is not accepted", done.returncode == 1 and b"node-015" in done.stdout, done)
    (scratch / "empty").mkdir()
    done = fleet("summary", scratch / "empty")
    check("an empty folder is not enough evidence", done.returncode == 2 and done.stdout.startswith(b"NOT ENOUGH EVIDENCE") and
          b"holds no report" in done.stdout, done)
    check("nothing on standard input is not enough evidence", fleet("summary", "-", stdin=subprocess.DEVNULL).returncode == 2)
    rehearsal = write(scratch / "rehearsal", healthy(simulated=True))
    check("rehearsals are no evidence", fleet("summary", rehearsal).returncode == 2)
    (good / "broken.json").write_text('{"schema_version": "1.0"')
    done = fleet("summary", good)
    check("what was not read is said", done.returncode != 64 and b"Not read" in done.stdout and b"broken.json:1: is cut off" in done.stdout and
          b"1 input not read" in done.stdout.splitlines()[0], done)
    (good / "broken.json").unlink()
    liar = failing(16)
    liar["verdict"] = "pass"
    write(good, [liar])
    done = fleet("summary", good)
    check("a report that contradicts itself is not read", b"contradicts itself" in done.stdout, done)
    (good / f"{liar['report_id']}.json").unlink()
    done = fleet("summary", bad, "--format", "jsonl")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    check("jsonl is one line a node, worst first", done.returncode == 1 and len(rows) == 16 and rows[0]["node"] == "node-015" and
          rows[0]["decision"] == "reject" and all(row["decision"] == "accept" for row in rows[1:]), rows[:2])
    done = fleet("summary", slow, "--top", "1")
    check("--top counts what it leaves out", b" more" in done.stdout, done.stdout)


def forms(scratch):
    """The same reports in any form and order give the same bytes."""
    everything = healthy(14) + [failing(14), report(15, factor=0.93), failing(1, seed=2, node="node-001")]
    for each in everything:
        each["host"]["drivers"]["nvidia"] = "570.133.20"
    folder = write(scratch / "forms", everything)
    expected = fleet("summary", folder, "--format", "json")
    document = json.loads(expected.stdout)
    SCHEMA.validate(document)
    check("the JSON names the decision", document["decision"] == "reject" and document["counts"]["reports"] == 17 and expected.returncode == 1)
    check("an older report of a node is named", any(node["earlier"] for node in document["nodes"]))
    files = sorted(folder.iterdir())
    for seed in range(4):
        random.Random(seed).shuffle(files)
        done = fleet("summary", *files, "--format", "json")
        check(f"order {seed} changes nothing", done.stdout == expected.stdout and done.returncode == 1)
        text = fleet("summary", *files)
        check(f"order {seed} changes no text", text.stdout == fleet("summary", folder).stdout)
    for seed in range(6):
        draw = random.Random(seed)
        parts = [[] for _ in range(draw.randint(2, 5))]
        for path in files:
            draw.choice(parts).append(path)
        summaries = []
        for number, part in enumerate(part for part in parts if part):
            target = scratch / f"part-{seed}-{number}.json"
            fleet("summary", *part, "--format", "json", "--output", target)
            summaries.append(target)
        draw.shuffle(summaries)
        done = fleet("summary", *summaries, "--format", "json")
        check(f"a summary of summaries ({seed}) is that of the whole", done.stdout == expected.stdout and done.returncode == 1)
    together = b"\n".join(path.read_bytes() for path in files)

    def nodes(done):
        return [{name: value for name, value in node.items() if name != "where"} for node in json.loads(done.stdout)["nodes"]]

    for what, done in (("standard input", fleet("summary", "-", "--format", "json", input=together)),
                       ("standard input in gzip", fleet("summary", "-", "--format", "json", input=gzip.compress(together)))):
        check(f"{what} is read", done.returncode == 1 and nodes(done) == nodes(expected), done.stderr)
    for suffix, command in ((".xz", ["xz", "-c"]), (".zst", ["zstd", "-qc"])):
        if not shutil.which(command[0]):
            print(f"skipped: no {command[0]}")
            continue
        packed = scratch / f"all.jsonl{suffix}"
        packed.write_bytes(subprocess.run(command, input=together, capture_output=True, check=True).stdout)
        done = fleet("summary", packed, "--format", "json")
        check(f"{suffix} is read", nodes(done) == nodes(expected), done.stderr)
    done = subprocess.run(["bash", "-c", f'"{FLEET}" summary <(cat "{folder}"/*.json) --format json --now {NOW}'], capture_output=True, timeout=60)
    check("what a shell hands over is read", done.returncode == 1 and nodes(done) == nodes(expected), done.stderr)


def statuses(scratch):
    good = write(scratch / "good", healthy())
    for arguments in ([], ["summary"], ["summary", "/nowhere"], ["summary", good, "--format", "xml"], ["summary", good, "--top", "0"],
                      ["summary", good, "--labels", "/nowhere"], ["summary", good, "--keys", scratch / "empty"], ["summary", good, "--policy", "/nowhere"],
                      ["summary", good, "--baseline", "/dev/zero"], ["compare", good], ["compare", "-", "-"], ["dance"], ["summary", good, "--no-such"]):
        done = fleet(*arguments, stdin=subprocess.DEVNULL)
        check(f"{arguments} is a wrong command line", done.returncode == 64 and done.stderr and not done.stdout, done)
    for path in ("/nowhere/report.json", scratch):
        done = fleet("summary", good, "--output", path)
        check(f"--output {path} fails", done.returncode == 70 and done.stderr and not done.stdout, done)
    check("no half-written file stays", not [name for name in os.listdir(scratch) if ".new-" in name])
    target = scratch / "kept.json"
    done = fleet("summary", good, "--format", "json", "--output", target)
    check("--output writes the file alone", done.returncode == 0 and not done.stdout and json.loads(target.read_text())["decision"] == "accept" and
          stat.S_IMODE(target.stat().st_mode) == 0o644, done)
    with open("/dev/full", "wb") as full:
        done = subprocess.run([FLEET, "summary", str(good), "--now", NOW], stdout=full, stderr=subprocess.PIPE, timeout=60)
    check("a full disk is said", done.returncode == 70 and b"full" in done.stderr, done)
    many = write(scratch / "many", healthy(300))
    for arguments in (["summary", many, "--format", "json"], ["summary", many, "--format", "jsonl"], ["summary", many]):
        child = subprocess.Popen([FLEET, *map(str, arguments), "--now", NOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child.stdout.read(10)
        child.stdout.close()
        noise = child.stderr.read()
        check(f"a reader that leaves early changes nothing {arguments[2:]}", child.wait(timeout=60) == 0 and not noise, noise)
    check("--help and --version", all(fleet(option).returncode == 0 and fleet(option).stdout for option in ("--help", "--version")) and
          b"--policy" in fleet("summary", "--help").stdout)


def unreadable(scratch):
    folder = write(scratch / "unreadable", healthy(16))
    closed = folder / "closed.json"
    closed.write_text(json.dumps(failing(99)))
    closed.chmod(0)
    inner = folder / "inner"
    inner.mkdir(mode=0)
    os.mkfifo(folder / "pipe.json")
    demote = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
    scratch.chmod(0o755)
    program = scratch / "gpucheck-fleet-copy"
    shutil.copy(FLEET, program)
    program.chmod(0o755)
    done = fleet("summary", folder, program=program, **demote)
    text = done.stdout.decode()
    check("what may not be read is said", all(f"{name}: cannot be read: no permission" in " ".join(text.split()) for name in (closed, inner)) and
          "is a pipe" in text and done.returncode in (0, 1, 2) and "3 inputs not read" in text.splitlines()[0], text)
    inner.chmod(0o755)


def hostile(scratch):
    folder = write(scratch / "hostile", healthy(15))
    write(folder, [report(20, node="\x1b[2Jgone"), report(21, node="evil\u202eedon"), report(22, factor=0.5, node="<script>alert(1)</script>")])
    done = fleet("summary", folder, "--format", "text")
    check("no terminal is told what to do", b"\x1b" not in done.stdout and "\u202e".encode() not in done.stdout and b"control character" in b" ".join(done.stdout.split()), done)
    done = fleet("summary", folder, "--format", "json")
    SCHEMA.validate(json.loads(done.stdout))
    check("no byte of a name is raw", b"\x1b" not in done.stdout and "\u202e".encode() not in done.stdout)
    draw = random.Random(4)
    base = json.dumps(report(1)).encode()
    junk = scratch / "junk"
    junk.mkdir()
    for number in range(200):
        spoiled = bytearray(base)
        for _ in range(draw.randint(1, 8)):
            place = draw.randrange(len(spoiled))
            spoiled[place:place + draw.randint(0, 40)] = bytes(draw.randrange(256) for _ in range(draw.randint(0, 12)))
        (junk / f"{number}.json{draw.choice(['', '', '.gz', '.zst', '.xz'])}").write_bytes(bytes(spoiled[:draw.randint(1, len(spoiled))]))
    for number in range(60):
        packed = bytearray(gzip.compress(base * 20))
        packed[draw.randrange(10, len(packed))] ^= 1 << draw.randrange(8)
        (junk / f"packed-{number}.json.gz").write_bytes(bytes(packed))
    done = fleet("summary", junk, "--format", "json")
    document = json.loads(done.stdout)
    SCHEMA.validate(document)
    check("junk is counted, not swallowed", done.returncode in (1, 2) and not done.stderr and
          len({row["where"].split(".json")[0] for row in document["rejected"]}) + document["counts"]["reports"] >= 250, done.stderr)


def baselines(scratch):
    good = write(scratch / "good", healthy())
    kept = scratch / "baseline.json"
    done = fleet("baseline", good, "--output", kept)
    check("a baseline is written", done.returncode == 0 and json.loads(kept.read_text()), done)
    (good / "broken.json").write_text("{")
    done = fleet("baseline", good)
    check("a baseline of what could not all be read", done.returncode == 2 and done.stdout == kept.read_bytes() and b"1 input not read" in done.stderr, done)
    check("nothing is worse in what was not read", fleet("compare", good, good).returncode == 2)
    (good / "broken.json").unlink()
    check("a baseline does not depend on order", fleet("baseline", *sorted(good.iterdir(), reverse=True)).stdout == kept.read_bytes())
    small = report(1, factor=0.85, seed=5, gpu_count={"expected": 4, "pci": 4, "bound": 4})
    small["gpus"] = small["gpus"][:4]
    few = write(scratch / "few", [small])
    alone, against = fleet("summary", few), fleet("summary", few, "--baseline", kept)
    check("one slow node alone is not judged, against the baseline it is", alone.returncode == 2 and against.returncode == 1 and
          b"baseline" in against.stdout, (alone.stdout, against.stdout))
    check("too few for a baseline", fleet("baseline", few).returncode == 2 and not fleet("baseline", few).stdout)
    kept.write_text('{"rows": 5}')
    check("a baseline that is none is refused", fleet("summary", few, "--baseline", kept).returncode == 64)


def policies(scratch):
    good = write(scratch / "good", healthy(15) + [report(15, factor=0.985)])
    document = (SOURCE / "docs/fleet.md").read_text().split("## Policies")[1].split("```")[1]
    policy = scratch / "policy.json"
    policy.write_text(document)
    done = fleet("summary", good, "--policy", policy, "--format", "json")
    check("the policy of the documentation is one, and its name is said", done.returncode in (0, 1) and
          json.loads(done.stdout)["policy"] == "training cluster", done.stderr)
    strict = {"schema_version": 1, "name": "strict", "rules": [{"name": "slow", "decision": "reject", "metric": "memory_read_gb_s", "value_below": 2965}]}
    policy.write_text(json.dumps(strict))
    done = fleet("summary", good, "--policy", policy)
    check("a rule rejects what gpucheck's own policy would not", done.returncode == 1 and b"node-015" in done.stdout and b"1 rejected" in done.stdout, done)
    policy.write_text(json.dumps({**strict, "accept_unverified": False}))
    done = fleet("summary", good, "--policy", policy)
    check("a policy of signed reports alone needs keys", done.returncode == 64 and b"--keys" in done.stderr, done)
    for text in ("", "{}", json.dumps({**strict, "rulez": []}), json.dumps({**strict, "schema_version": 2})):
        policy.write_text(text)
        done = fleet("summary", good, "--policy", policy)
        check(f"a policy that is none is refused: {text[:40]}", done.returncode == 64 and done.stderr and not done.stdout, done)


def pages(scratch):
    good = write(scratch / "good", healthy())
    target = scratch / "page.html"
    done = fleet("html", good, "--output", target)
    check("a page is written", done.returncode == 0 and not done.stdout and target.read_text().lstrip().lower().startswith("<!doctype html>"), done)
    write(good, [failing(20)])
    done = fleet("html", good)
    check("a page exits as the decision does", done.returncode == 1 and b"node-020" in done.stdout, done.stderr)
    check("a page of nothing is not enough evidence", fleet("html", "-", stdin=subprocess.DEVNULL).returncode == 2)


def comparisons(scratch):
    before, same, worse = (write(scratch / name, healthy(16, seed=seed, factor=factor)) for name, seed, factor in
                           (("before", 1, 1), ("same", 2, 1), ("worse", 3, 0.93)))
    done = fleet("compare", before, same)
    check("noise is no change", done.returncode == 0 and done.stdout.startswith((b"UNCHANGED", b"CHANGED")), done.stdout)
    done = fleet("compare", before, worse)
    check("7 % slower is worse", done.returncode == 1 and done.stdout.startswith(b"WORSE"), done.stdout)
    done = fleet("compare", before, worse, "--format", "json")
    document = json.loads(done.stdout)
    SCHEMA.validate(document)
    check("the JSON says so", done.returncode == 1 and any(change["worse"] for change in document["significant"]))
    shutil.copytree(same, scratch / "torn")
    (scratch / "torn" / "torn.json").write_text("{")
    write(scratch / "ten", healthy(10, seed=2))
    for name, word in (("torn", b"could not be read"), ("ten", b"6 nodes of OLD have no report in NEW")):
        done = fleet("compare", before, scratch / name)
        check(f"{name} is not enough", done.returncode == 2 and done.stdout.startswith(b"NOT ENOUGH EVIDENCE") and word in b" ".join(done.stdout.split()), done.stdout)
    write(scratch / "others", [report(number, seed=7) for number in range(40, 56)])
    check("other nodes are no comparison", fleet("compare", before, scratch / "others").returncode == 2)


def terminals(scratch):
    good = write(scratch / "good", healthy())
    for environment, coloured in (({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        main, other = pty.openpty()
        child = subprocess.Popen([FLEET, "summary", str(good), "--now", NOW], stdout=other, env=environment)
        os.close(other)
        seen = b""
        while True:
            try:
                block = os.read(main, 65536)
            except OSError:
                break
            if not block:
                break
            seen += block
        child.wait(timeout=60)
        os.close(main)
        check(f"colours with {environment}", (b"\x1b[32m" in seen) == coloured, seen[:80])


def starting(scratch):
    good = write(scratch / "good", healthy())
    done = fleet("fleet", "summary", good, "--top", "3", program=GPUCHECK)
    check("gpucheck fleet hands over all arguments and the status", done.returncode == 0 and done.stdout == fleet("summary", good, "--top", "3").stdout, done)
    check("gpucheck --help names it", b" fleet " in fleet("--help", program=GPUCHECK).stdout)
    check("gpucheck fleet --help is gpucheck-fleet's", b"summary" in fleet("fleet", "--help", program=GPUCHECK).stdout)
    root = scratch / "root"
    (root / "bin").mkdir(parents=True)
    (root / "lib/gpucheck").mkdir(parents=True)
    gpucheck = root / "bin/gpucheck"
    shutil.copy(GPUCHECK, gpucheck)
    elsewhere = scratch / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(FLEET, elsewhere / "gpucheck-fleet")
    path = {**os.environ, "PATH": f"{elsewhere}:{os.environ['PATH']}"}
    done = fleet("fleet", "summary", good, program=gpucheck, env=path)
    check("what is not installed is said, and PATH is not searched", done.returncode == 64 and b"is not installed" in done.stderr and not done.stdout, done)
    installed = root / "lib/gpucheck/gpucheck-fleet"
    shutil.copy(FLEET, installed)
    installed.chmod(0o755)
    check("../lib/gpucheck is looked at", fleet("fleet", "summary", good, program=gpucheck).returncode == 0)
    beside = root / "bin/gpucheck-fleet"
    beside.write_text("#!/bin/sh\necho no\n")
    beside.chmod(0o757)
    done = fleet("fleet", "summary", good, program=gpucheck)
    check("what others may change is not run", done.returncode == 64 and b"may be changed by other users" in done.stderr and b"no" != done.stdout.strip(), done)
    if os.geteuid() == 0:
        beside.chmod(0o755)
        os.chown(beside, 65534, 65534)
        done = fleet("fleet", "summary", good, program=gpucheck)
        check("what belongs to somebody else is not run", done.returncode == 64 and b"belongs to another user" in done.stderr, done)


def recorded(scratch):
    """What gpucheck says of each recorded machine is a report, whatever is wrong with the machine."""
    folder = scratch / "recorded"
    folder.mkdir()
    for number, machine in enumerate(sorted((SOURCE / "tests/machines").iterdir())):
        if (machine / "sysroot").is_dir() and number % 3 == 0:
            with (folder / f"{machine.name}.json").open("wb") as out:
                subprocess.run([GPUCHECK, "--machine", machine, "--format", "json"], stdout=out, stderr=subprocess.DEVNULL, timeout=60)
    for path in folder.iterdir():
        if path.stat().st_size == 0:  # a machine that needs options of its own
            path.unlink()
    done = fleet("summary", folder, "--format", "json")
    document = json.loads(done.stdout)
    check("every report of gpucheck is read", len(list(folder.iterdir())) >= 20 and document["rejected"] == [] and
          len(document["reports"]) == len(list(folder.iterdir())), document["rejected"])
    check("recorded machines are no evidence", done.returncode == 2)


def main():
    for part in (decisions, dates, forms, statuses, unreadable, hostile, words, cut, baselines, policies, pages, comparisons, terminals, starting, recorded, *CLAIMS):
        with tempfile.TemporaryDirectory() as name:
            part(Path(name))
    for problem in problems:
        print(problem[:3000])
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
