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
    return json.loads((root / "checks/catalogue.json").read_text())["codes"]


def log_codes(root):
    """Codes of kernel-log events. Their rows, pages, firing lines and near-misses are held together by tests/log/*_test.cpp and
    tests/log/cases.json; here only so that their pages are known."""
    events = json.loads((root / "checks/specs/events.json").read_text())
    xids = json.loads((root / "checks/specs/xids.json").read_text())
    codes = {row["code"] for row in events["events"]}
    return codes | {row["code"] for row in xids["rows"]} | {f"xid.{row['xid']}" for row in xids["xids"] if "xid" in row}


def emitted(root):
    """Dotted literals in the checks that are neither check ids nor paths."""
    codes = {}
    for path in sorted(list((root / "checks").glob("*.cpp")) + list((root / "agent").glob("*.cpp"))):
        text = re.sub(r"//.*", "", path.read_text())
        ids = set(re.findall(r'\.id\s*=\s*"([a-z0-9_.]+)"', text)) | set(re.findall(r'\bkId\b[^=;]*=\s*"([a-z0-9_.]+)"', text))
        for literal in re.findall(r'"([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+)"', text):
            if literal in ids or literal.startswith("kernel.numa") or literal.endswith((".json", ".cpp", ".md", ".txt", ".so", ".log", ".conf", ".ko")):
                continue
            codes.setdefault(literal, path.name)
    return codes


CODE = r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+"


def tests_naming(root):
    """Codes that fire somewhere, and codes for which an exact assertion beside it expects something else.

    A near-miss of a code is an assertion, in a test file that also makes the code fire, whose expected text does not hold the code: the
    same check on an input that is one fact away.
    """
    fires, spares = set(), set()
    for path in (root / "tests").rglob("*_test.cpp"):
        text = path.read_text()
        named = set(re.findall(CODE, text))
        fires |= named
        exact = re.findall(r'EXPECT_EQ\(said\w*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\),\s*((?:"[^"]*"\s*)+)\)', text)
        others = [set(re.findall(CODE, expected)) for expected in exact]
        spares |= {code for code in named if any(code not in other for other in others)}
        if re.search(r"EXPECT_NE\(|EXPECT_FALSE\(|empty\(\)", text):
            spares |= {code for code in named if f'"{code}"' in text}
    for path in (root / "tests/machines").glob("*/expected.json"):
        for finding in json.loads(path.read_text())["findings"]:
            fires.add(finding["code"])
    for path in (root / "tests").rglob("cases.*"):
        named = set(re.findall(CODE, path.read_text()))
        fires |= named
        spares |= named  # that table's own test demands both kinds of line for every row
    for path in (root / "tests/cli").glob("*.py"):
        text = path.read_text()
        fires |= set(re.findall(CODE, text))
        spares |= set(re.findall(r'"(' + CODE + r')" not in', text))
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
        if code not in codes | log_codes(root):
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
    others = log_codes(root)
    for page in (root / "docs/codes").glob("*.md"):
        if page.stem not in codes | others and page.stem != "README":
            problems.append(f"docs/codes/{page.name}: a page without a catalogue row")
    for problem in problems:
        print(problem)
    print(f"{len(codes)} codes, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
