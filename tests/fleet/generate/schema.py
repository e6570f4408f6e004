#!/usr/bin/env python3
"""What the generator writes are reports: valid, alike for one seed, and with the truth beside them.

usage: schema.py GENERATE REPORT_SCHEMA
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema

RECIPE = ["nodes=30", "days=3", "boards=h100-sxm-80gb,mi300x,h200-sxm-141gb", "drift=0.3",
          "faults=slow_memory:1,slow_matrix:1,one_gpu:1,bad_rack:2,wrong_driver:1,liar:1,lemon:1"]


def written(program, folder, *options):
    truth, labels = Path(folder, "truth"), Path(folder, "labels")
    lines = subprocess.run([program, *RECIPE, *options, f"truth={truth}", f"labels={labels}"], check=True,
                           capture_output=True, text=True).stdout
    return lines, truth.read_text(), labels.read_text()


def main():
    program, schema = sys.argv[1], json.loads(Path(sys.argv[2]).read_text())
    with tempfile.TemporaryDirectory() as folder:
        lines, truth, labels = written(program, folder)
        again, other = written(program, folder)[0], written(program, folder, "seed=2")[0]
    validator = jsonschema.Draft202012Validator(schema)
    reports = [json.loads(line) for line in lines.splitlines()]
    problems = [f"{report['host']['hostname']}: {error.message[:200]}" for report in reports
                for error in validator.iter_errors(report)]
    sizes = [len(line) for line in lines.splitlines()]
    expectations = {
        "90 reports": len(reports) == 90,
        "the same seed writes the same": lines == again,
        "another seed does not": lines != other,
        "no report id twice": len({report["report_id"] for report in reports}) == 90,
        "10 to 20 KB each": all(10_000 < size < 20_000 for size in sizes),
        "eight planted": sorted(json.loads(line)["fault"] for line in truth.splitlines()) == [
            "bad_rack", "bad_rack", "lemon", "liar", "one_gpu", "slow_matrix", "slow_memory", "wrong_driver"],
        "a rack for each node": len(labels.splitlines()) == 31,
        "what cannot be meant is refused": all(
            subprocess.run([program, option], capture_output=True).returncode == 64
            for option in ("nodes=0", "nodes=many", "faults=slow", "boards=h1", "matrix=-1", "colour=red", "nodes")),
        "a full disk is an error": subprocess.run([program, "nodes=4", "output=/dev/full"],
                                                  capture_output=True).returncode == 1,
    }
    problems += [f"not true: {what}" for what, holds in expectations.items() if not holds]
    for problem in problems[:20]:
        print(problem)
    print(f"{len(reports)} reports of {min(sizes)} to {max(sizes)} bytes, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
