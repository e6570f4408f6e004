#!/usr/bin/env python3
"""Alert rules and dashboard ask for metrics, labels and values that gpucheck really prints; promtool parses and tests them.

usage: monitoring.py GPUCHECK SOURCE_DIR
An alert over a metric that nobody writes never fires, and nobody notices.
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import yaml

GPUCHECK, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
RULES, DASHBOARD = SOURCE / "fleet/prometheus/gpucheck-rules.yml", SOURCE / "fleet/grafana/gpucheck.json"
MACHINES = ["h100-x8-healthy", "h100-x2-one-narrow", "h100-x8-one-missing", "mi300x-x8-healthy", "mi300x-kfd-denied-to-user", "no-gpu-vm",
            "h100-x2-aer-storm"]
OTHERS = {"up"}                    # of Prometheus itself
ADDED = {"instance", "job"}        # by the scrape
problems = []


def check(what, fine, more=""):
    if not fine:
        problems.append(what)
        print(f"PROBLEM {what}: {more}")


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, **options)


def printed(folder):
    """Metric -> label -> values, over recorded machines of each kind; and the files."""
    metrics, files = {}, []
    for machine in MACHINES:
        for profile in ("quick", "boot"):
            path = folder / f"{machine}-{profile}.prom"
            run(GPUCHECK, "run", "--machine", SOURCE / "tests/machines" / machine, "--profile", profile, "--expect", "gpu_count=8",
                "--format", "prometheus", "--output", path)
            files.append(path)
            for name, labels in re.findall(r"^(gpucheck_\w+)(?:\{(.*)\})? \S+$", path.read_text(), re.M):
                known = metrics.setdefault(name, {})
                for label, value in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels):
                    known.setdefault(label, set()).add(value)
    metrics["gpucheck_info"]["simulated"] |= {"false"}  # recorded machines are simulated
    metrics["gpucheck_info"]["injected"] |= {"bit"}
    return metrics, files


def asks_for_what_is_there(where, expression, metrics):
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', expression)
    for name in re.findall(r"\b(gpucheck_\w+)\b", bare):
        check(f"{where}: {name} is printed", name in metrics)
    check(f"{where}: asks for something", re.search(r"\bgpucheck_\w+", bare), expression)
    for name, selectors in re.findall(r"\b(\w+)\{([^}]*)\}", expression):
        check(f"{where}: {name} is a metric", name in metrics or name in OTHERS, name)
        for label, operator, value in re.findall(r'(\w+)(!=|=~|!~|=)"((?:[^"\\]|\\.)*)"', selectors):
            if label in ADDED:
                continue
            known = metrics.get(name, {}).get(label, set())
            check(f"{where}: {name} has the label {label}", known, sorted(metrics.get(name, {})))
            check(f"{where}: {name}{{{label}}} takes '{value}'", operator != "=" or value in known, sorted(known)[:20])
    every = set().union(*(labels for labels in metrics.values())) | ADDED
    for labels in re.findall(r"\b(?:by|on|ignoring|group_left)\s*\(([^)]*)\)", expression):
        for label in filter(None, (one.strip() for one in labels.split(","))):
            check(f"{where}: {label} is a label", label in every)


def rules(metrics):
    read = yaml.safe_load(RULES.read_text())
    alerts = [rule for group in read["groups"] for rule in group["rules"]]
    document = (SOURCE / "docs/monitoring.md").read_text()
    for rule in alerts:
        asks_for_what_is_there(rule["alert"], rule["expr"], metrics)
        check(f"{rule['alert']}: waits, and says how bad and what", rule["for"] and rule["labels"]["severity"] in ("critical", "warning", "info")
              and {"summary", "description"} == set(rule["annotations"]))
        check(f"{rule['alert']} is in docs/monitoring.md", f"`{rule['alert']}`" in document)
    check("every alert has another name", len({rule["alert"] for rule in alerts}) == len(alerts))
    tested = (SOURCE / "fleet/prometheus/gpucheck-rules.test.yml").read_text()
    codes = {row["code"] for row in json.loads((SOURCE / "checks/catalogue.json").read_text())["codes"]}
    for code in re.findall(r'code="([^"]*)"', tested):
        check(f"the tests' {code} is a code", code in codes)
    for rule in alerts:
        check(f"{rule['alert']} has a test in which it fires",
              re.search(rf"alertname: {rule['alert']}\n +exp_alerts:\n +- exp_labels", tested))


def dashboard(metrics):
    board = json.loads(DASHBOARD.read_text())
    panels = board["panels"]
    check("panels have ids of their own", len({panel["id"] for panel in panels}) == len(panels))
    cells = set()
    for panel in panels:
        place = panel["gridPos"]
        mine = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        check(f"{panel['title']}: lies in the grid, over no other panel", not mine & cells and place["x"] + place["w"] <= 24)
        cells |= mine
        check(f"{panel['title']}: says what it is", panel["description"] and panel["targets"])
        for target in panel["targets"]:
            asks_for_what_is_there(panel["title"], target["expr"].replace("$instance", ".*"), metrics)
            check(f"{panel['title']}: the chosen data source and nodes", target["datasource"]["uid"] == "${datasource}" and "$instance" in target["expr"])
    return [target["expr"].replace("$instance", ".*") for panel in panels for target in panel["targets"]]


def by_promtool(expressions, files, folder):
    if not shutil.which("promtool"):
        print("skipped: no promtool (package prometheus): rules and expressions are not parsed by it")
        return
    for command in (("check", "rules", RULES), ("test", "rules", SOURCE / "fleet/prometheus/gpucheck-rules.test.yml")):
        done = run("promtool", *command)
        check(f"promtool {' '.join(map(str, command[:2]))}", done.returncode == 0, done.stdout + done.stderr)
    path = folder / "dashboard.yml"
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": [{"record": f"panel:{i}", "expr": one} for i, one in enumerate(expressions)]}]}))
    done = run("promtool", "check", "rules", path)
    check("promtool parses the dashboard's expressions", done.returncode == 0, done.stdout + done.stderr)
    for file in files:
        done = run("promtool", "check", "metrics", input=file.read_text())
        check(f"promtool check metrics {file.name}", done.returncode == 0, done.stdout + done.stderr)


def receiver(folder):
    """What docs/fleet-serve.md tells to alert on is what the receiver prints."""
    serve = subprocess.Popen([GPUCHECK, "fleet", "serve", "--listen", "127.0.0.1:0", "--db", folder / "reports.db"], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True)
    try:
        address = re.search(r"http://[0-9.:]+", serve.stdout.readline()).group()
        for _ in range(2):  # its own answers are counted
            with urllib.request.urlopen(f"{address}/metrics", timeout=30) as answer:
                text = answer.read().decode()
    finally:
        serve.terminate()
        serve.wait(timeout=60)
    printed_here = {name: set(re.findall(r'(\w+)="', labels)) for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? \S+$", text, re.M)}
    document = (SOURCE / "docs/fleet-serve.md").read_text()
    asked = re.findall(r"`(gpucheck_fleet_\w+)(?:\{(\w+)=[^`]*)?`(?= grows)", document)
    check("docs/fleet-serve.md names metrics", len(asked) >= 3, asked)
    for name, label in asked:
        check(f"the receiver prints {name} {label}", name in printed_here and (not label or label in printed_here[name]), sorted(printed_here))
    if shutil.which("promtool"):
        done = run("promtool", "check", "metrics", input=text)
        check("promtool check metrics of the receiver", done.returncode == 0, done.stdout + done.stderr)


def unit(folder):
    """The command of the unit is one that gpucheck takes, and its file is where the pod looks."""
    text = (SOURCE / "fleet/prometheus/gpucheck-metrics.service").read_text()
    command = re.search(r"^ExecStart=/usr/bin/gpucheck (.*)$", text, re.M).group(1).split()
    target = Path(command[command.index("--output") + 1])
    check("the unit may write its file", f"ReadWritePaths={target.parent}\n" in text)
    check("the pod reads that file", f"path: {target.parent}\n" in (SOURCE / "fleet/kubernetes/npd-patch.yaml").read_text())
    command[command.index("--output") + 1] = folder / target.name
    done = run(GPUCHECK, *command, "--machine", SOURCE / "tests/machines/h100-x2-one-narrow")
    statuses = re.search(r"^SuccessExitStatus=(.*)$", text, re.M).group(1).split()
    check("the unit's command", done.returncode == 1 and str(done.returncode) in statuses, done.stderr)
    check("the node exporter, which is not root, can read the file", (folder / target.name).stat().st_mode & 0o004)
    if shutil.which("systemd-analyze"):
        for name in ("gpucheck-metrics.service", "gpucheck-metrics.timer"):
            shutil.copy(SOURCE / "fleet/prometheus" / name, folder)
        service = folder / "gpucheck-metrics.service"
        service.write_text(service.read_text().replace("/usr/bin/gpucheck", "/bin/true"))
        done = run("systemd-analyze", "verify", "--man=no", service, folder / "gpucheck-metrics.timer")
        check("systemd-analyze verify", "gpucheck-metrics" not in done.stderr, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        metrics, files = printed(folder)
        rules(metrics)
        by_promtool(dashboard(metrics), files, folder)
        receiver(folder)
        unit(folder)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
