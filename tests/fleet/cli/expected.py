#!/usr/bin/env python3
"""A node that gave no report is named and accepts nothing: --expect-nodes, and the documented loop over ssh.

usage: expected.py GPUCHECK SOURCE_DIR
"""
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from reports import failing, report

GPUCHECK, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
problems = []


def check(what, fine, more=""):
    if not fine:
        problems.append(what)
        print(f"PROBLEM {what}: {more}")


def fleet(*arguments):
    done = subprocess.run([GPUCHECK, "fleet", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def missing(*arguments):
    """Exit status, and the nodes that are said to have given no report."""
    code, text = fleet("summary", *arguments, "--format", "json")
    return code, [row["where"] for row in json.loads(text)["rejected"] if "is expected" in row["why"]]


def answers(scratch):
    folder = scratch / "reports"
    folder.mkdir()
    for number in range(12):
        (folder / f"{number}.json").write_text(json.dumps(report(number)))
    names = [f"node-{number:03d}" for number in range(12)]
    listed = scratch / "nodes.txt"

    def expecting(*lines, end="\n"):
        listed.write_text(end.join(lines) + end)
        return missing(folder, "--expect-nodes", listed)
    check("all are there", expecting(*names) == (0, []), expecting(*names))
    check("others than the expected are no fault", expecting(*names[:3]) == (0, []))
    check("blanks, comments, a byte order mark, DOS, twice", expecting("\ufeff# ours", "", f"  {names[0]}\t", names[0], end="\r\n") == (0, []))
    check("a silent node", expecting(*names, "node-012") == (2, ["node-012"]), expecting(*names, "node-012"))
    code, text = fleet("summary", folder, "--expect-nodes", listed)
    check("it is named", code == 2 and re.search(r"node-012: +is +expected, and no report of it counts", text) and not text.startswith("ACCEPT"), text)
    check("near the top, and as no file", "1 expected node missing" in text.splitlines()[0] and "expected node is missing: node-012" in text.splitlines()[1]
          and "could not be read" not in text, text)
    check("by provider and instance", expecting("aws/i-00003", "aws/i-00099") == (2, ["aws/i-00099"]), listed.read_text())
    check("names are compared whole", expecting("node-00", "ode-001", "NODE-001")[1] == ["NODE-001", "node-00", "ode-001"])
    page = scratch / "page.html"
    expecting("node-077")
    code, text = fleet("html", folder, "--expect-nodes", listed, "--output", page)
    check("the page has it too", code == 2 and "node-077" in page.read_text(), text)

    # One report answers for one name.
    other = scratch / "other"
    other.mkdir()
    (other / "n1.json").write_text(json.dumps(report(1, node="n2")))
    (other / "n3.report.gz").write_bytes(gzip.compress(json.dumps(report(3, node="a.example.org")).encode()))
    (other / "n4.json").write_text(json.dumps(report(4, simulated=True)))
    (other / "n5.json").write_text(json.dumps(report(5, injected="bit")))
    (other / "n6.json").write_text(json.dumps(report(6)))
    (other / "n7.json").write_text(json.dumps(report(6)))  # the same one
    (other / "n8.json").write_text("{")
    listed.write_text("\n".join(f"n{number}" for number in range(1, 9)))
    check("neither a report under two names, nor a rehearsal, nor half of one", missing(other, "--expect-nodes", listed)[1]
          == ["n2", "n4", "n5", "n7", "n8"], missing(other, "--expect-nodes", listed))
    listed.write_text("a\nb\n")
    check("a host name up to its first dot", missing(other, "--expect-nodes", listed)[1] == ["b"])

    # Neither does an older report of one machine under another's name, nor one of a date to come.
    twice = scratch / "twice"
    twice.mkdir()
    for number in range(3):
        (twice / f"node-{number:03d}.json").write_text(json.dumps(report(number)))
    listed.write_text("node-000\nnode-001\nnode-002\nnode-003\n")
    for created in ("2026-11-29T10:00:00Z", "2099-01-01T10:00:00Z"):
        (twice / "node-003.json").write_text(json.dumps(report(1, seed=2, created=created)))
        check(f"one machine under two names, {created}", missing(twice, "--expect-nodes", listed)[1] == ["node-003"], missing(twice, "--expect-nodes", listed))
    (twice / "node-003.json").write_text(json.dumps(report(3, seed=2, node="other")))
    check("another machine answers by its file's name", missing(twice, "--expect-nodes", listed)[1] == [], missing(twice, "--expect-nodes", listed))

    # Whom one summary missed answered in another.
    listed.write_text("\n".join(names + ["node-400"]))
    for part in (0, 1):
        half = scratch / f"half{part}"
        half.mkdir()
        for number in range(part, 12, 2):
            (half / f"{number}.json").write_text(json.dumps(report(number)))
        fleet("summary", half, "--expect-nodes", listed, "--format", "json", "--output", scratch / f"half{part}.json")
    check("of two halves", missing(scratch / "half0.json", scratch / "half1.json") == (2, ["node-400"]), missing(scratch / "half0.json", scratch / "half1.json"))
    check("one half alone", len(missing(scratch / "half0.json")[1]) == 7, missing(scratch / "half0.json"))

    # What is missing stays missing in a summary of summaries, and a rejection stays one.
    listed.write_text("node-001\nnode-400\n")
    fleet("summary", folder, "--expect-nodes", listed, "--format", "json", "--output", scratch / "one.json")
    check("a summary of summaries", missing(scratch / "one.json") == (2, ["node-400"]), missing(scratch / "one.json"))
    check("said once", missing(scratch / "one.json", folder, "--expect-nodes", listed) == (2, ["node-400"]))
    (folder / "bad.json").write_text(json.dumps(failing(12)))
    check("a rejection stays one", missing(folder, "--expect-nodes", listed) == (1, ["node-400"]))


def lists(scratch):
    folder = scratch / "lists"
    folder.mkdir()
    (folder / "r.json").write_text(json.dumps(report(0)))
    os.mkfifo(scratch / "pipe")
    for name, content in (("empty", b""), ("comments", b"# none\n\n"), ("binary", b"node\0x\n"), ("long", b"x" * 600), ("escape", b"a\n\x1b[31m\n")):
        (scratch / name).write_bytes(content)
    for name in ("empty", "comments", "binary", "long", "escape", "pipe", "absent", "lists"):
        code, text = fleet("summary", folder, "--expect-nodes", scratch / name)
        check(f"no list of nodes: {name}", code == 64 and name in text and "\x1b" not in text, (code, text))
    for command in ("baseline", "compare", "serve"):
        check(f"{command} decides nothing", "  --expect-nodes" not in fleet(command, "--help")[1].split("examples:")[0])


SSH = """#!/bin/sh
# What a sick cluster answers.
while [ $# -gt 1 ]; do case $1 in -o) shift 2 ;; -*) shift ;; *) break ;; esac; done
node=$1; shift
case $node in
    node-001) cat FOLDER/good.json; exit 0 ;;
    node-002) cat FOLDER/bad.json; exit 1 ;;
    node-003) echo "ssh: connect to host $node port 22: No route to host" >&2; exit 255 ;;
    node-004) head -c 700 FOLDER/good.json; exit 255 ;;
    node-005) exit 127 ;;
    node-006) sleep 600 ;;
esac
"""


def over_ssh(scratch):
    """The loop of docs/monitoring.md, as it stands there."""
    text = (SOURCE / "docs/monitoring.md").read_text()
    found = re.search(r"^( +mkdir reports.*?)\n\n", text, re.M | re.S)
    check("docs/monitoring.md has the loop", found and "timeout -k 10 300 ssh" in text)
    if not found:
        return
    (scratch / "tools").mkdir()
    (scratch / "good.json").write_text(json.dumps(report(1)))
    (scratch / "bad.json").write_text(json.dumps(failing(2)))
    ssh = scratch / "tools/ssh"
    ssh.write_text(SSH.replace("FOLDER", str(scratch)))
    ssh.chmod(0o755)
    (scratch / "tools/gpucheck").symlink_to(GPUCHECK)
    here = scratch / "ssh"
    here.mkdir()
    (here / "hosts").write_text("".join(f"node-{number:03d}\n" for number in range(1, 7)))
    script = found.group(1).replace("timeout -k 10 300", "timeout -k 10 2")
    done = subprocess.run(["sh", "-c", script], cwd=here, capture_output=True, text=True, timeout=120,
                          env={"PATH": f"{scratch}/tools:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"})
    said = re.sub(r"\s+", " ", done.stdout)
    check("over ssh: the bad node rejects", done.returncode == 1 and "pcie.link.narrow" in said, done)
    for number in (3, 4, 5, 6):
        check(f"over ssh: node-00{number} is missing evidence", f"node-00{number}: is expected, and no report of it counts" in said, done.stdout)
    check("over ssh: who answered is not", "node-001: is expected" not in said and "node-002: is expected" not in said, done.stdout)
    (here / "hosts").write_text("node-001\nnode-003\n")
    again = subprocess.run(["sh", "-c", script], cwd=here, capture_output=True, text=True, timeout=120,
                           env={"PATH": f"{scratch}/tools:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"})
    check("over ssh: reports of another day do not count", again.returncode != 0 and not again.stdout, again)


def main():
    for part in (answers, lists, over_ssh):
        with tempfile.TemporaryDirectory() as name:
            part(Path(name))
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
