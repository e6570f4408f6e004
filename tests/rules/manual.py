#!/usr/bin/env python3
"""The man page, README and --help agree: every command and long option of the program is in the manual, and no other.

usage: manual.py GPUCHECK SOURCE_DIR
"""
import re
import subprocess
import sys
from pathlib import Path


def help_of(gpucheck, *command):
    return subprocess.run([gpucheck, *command, "--help"], capture_output=True, text=True, check=True).stdout


def commands_in(text):
    if "Subcommands:" not in text:
        return []
    return re.findall(r"^  ([a-z]+) ", text.split("Subcommands:")[1].split("\n\n")[0], re.M)


def main():
    gpucheck, root = sys.argv[1], Path(sys.argv[2])
    top = help_of(gpucheck)
    commands = commands_in(top)
    options = set(re.findall(r"--[a-z][a-z-]+", top.split("examples:")[0]))
    for command in commands:
        texts = [help_of(gpucheck, command)]
        texts += [help_of(gpucheck, command, verb) for verb in commands_in(texts[0])]
        for text in texts:
            options |= set(re.findall(r"--[a-z][a-z-]+", text.split("examples:")[0]))
    manual = (root / "docs/gpucheck.1").read_text().replace("\\-", "-")
    problems = [f"man page lacks {o}" for o in sorted(options) if not re.search(re.escape(o) + r"(?![a-z-])", manual)]
    problems += [f"man page lacks the command {c}" for c in commands if not re.search(rf"\b{c}\b", manual)]
    problems += [f"man page has {o}, the program does not" for o in sorted(set(re.findall(r"--[a-z][a-z-]+", manual)) - options)]
    readme = (root / "README.md").read_text()
    problems += [f"README names {o}, the program does not" for o in sorted(set(re.findall(r"gpucheck[^\n`]*?(--[a-z][a-z-]+)", readme)) - options)]
    lint = subprocess.run(["man", "--warnings", "-l", str(root / "docs/gpucheck.1")], capture_output=True, text=True,
                          env={"MANPAGER": "cat", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}) if Path("/usr/bin/man").exists() else None
    if lint and lint.stderr.strip():
        problems.append("man page: " + lint.stderr.strip().splitlines()[0])
    for problem in problems:
        print(problem)
    print(f"{len(commands)} commands, {len(options)} options, {len(problems)} problems")
    return 1 if problems or len(commands) < 5 else 0


if __name__ == "__main__":
    sys.exit(main())
