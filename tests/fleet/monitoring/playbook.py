#!/usr/bin/env python3
"""The Ansible playbook over nodes of this machine: every report comes, and a node that cannot be reached is named.

usage: playbook.py GPUCHECK SOURCE_DIR
Skipped (77) without ansible-playbook.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
GPUCHECK, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
PLAYBOOK = SOURCE / "fleet/ansible/gpucheck.yml"
problems = []


def check(what, fine, more=""):
    if not fine:
        problems.append(what)
        print(f"PROBLEM {what}: {more}")


def play(folder, nodes, *more):
    inventory = folder / "inventory"
    inventory.write_text("[gpu]\n" + "\n".join(nodes) + "\n")
    environment = {"PATH": f"{folder}/tools:{os.environ['PATH']}", "HOME": str(folder), "LC_ALL": "C.UTF-8", "ANSIBLE_NOCOLOR": "1",
                   "ANSIBLE_LOCAL_TEMP": str(folder / "tmp"), "ANSIBLE_REMOTE_TEMP": str(folder / "tmp")}
    done = subprocess.run(["ansible-playbook", "-i", inventory, PLAYBOOK, "-e", "ansible_become=false", "-e", "gpucheck_profile=quick", *more],
                          capture_output=True, text=True, timeout=240, env=environment, cwd=folder)
    return done.returncode, done.stdout + done.stderr


def main():
    if not shutil.which("ansible-playbook"):
        print("skipped: no ansible-playbook (package ansible-core)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tools").mkdir()
        tool = folder / "tools/gpucheck"
        # `fleet summary` of a stand-in: how the playbook takes its answer is what is tested here.
        tool.write_text(f"""#!/bin/sh
case $1 in
    run) exec {GPUCHECK} "$@" --machine {SOURCE}/tests/machines/h100-x8-healthy ;;
    fleet) [ "$4" = --expect-nodes ] && sort "$5" >{folder}/expected
        echo "decided over $(ls "$3" | wc -l)"; exit "$(cat {folder}/decision)" ;;
esac
""")
        tool.chmod(0o755)
        local = f"ansible_connection=local ansible_python_interpreter={sys.executable}"
        (folder / "decision").write_text("0")
        code, said = play(folder, [f"n1 {local}", f"n2 {local}"], "-e", f"gpucheck_reports={folder}/one")
        check("two nodes", code == 0 and "decided over 2" in said, said)
        check("reports", sorted(path.name for path in (folder / "one").glob("[!.]*")) == ["n1.json", "n2.json"])
        code, said = play(folder, [f"n1 {local}"], "-e", f"gpucheck_reports={folder}/one")
        check("reports of another day do not count", code != 0 and "is there already" in said, said)
        lost = "n3 ansible_host=127.0.0.1 ansible_port=1 ansible_ssh_common_args='-o ConnectTimeout=3 -o BatchMode=yes'"
        code, said = play(folder, [f"n1 {local}", lost], "-e", f"gpucheck_reports={folder}/two")
        check("the decision knows who must have answered", (folder / "expected").read_text() == "n1\nn3\n", (folder / "expected").read_text())
        check("an unreachable node is named", code != 0 and "no report from n3" in said, said)
        (folder / "decision").write_text("1")
        code, said = play(folder, [f"n1 {local}"], "-e", f"gpucheck_reports={folder}/three")
        check("a rejection ends the play", code != 0 and "ended with 1" in said, said)
    if shutil.which("ansible-lint"):
        done = subprocess.run(["ansible-lint", "--offline", "-q", "--profile", "production", PLAYBOOK], capture_output=True, text=True, timeout=240)
        check("ansible-lint", done.returncode == 0, done.stdout + done.stderr)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
