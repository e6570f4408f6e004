#!/usr/bin/env python3
"""The table of a device run: what passed, what was found, how fast, beside the vendor's own rates.

usage: table.py FOLDER; the exit status is 1 when an experiment did not run clean or an injected fault was not found.
"""
import json
import sys
from pathlib import Path

FAULTS = ("bit", "lane", "operand", "skip")


def load(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        print(f"{path.name}: {error}")
        return {}


def results(report):
    for gpu in report.get("gpus", []):
        for result in gpu.get("experiments", {}).get("results", []):
            yield gpu["bdf"], result


def clean(result):
    if not result["ran"] or result["mismatches"] != 0 or result["values_checked"] != result["values_expected"]:
        return False
    return result["units_tested"] is None or result["units_tested"] == result["units_total"]


def reason(result):
    return result.get("missing", {}).get("ran", {}).get("why", "")


def print_results(report):
    bad = 0
    for bdf, result in results(report):
        good = clean(result)
        bad += not good
        rates = ", ".join(f"{q['median']:.4g} {q['unit']}" for q in result["quantities"])
        name = f"{result['experiment']} {result['variant'] or ''} {result['peer'] or ''}"
        print(f"{'ok    ' if good else 'FAILED'} {bdf} {name:<32} {rates or reason(result)}")
    return bad


def rate(report, experiment, variant):
    found = [q["median"] for _, r in results(report) if (r["experiment"], r["variant"]) == (experiment, variant)
             for q in r["quantities"]]
    return max(found, default=None)


def best(report, variant):
    """By whichever path is faster: "bf16" is mma.sync or v_mfma, "bf16 wgmma" Hopper's own."""
    rates = [r for r in (rate(report, "matrix", variant), rate(report, "matrix", variant + " wgmma")) if r]
    return max(rates, default=None)


def print_paths(out):
    """Whether what was never seen on hardware is right on this GPU: the line to send in."""
    for path in ("mma", "wgmma"):
        found = [r for _, r in results(load(out / f"path-{path}.json"))]
        right = sum(clean(r) for r in found)
        print(f"matrix.path={path}: {right} of {len(found)} results clean")
        for result in found:
            if not clean(result):
                print(f"    {result['variant']}: {reason(result)} {json.dumps(result.get('records', [])[:2])}")


def compare(report, vendor):
    rows = [("matrix bf16 over BLAS 8192^3", best(report, "bf16"), vendor.get("bf16_tflops"), 1.0),
            ("matrix e4m3 over BLAS 8192^3", best(report, "e4m3"), vendor.get("e4m3_tflops"), 1.0),
            ("our gemm bf16 over BLAS 8192^3", rate(report, "gemm", "bf16"), vendor.get("bf16_tflops"), 0.0),
            ("our gemm e4m3 over BLAS 8192^3", rate(report, "gemm", "e4m3"), vendor.get("e4m3_tflops"), 0.0),
            ("copy over the framework's", rate(report, "memory_stream", "copy"), vendor.get("copy_gb_s"), 0.95)]
    for name, ours, theirs, wanted in rows:
        if not ours or not theirs:
            print(f"not measured: {name} (ours {ours}, theirs {theirs})")
            continue
        print(f"{'ok    ' if ours / theirs >= wanted else 'BELOW '} {name}: {ours:.1f} / {theirs:.1f} = {ours / theirs:.3f}")


def main():
    out = Path(sys.argv[1])
    bad = 0
    for name in ("boot", "long", "gemm"):
        report = load(out / f"{name}.json")
        print(f"== {name}: verdict {report.get('verdict')}, {report.get('duration_s')} s")
        count = len(list(results(report)))
        bad += print_results(report) + (count == 0)
        print(f"{count} results")
    print_paths(out)
    for fault in FAULTS:
        report = load(out / f"inject-{fault}.json")
        found = [r for _, r in results(report) if not clean(r)]
        bad += not found
        print(f"{'ok    ' if found else 'MISSED'} injected {fault}: seen by {len(found)} results")
    compare(load(out / "long.json"), load(out / "vendor.json"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
