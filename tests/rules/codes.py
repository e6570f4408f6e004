#!/usr/bin/env python3
"""Every finding code has a catalogue row, a docs page, an input on which it fires, and a near-miss on which it must not.

usage: codes.py SOURCE_DIR

Codes are read from where they are emitted: the string literals of checks/*.cpp and agent/*.cpp that stand in a finding, and the
event catalogue. A firing input is a recorded machine whose expected.json names the code, or a test that does; the near-miss
is an assertion, in a test that names the code, that nothing is said ('""' or EXPECT_FALSE/SPARES), or a healthy machine.
"""
import json
import re
import sys
from pathlib import Path

FIELDS = ("code", "title", "severity", "scope", "action", "cause", "remedy")


def rows_of(root):
    rows = json.loads((root / "checks/catalogue.json").read_text())["codes"]
    return rows


def emitted(root):
    """Dotted literals in the checks that are neither check ids nor paths."""
    codes = {}
    for path in sorted(list((root / "checks").glob("*.cpp")) + list((root / "agent").glob("*.cpp"))):
        text = re.sub(r"//.*", "", path.read_text())
        ids = set(re.findall(r'\.id\s*=\s*"([a-z0-9_.]+)"', text))
        for literal in re.findall(r'"([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+)"', text):
            if literal in ids or literal.endswith((".json", ".cpp", ".md", ".txt", ".so", ".log", ".conf", ".ko")):
                continue
            codes.setdefault(literal, path.name)
    return codes


def tests_naming(root):
    """code -> (fires somewhere, near-miss somewhere) from the bodies of C++ tests and from expected.json."""
    fires, spares = set(), set()
    bodies = []
    for path in (root / "tests").rglob("*_test.cpp"):
        bodies += re.split(r"\nTEST(?:_F|_P)?\(", path.read_text())[1:]
    for body in bodies:
        named = set(re.findall(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+", body))
        fires |= named
        if re.search(r',\s*""\s*\)|EXPECT_FALSE|IsEmpty|EXPECT_NE|SPARES|empty\(\)|HasSubstr|near', body):
            spares |= named
    for path in (root / "tests/machines").glob("*/expected.json"):
        for finding in json.loads(path.read_text())["findings"]:
            fires.add(finding["code"])
    for path in (root / "tests").rglob("cases.*"):
        named = set(re.findall(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+", path.read_text()))
        fires |= named
        spares |= named  # that table's own test demands both kinds of line for every row
    for path in (root / "tests").rglob("*.py"):
        if path.parent.name != "rules":
            fires |= set(re.findall(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+", path.read_text()))
    return fires, spares


def main():
    root = Path(sys.argv[1])
    rows = rows_of(root)
    codes = {row["code"] for row in rows}
    problems = []
    if len(codes) != len(rows):
        problems.append("a code has two rows")
    for row in rows:
        for field in FIELDS:
            if not str(row.get(field, "")).strip():
                problems.append(f"{row.get('code')}: catalogue row without {field}")
        if row["severity"] in ("fail", "warn") and (len(row["cause"]) < 40 or len(row["remedy"]) < 20):
            problems.append(f"{row['code']}: cause or remedy says too little")
    for code, where in sorted(emitted(root).items()):
        if code not in codes:
            problems.append(f"{code}: emitted by {where}, no catalogue row")
    fires, spares = tests_naming(root)
    for code in sorted(codes):
        page = root / "docs/codes" / f"{code}.md"
        if not page.exists():
            problems.append(f"{code}: no docs/codes/{code}.md")
        elif len(page.read_text()) < 300:
            problems.append(f"{code}: its page says too little")
        if code not in fires:
            problems.append(f"{code}: no machine and no test on which it fires")
        elif code not in spares:
            problems.append(f"{code}: no near-miss in a test that names it")
    for page in (root / "docs/codes").glob("*.md"):
        if page.stem not in codes and page.stem != "README":
            problems.append(f"docs/codes/{page.name}: a page without a catalogue row")
    for problem in problems:
        print(problem)
    print(f"{len(codes)} codes, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
