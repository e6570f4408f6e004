#!/usr/bin/env python3
"""Who may include whom (docs/architecture.md): greps every #include of our own folders.

usage: includes.py SOURCE_DIR
"""
import re
import sys
from pathlib import Path

# Folder -> what its files may include of ours. The longest matching folder counts.
ALLOWED = {
    "checks/model": ["checks/model"],
    "checks/json": ["checks/model", "checks/json"],
    "checks/specs": ["checks/model", "checks/json", "checks/specs"],
    "checks": ["checks/model", "checks/"],          # the checks themselves: model, all.h, shared wording
    "agent/host": ["checks/model", "checks/json", "agent/host"],
    "agent/host/kernel_log": ["checks/model", "checks/json", "checks/specs", "agent/unpack", "agent/host"],
    "agent/unpack": ["agent/unpack"],
    "agent/supervise": ["agent/supervise", "agent/child"],
    "agent/child": ["agent/child", "checks/json/utf8.h"],
    "agent/vendor": ["checks/model", "checks/json", "agent/host/sysroot.h", "agent/host/recorded.h", "agent/child",
                     "agent/vendor"],
    "agent/capture": ["checks/model", "checks/json", "agent/host", "agent/capture"],
    "agent/report": ["checks/model", "checks/json", "checks/specs", "agent/report"],
    "agent/cli": ["checks/model", "agent/cli", "agent/report", "agent/version.h"],
    "agent": ["checks/", "agent/", "providers/", "kernels/", "fleet/"],
    "providers": ["checks/model", "checks/json", "checks/specs", "providers"],
    "providers/http": ["checks/json", "providers/opened_library.h", "providers/http"],
    "providers/disk": ["providers/disk"],
    "providers/sign": ["checks/json", "checks/specs/data_file.h", "providers/disk", "providers/opened_library.h", "providers/sign"],
    "providers/crypto": ["providers/sign/crypto_library.h", "providers/crypto"],
    "providers/delivery": ["checks/model", "checks/json", "providers/crypto", "providers/disk", "providers/http",
                           "providers/identity", "providers/delivery"],
    "providers/identity": ["checks/model", "checks/json", "providers/http", "providers/identity"],
    "providers/render": ["checks/model", "checks/json", "checks/specs", "providers/http", "providers/render"],
    "providers/send": ["checks/model", "providers/crypto", "providers/http", "providers/identity", "providers/render",
                       "providers/send"],
    "kernels": ["checks/model", "checks/json", "agent/vendor/library.h", "agent/child", "kernels"],
    "checks/cost": ["checks/model", "checks/cost"],
    "checks/cost/data": ["checks/model", "checks/json", "checks/specs", "checks/cost"],
    "fleet/page": ["checks/model", "checks/specs/catalogue.h", "agent/report", "fleet/model", "fleet/page"],
    "fleet/read": ["checks/model", "checks/specs/boards.h", "agent/report", "agent/unpack", "providers/sign", "providers/disk", "fleet/model", "fleet/read"],
    "fleet/show": ["checks/model", "agent/report", "fleet/model", "fleet/analysis/files.h", "fleet/read/splitter.h", "fleet/show"],
    "fleet/cli": ["checks/model", "agent/report", "agent/version.h", "providers/disk", "fleet/model", "fleet/analysis/files.h", "fleet/analysis/learning.h", "fleet/analysis/selection.h",
                  "fleet/collect/serve.h",
                  "fleet/page/page.h", "fleet/show", "fleet/cli"],
    "fleet": ["checks/model", "checks/json", "checks/specs", "agent/report", "agent/version.h", "providers/sign", "providers/disk",
              "providers/crypto", "providers/delivery/gzip.h", "fleet"],
}
# The checks are pure functions from facts to findings: nothing that could look at the machine.
STANDARD_ONLY = {"checks", "checks/model", "checks/cost"}
# cstdio stays for snprintf.
IMPURE = re.compile(r"^(fstream|iostream|filesystem|cstdlib|chrono|ctime|thread|mutex|random|future|.*\.h)$")
PURE_EXCEPTIONS = {("checks/model/fact.h", "cstdlib")}  # abort


def rule_of(path):
    folders = [f for f in ALLOWED if path.startswith(f + "/")]
    return max(folders, key=len) if folders else None


def main():
    root = Path(sys.argv[1])
    problems, files = [], 0
    for path in sorted(root.glob("*/**/*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in (".cpp", ".h") or name.startswith(("build", "tests/")):
            continue
        rule = rule_of(name)
        if rule is None:
            problems.append(f"{name}: no rule for its folder")
            continue
        files += 1
        pure = rule in STANDARD_ONLY
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
            if not match:
                continue
            kind, target = match.groups()
            if kind == '"':
                if target.startswith("agent/main") or target.endswith(".cpp"):
                    problems.append(f"{name}:{number}: nothing includes {target}")
                elif not any(target == a or target.startswith(a.rstrip("/") + "/") for a in ALLOWED[rule]):
                    problems.append(f"{name}:{number}: {rule} may not include {target}")
                elif rule == "checks" and target.startswith(("checks/specs", "checks/json")):
                    problems.append(f"{name}:{number}: a check may not include {target}")
            elif pure and IMPURE.match(target) and (name, target) not in PURE_EXCEPTIONS:
                problems.append(f"{name}:{number}: a check is a pure function; <{target}> is not")
        for folder in ("util", "common", "misc", "helpers"):
            if f"/{folder}/" in f"/{name}":
                problems.append(f"{name}: there is no {folder}/ here; give it a place with a name")
    for problem in problems:
        print(problem)
    print(f"{files} files, {len(problems)} problems")
    return 1 if problems or files < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
