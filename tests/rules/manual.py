#!/usr/bin/env python3
"""The man pages, README and --help agree: every command and long option of a program is in its manual, and no other.

usage: manual.py GPUCHECK GPUCHECK_FLEET SOURCE_DIR
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


def judge(program, page, delegated):
    """What is wrong with the manual; the program's commands and options. What is delegated has a manual of its own."""
    top = help_of(program)
    commands = commands_in(top)
    options = set(re.findall(r"--[a-z][a-z-]+", top.split("examples:")[0]))
    for command in commands:
        if command in delegated:
            continue
        texts = [help_of(program, command)]
        texts += [help_of(program, command, verb) for verb in commands_in(texts[0])]
        for text in texts:
            options |= set(re.findall(r"--[a-z][a-z-]+", text.split("examples:")[0]))
    manual = page.read_text().replace("\\-", "-")
    name = page.name
    problems = [f"{name} lacks {o}" for o in sorted(options) if not re.search(re.escape(o) + r"(?![a-z-])", manual)]
    problems += [f"{name} lacks the command {c}" for c in commands if not re.search(rf"\b{c}\b", manual)]
    problems += [f"{name} has {o}, the program does not" for o in sorted(set(re.findall(r"--[a-z][a-z-]+", manual)) - options)]
    lint = subprocess.run(["man", "--warnings", "-l", str(page)], capture_output=True, text=True,
                          env={"MANPAGER": "cat", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}) if Path("/usr/bin/man").exists() else None
    if lint and lint.stderr.strip():
        problems.append(f"{name}: " + lint.stderr.strip().splitlines()[0])
    return problems, commands, options


def main():
    gpucheck, fleet, root = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    problems, commands, options = judge(gpucheck, root / "docs/gpucheck.1", {"fleet"})
    more, fleet_commands, fleet_options = judge(fleet, root / "docs/gpucheck-fleet.1", set())
    problems += more
    options |= fleet_options
    if help_of(gpucheck, "fleet") != help_of(fleet):
        problems.append("gpucheck fleet --help is not that of gpucheck-fleet")
    readme = (root / "README.md").read_text()
    problems += [f"README names {o}, the program does not" for o in sorted(set(re.findall(r"gpucheck[^\n`]*?(--[a-z][a-z-]+)", readme)) - options)]
    for problem in problems:
        print(problem)
    print(f"{len(commands)} + {len(fleet_commands)} commands, {len(options)} options, {len(problems)} problems")
    return 1 if problems or len(commands) < 5 or len(fleet_commands) < 3 else 0


if __name__ == "__main__":
    sys.exit(main())
