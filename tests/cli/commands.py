#!/usr/bin/env python3
"""What each command promises, through the real binary.

usage: commands.py GPUCHECK MACHINES
"""
import json
import os
import subprocess
import sys
import tempfile
import xml.dom.minidom
from pathlib import Path

GPUCHECK, MACHINES = sys.argv[1], Path(sys.argv[2])
PROBLEMS = []
ENV = {"PATH": "/usr/bin:/bin"} | {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}


def run(*args):
    done = subprocess.run([GPUCHECK, *map(str, args)], capture_output=True, timeout=30, env=ENV)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def expect(name, ok, detail=""):
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else f": {detail}"))
    if not ok:
        PROBLEMS.append(name)


def main():
    code, out, _ = run("--machine", MACHINES / "no-gpu-vm")
    looked = [line for line in out.splitlines() if "PCI function" in line]
    expect("no GPU: unknown, status 2", code == 2 and "UNKNOWN" in out.upper(), f"{code} {out}")
    expect("no GPU: says what was looked at", len(looked) >= 1, out)
    code, out, _ = run("--machine", MACHINES / "no-gpu-vm", "--expect", "gpu_count=8")
    expect("no GPU, eight expected: fail, status 1", code == 1 and "gpu.count.missing" in out, f"{code} {out}")
    code, out, _ = run("--machine", MACHINES / "no-gpu-vm", "--expect", "gpu_count=0")
    expect("no GPU, none expected: pass", code == 0, f"{code} {out}")

    code, out, _ = run("--machine", MACHINES / "mi300x-vf-healthy", "--expect", "gpu_count=1")
    expect("healthy: pass, status 0", code == 0 and "PASS" in out.upper(), f"{code} {out}")
    expect("healthy: not checked is listed", "not checked" in out.lower(), out)
    expect("no colours into a pipe", "\x1b" not in out)
    code, out, _ = run("--machine", MACHINES / "mi300x-vf-healthy", "--expect", "gpu_count=1", "--profile", "boot")
    expect("boot cannot pass without telemetry", code == 2, f"{code} {out}")
    same = run("run", "--machine", MACHINES / "h100-x8-one-missing", "--expect", "gpu_count=8")
    bare = run("--machine", MACHINES / "h100-x8-one-missing", "--expect", "gpu_count=8")
    expect("run is the default", same[0] == bare[0] == 1)

    faulty = ("--machine", MACHINES / "h100-x8-one-missing", "--expect", "gpu_count=8")
    report = json.loads(run(*faulty, "--format", "json")[1])
    expect("json: verdict and finding", report["verdict"] == "fail" and report["findings"][0]["code"] == "gpu.count.missing", report["findings"])
    expect("json: simulated", report["simulated"] is True)
    expect("json: every check is there", len(report["checks"]) >= 20 and all("verdict" in c for c in report["checks"]))
    expect("json: host-scope remedy", report["findings"][0]["scope"] == "host" and len(report["findings"][0]["remedy"]) > 20)
    document = xml.dom.minidom.parseString(run(*faulty, "--format", "junit")[1])
    expect("junit: a failure", len(document.getElementsByTagName("failure")) >= 1)
    prometheus = run(*faulty, "--format", "prometheus")[1]
    expect("prometheus: the finding", 'gpucheck_finding{' in prometheus and "gpu.count.missing" in prometheus, prometheus[:500])
    code, out, _ = run(*faulty, "--format", "nagios", "--exit-map", "nagios")
    expect("nagios: one CRITICAL line, status 2", code == 2 and "CRITICAL" in out and out.count("\n") == 1, f"{code} {out}")
    code, out, _ = run("--machine", MACHINES / "no-gpu-vm", "--exit-map", "nagios")
    expect("nagios: unknown is 3", code == 3)
    code, out, _ = run(*faulty, "--format", "html")
    expect("html: one page without outside references", "<html" in out and "http://" not in out.replace("http://www.w3.org", ""), out[:200])

    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "report.json"
        code, out, _ = run(*faulty, "--output", file)
        expect("output: JSON beside the text", json.loads(file.read_text())["verdict"] == "fail" and "gpu.count.missing" in out)
        expect("output: nothing else is left in the folder", os.listdir(scratch) == ["report.json"], os.listdir(scratch))
        code, out, _ = run(*faulty, "--format", "junit", "--output", file)
        expect("output: --format's alone", out == "" and file.read_text().lstrip().startswith("<?xml"), out)

        folder = Path(scratch) / "bug"
        code, out, err = run("capture", "--machine", MACHINES / "mi300x-vf-healthy", folder)
        expect("capture: writes a machine", code == 0 and (folder / "captured.txt").exists() and (folder / "sysroot").is_dir(), f"{code} {err}")
        code, _, _ = run("--machine", folder, "--expect", "gpu_count=1")
        expect("capture: judged like the original", code == 0, code)
        live = Path(scratch) / "live"
        code, _, err = run("capture", live)
        expect("capture: this machine", code == 0 and (live / "nodes.json").exists(), f"{code} {err}")
        here, there = json.loads(run("--format", "json")[1]), json.loads(run("--machine", live, "--format", "json")[1])
        expect("capture of this machine is judged like it", here["verdict"] == there["verdict"], f"{here['verdict']} {there['verdict']}")

    promise = ("--machine", MACHINES / "mi300x-vf-healthy", "--provider", "digitalocean", "--instance-type", "gpu-mi300x1-192gb")
    code, out, _ = run(*promise)
    expect("instance type: what it promises is expected", code == 0 and "expect.conflict" not in out and "1 of 1" in out, out)
    code, out, _ = run(*promise, "--expect", "gpu_count=2")
    expect("instance type: a given expectation wins, the conflict is told", code == 1 and "expect.conflict" in out, out)
    code, out, _ = run("--machine", MACHINES / "cloud-aws-called-gcp", "--provider", "gcp")
    expect("provider: one that the machine contradicts is told", "instance.conflict" in out, out)
    code, out, _ = run("--machine", MACHINES / "h100-x8-one-missing", "--provider", "aws", "--instance-type", "P5.48xlarge")
    expect("instance type: one that nobody knows is no promise kept", code == 2 and "instance.type.unknown" in out, f"{code} {out}")
    code, out, _ = run("--machine", MACHINES / "h100-x8-one-missing", "--provider", "aws", "--instance-type", "p5.48xlarge")
    expect("instance type: one GPU of it is missing", code == 1 and "gpu.count.missing" in out, f"{code} {out}")
    expect("instance type: it is known", "instance.type.unknown" not in out, out)
    expect("options: an unset variable is no receiver", run("--report-to", "")[0] == 64 and run("--config", "")[0] == 64)
    expect("options: no budget of nan", run("--budget", "nan")[0] == 64)
    expect("options: no seed below 0", run("--seed", "-1")[0] == 64)
    recorded = ("--machine", MACHINES / "h100-x8-healthy")
    expect("options: a recorded machine computes nothing", all(run(*recorded, *more)[0] == 64 and "--driver-dir" in run(*recorded, *more)[2]
                                                               for more in (("--experiment", "matrix"), ("--inject", "lane"))))
    code, out, _ = run("--machine", MACHINES / "cloud-aws-called-gcp", "--provider", "aws")
    expect("provider: the right one is not", "instance.conflict" not in out, out)
    code, out, err = run("--machine", MACHINES / "mi300x-vf-healthy", "--instance-type", "gpu-mi300x1-192gb")
    expect("instance type: its provider is recognised", code == 0 and "1 of 1 GPU" in out, out + err)
    expect("provider: what the firmware says too contradicts nobody", "instance.conflict" not in run(*promise)[1])
    code, out, _ = run("--machine", MACHINES / "mi300x-vf-healthy", "--provider", "aws")
    expect("provider: the contradiction is told", "instance.conflict" in out, out)

    code, out, _ = run("list", "--machine", MACHINES / "mi300x-x8-healthy")
    expect("list: eight GPUs", code == 0 and out.count("0000:") >= 8, out)
    snapshot = json.loads(run("list", "--machine", MACHINES / "mi300x-x8-healthy", "--json")[1])
    expect("list --json: the snapshot with sources", len(snapshot["gpus"]) == 8 and "source" in json.dumps(snapshot["gpus"][0]))
    code, out, _ = run("list", "--machine", MACHINES / "no-gpu-vm")
    expect("list: no GPU says so", code == 0 and "no gpu" in out.lower(), out)

    code, out, _ = run("explain", "gpu.count.missing")
    expect("explain: cause and remedy", code == 0 and "gpu.count.missing" in out and len(out) > 300, out)
    code, out, _ = run("explain")
    expect("explain: all codes", code == 0 and out.count("\n") > 40)
    code, out, err = run("explain", "gpu.cuont.missing")
    expect("explain: near matches", code == 64 and "gpu.count.missing" in out + err, err)
    same = run("explain", "--xid", "79")
    expect("explain --xid 79", same[0] == 0 and same[1] == run("explain", "xid.79")[1] and "bus" in same[1], same[1])

    log = MACHINES / "h100-x2-xid79-in-the-log" / "kernel.log"
    code, out, _ = run("log", log)
    expect("log: one event with its GPU, status 1", code == 1 and out.count("xid.79") >= 1 and "0000:29:00.0" in out, out)
    events = json.loads(run("log", log, "--format", "json")[1])
    expect("log --format json", events["verdict"] == "fail" and events["events"][0]["xid"] == 79, events)
    code, out, _ = run("log", log, "--gpu", "0000:19:00.0")
    expect("log --gpu: another GPU has no event", code == 0 and "xid.79" not in out, out)
    code, out, _ = run("log", MACHINES / "mi300x-x2-harmless-log" / "kernel.log")
    expect("log: harmless lines pass", code == 0, out)
    code, out, _ = run("log", "/dev/null")
    expect("log: no line is unknown", code == 2, out)
    code, out, err = run("log", "/nonexistent.log")
    expect("log: a missing file is an error", code in (2, 64) and "/nonexistent.log" in out + err, out + err)
    code, out, _ = run("--machine", MACHINES / "mi300x-vf-healthy", "--kernel-log", log)
    expect("run --kernel-log: the given log is judged", "xid" in out or code in (0, 1), out)

    code, out, _ = run("specs", "mi300x")
    expect("specs: a board with its ids", code == 0 and "74a1" in out, out)
    expect("specs --json: sources", "source" in run("specs", "mi300x", "--json")[1])
    for shell in ("bash", "zsh", "fish"):
        code, out, _ = run("completion", shell)
        expect(f"completion {shell}", code == 0 and "explain" in out and "machine" in out)
    script = run("completion", "bash")[1]
    typed = subprocess.run(["bash", "-c", f"{script}\nCOMP_WORDS=(gpucheck run --prof); COMP_CWORD=2; _gpucheck; echo ${{COMPREPLY[*]}}"],
                           capture_output=True, text=True)
    expect("completion bash: completes --prof", typed.stdout.strip() == "--profile", typed.stdout + typed.stderr)
    code, out, _ = run("--help")
    expect("help: teaches with examples and statuses", code == 0 and "examples:" in out and "exit status" in out)
    code, out, _ = run("--version")
    expect("version", code == 0 and out.startswith("gpucheck "))
    print(f"{len(PROBLEMS)} problems")
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    sys.exit(main())
