#!/usr/bin/env python3
"""The policies and baselines that docs/fleet-policy.md shows are valid under their schemas, and those schemas are schemas.

usage: schema.py SOURCE_DIR
"""
import json
import re
import sys
from pathlib import Path

import jsonschema

REFUSED = [{"decision": "reject"}, {"metric": "memory_*"}, {"ratio_below": 0.9}, {"metric": "*", "ratio_below": 1.5},
           {"metric": "*", "z_below": 6}, {"codes": ["xid*"]}, {"codes": []}, {"when": "x < 3"}, {"metric": "*", "missing_metric": False},
           {"decision": "accept", "metric": "*", "ratio_below": 0.9}, {"metric": "a*b", "ratio_below": 0.9},
           {"verdicts": ["bad"]}, {"missing_metric": True}, {"metric": "*", "missing_metric": True, "z_below": -5}]


def main():
    docs = Path(sys.argv[1], "docs")
    schemas = {name: json.loads((docs / f"fleet-{name}.schema.json").read_text()) for name in ("policy", "baseline")}
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    policies, baselines, problems = 0, 0, []
    for block in re.findall(r"```json\n(.*?)```", (docs / "fleet-policy.md").read_text(), re.S):
        document = json.loads(block)
        kind = "policy" if "rules" in document else "baseline"
        policies += kind == "policy"
        baselines += kind == "baseline"
        problems += [error.message for error in jsonschema.Draft202012Validator(schemas[kind]).iter_errors(document)]
    check = jsonschema.Draft202012Validator(schemas["policy"])
    for rule in REFUSED:
        document = {"schema_version": 1, "name": "x", "rules": [{"name": "r", "decision": "reject", **rule}]}
        if check.is_valid(document):
            problems.append(f"the schema takes {rule}")
    for problem in problems:
        print(problem)
    print(f"{policies} policies, {baselines} baselines, {len(problems)} problems")
    return 1 if problems or policies < 2 or baselines < 1 else 0


if __name__ == "__main__":
    sys.exit(main())
