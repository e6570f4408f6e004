#!/usr/bin/env python3
"""The table of a device run: what passed, what was found, how fast, beside the vendor's own rates.

usage: table.py FOLDER [SUMMARY]; prints the table and writes the same as JSON to SUMMARY. The exit status is 1 when an experiment
did not run clean or an injected fault was not found: a speed below the vendor's is told and fails nothing.
"""
import json
import sys
from pathlib import Path

PATHS = ("mma", "wgmma")  # wgmma has no results on other GPUs than Hopper, which fails nothing
FAULTS = ("bit", "lane", "operand", "skip")
BOOT_SECONDS = 45  # of the boot profile, as wanted


def load(path):
    """The report, and why there is none."""
    try:
        report = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        return {}, f"{path.name}: {error}"
    return (report, "") if isinstance(report, dict) else ({}, f"{path.name}: no JSON object")


def results(report):
    for gpu in report.get("gpus") or []:
        for result in (gpu.get("experiments") or {}).get("results") or []:
            yield gpu["bdf"], result


def clean(result):
    if not result["ran"] or result["mismatches"] != 0 or result["values_checked"] != result["values_expected"]:
        return False
    return result["units_tested"] is None or result["units_tested"] == result["units_total"]


def reason(result):
    why = result.get("missing", {}).get("ran", {}).get("why", "")
    if why or clean(result):
        return why
    return f"{result['mismatches']} wrong, {result['values_checked']} of {result['values_expected']} values, " \
           f"{result['units_tested']} of {result['units_total']} units"


def row_of(bdf, result):
    return {"gpu": bdf, "experiment": result["experiment"], "variant": result["variant"] or "", "peer": result["peer"] or "",
            "clean": clean(result), "timed": result["timed"] is True, "why": reason(result),
            "rates": [{"median": q["median"], "unit": q["unit"]} for q in result["quantities"]]}


def run_of(name, report, why):
    rows = [row_of(bdf, result) for bdf, result in results(report)]
    return {"name": name, "verdict": report.get("verdict"), "duration_s": report.get("duration_s"), "why": why, "results": rows,
            "clean": bool(rows) and all(row["clean"] for row in rows)}


def injection_of(fault, report, why):
    seen = [f"{r['experiment']} {r['variant'] or ''}".strip() for _, r in results(report) if r["ran"] and not clean(r)]
    said = report.get("injected") not in (None, "", False)
    return {"fault": fault, "found": bool(seen) and said, "seen_by": seen, "report_says_injected": said, "why": why}


def rate(runs, experiment, variant):
    """By whichever path is faster: "bf16" is mma.sync or v_mfma, "bf16 wgmma" Hopper's own."""
    variants = (variant, variant + " wgmma")
    found = [q["median"] for run in runs for row in run["results"] if row["experiment"] == experiment
             and row["variant"] in variants and row["timed"] for q in row["rates"]]
    return max(found, default=None)


def comparison_of(runs, vendor):
    rows = []
    for name, experiment, variant, key, wanted in (
            ("matrix bf16 over BLAS 8192^3", "matrix", "bf16", "bf16_tflops", 1.0),
            ("matrix e4m3 over BLAS 8192^3", "matrix", "e4m3", "e4m3_tflops", 1.0),
            ("our gemm bf16 over BLAS 8192^3", "gemm", "bf16", "bf16_tflops", 0.0),
            ("our gemm e4m3 over BLAS 8192^3", "gemm", "e4m3", "e4m3_tflops", 0.0),
            ("memory copy over the framework's", "memory_stream", "copy", "copy_gb_s", 0.95)):
        ours, theirs = rate(runs, experiment, variant), vendor.get(key)
        ratio = ours / theirs if ours and theirs else None
        rows.append({"name": name, "ours": ours, "theirs": theirs, "ratio": ratio, "wanted": wanted})
    return rows


def print_table(summary):
    for run in summary["runs"]:
        print(f"== {run['name']}: verdict {run['verdict']}, {run['duration_s']} s, {len(run['results'])} results {run['why']}")
        for row in run["results"]:
            rates = ", ".join(f"{q['median']:.4g} {q['unit']}" for q in row["rates"])
            name = f"{row['experiment']} {row['variant']} {row['peer']}"
            untimed = "" if row["timed"] or not rates else " (no measurement: untimed)"
            print(f"{'ok    ' if row['clean'] else 'FAILED'} {row['gpu']} {name:<32} {rates}{untimed} {row['why']}".rstrip())
    for run in summary["paths"]:
        right = sum(row["clean"] for row in run["results"])
        print(f"== matrix.path={run['name'][5:]}: {right} of {len(run['results'])} results clean {run['why']}".rstrip())
        for row in run["results"]:
            if not row["clean"]:
                print(f"FAILED {row['gpu']} {row['variant']} {row['why']}")
    print("== injected faults")
    for row in summary["injected"]:
        print(f"{'ok    ' if row['found'] else 'MISSED'} {row['fault']:<8} seen by {', '.join(row['seen_by']) or 'none'} {row['why']}".rstrip())
    print(f"== beside {summary['vendor'].get('library', 'nothing: ' + summary['vendor'].get('absent', 'vendor.json says nothing'))}")
    for row in summary["comparison"]:
        if row["ratio"] is None:
            print(f"not measured: {row['name']} (ours {row['ours']}, theirs {row['theirs']})")
        else:
            word = "ok    " if row["ratio"] >= row["wanted"] else "BELOW "
            print(f"{word} {row['name']}: {row['ours']:.1f} / {row['theirs']:.1f} = {row['ratio']:.3f}")
    boot = summary["runs"][0]["duration_s"]
    print("not measured: boot profile" if boot is None else
          f"{'ok    ' if boot <= BOOT_SECONDS else 'ABOVE '} boot profile: {boot:.1f} s of {BOOT_SECONDS} s")


def main():
    out = Path(sys.argv[1])
    runs = [run_of(name, *load(out / f"{name}.json")) for name in ("boot", "long")]
    vendor, why = load(out / "vendor.json")
    paths = [run_of(f"path-{path}", *load(out / f"path-{path}.json")) for path in PATHS]
    summary = {"runs": runs, "paths": paths, "injected": [injection_of(f, *load(out / f"inject-{f}.json")) for f in FAULTS],
               "vendor": vendor or {"absent": why}, "comparison": comparison_of(runs, vendor)}
    summary["good"] = all(run["clean"] for run in runs) and all(row["found"] for row in summary["injected"])
    print_table(summary)
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(json.dumps(summary, indent=1) + "\n")
    return 0 if summary["good"] else 1


if __name__ == "__main__":
    sys.exit(main())
