#!/usr/bin/env python3
"""Completions of `gpucheck fleet` in each shell that is here: its commands, each command's options, what an option takes.

usage: completion.py GPUCHECK SOURCE_DIR
An option that the completion does not know is one that nobody finds; one that is gone ends a script with status 64.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

GPUCHECK, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
MANUAL = (SOURCE / "docs/gpucheck-fleet.1").read_text().replace("\\-", "-")
COMMANDS = {"summary", "baseline", "compare", "html", "serve"}
problems = []

BASH = """source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpucheck; printf '%s\\n' "${COMPREPLY[@]}"
"""
# Its own functions are stood in for: outside of a line editor they may not be called.
ZSH = """compdef() { : }
compadd() { [[ $1 == -- ]] && shift; print -l -- "$@" }
_files() { print -- "(files)" }
source "$1"; shift
words=("$@"); CURRENT=$#; PREFIX=${words[-1]}; _gpucheck
"""
FISH = """source $argv[1]
complete -C (string join ' ' -- $argv[2..-1])
"""


def check(what, fine, more=""):
    if not fine:
        problems.append(what)
        print(f"PROBLEM {what}: {more}")


class Shell:
    def __init__(self, name, program, folder):
        self.name, self.program, self.folder = name, program, folder
        self.script = folder / f"gpucheck.{name}"
        self.script.write_text(subprocess.run([GPUCHECK, "completion", name], capture_output=True, text=True, check=True).stdout)

    def offers(self, *typed):
        """What it offers for the last word."""
        environment = {"PATH": f"{self.folder}/tools:{os.environ['PATH']}", "HOME": str(self.folder), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        quiet = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[self.name]
        plain = {"fish": []}.get(self.name, [self.name])
        done = subprocess.run([self.name, *quiet, "-c", self.program, *plain, self.script, "gpucheck", *typed], capture_output=True, text=True,
                              timeout=60, env=environment, cwd=self.folder / "here", stdin=subprocess.DEVNULL)
        check(f"{self.name}: {typed}: nothing is said", not done.stderr, done.stderr)
        words = {line.split("\t")[0] for line in done.stdout.splitlines()}
        return {word for word in words if word.startswith(typed[-1])} | (words & {"(files)"})


def options_of(command):
    told = subprocess.run([GPUCHECK, "fleet", command, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"(?<![\w-])--[a-z-]+", told.split("Options:")[1].split("examples:")[0])) - {"--help"}


def completes(shell):
    def check_offers(wanted, *typed, files=False):
        offered = shell.offers(*typed)
        check(f"{shell.name}: gpucheck {' '.join(typed)}_ offers {sorted(wanted)}", wanted <= offered, sorted(offered))
        check(f"{shell.name}: gpucheck {' '.join(typed)}_ files", not files or {"(files)", "report.json"} & offered, sorted(offered))
        return offered
    check_offers({"fleet"}, "fl")
    check("fleet alone offers its commands", COMMANDS == {word for word in check_offers(COMMANDS, "fleet", "") if word[:1].isalpha()}
          - {"report.json"}, shell.offers("fleet", ""))
    check_offers({"serve"}, "fleet", "se")
    manual = set(re.findall(r"^\.BI? (--[a-z-]+)", MANUAL.split(".SH OPTIONS")[1].split(".SH EXIT")[0], re.M)) - {"--help", "--version"}
    seen = set()
    for command in sorted(COMMANDS):
        offered = {word for word in shell.offers("fleet", command, "--") if word.startswith("--")} - {"--help"}
        # Names inside of a description are of the same command, or the description would be wrong.
        check(f"{shell.name}: {command} has no other option than it takes", offered <= options_of(command), offered - options_of(command))
        seen |= offered
    check(f"{shell.name}: options are those of the manual", seen == manual, seen ^ manual)
    check(f"{shell.name}: no option of another command", "--listen" not in shell.offers("fleet", "summary", "--"))
    check_offers({"--policy"}, "fleet", "summary", "report.json", "--pol")
    check_offers({"json", "jsonl", "text"}, "fleet", "summary", "--format", "")
    check(f"{shell.name}: what --format of compare takes", "jsonl" not in check_offers({"json"}, "fleet", "compare", "--format", ""))
    check_offers(set(), "fleet", "summary", "--policy", "", files=True)
    check_offers(set(), "fleet", "summary", "rep", files=True)
    # The other commands, also one that stands behind another option.
    check_offers({"--no-deliver"}, "run", "--no-d")
    check_offers({"--topology"}, "list", "--top")
    for hostile in ("$(touch mark)", "`touch mark`", "'", '"', "a b", "--x\\|y", "--[", "-"):
        shell.offers("fleet", hostile, "")
        shell.offers("fleet", "summary", hostile, "")
        shell.offers("fleet", hostile)
    check(f"{shell.name}: nothing that was typed is executed", not list(shell.folder.rglob("mark")))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tools").mkdir()
        (folder / "here").mkdir()
        (folder / "here/report.json").write_text("{}")
        (folder / "tools/gpucheck").symlink_to(GPUCHECK)
        for shell, program in (("bash", BASH), ("zsh", ZSH), ("fish", FISH)):
            if shutil.which(shell):
                completes(Shell(shell, program, folder))
            else:
                print(f"skipped: no {shell}")
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
