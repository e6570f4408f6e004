#!/usr/bin/env python3
"""A unit that systemd drops to break an ordering cycle never runs, and nobody is told: cases A to H of docs/boot.md, the units
that are shipped, and workloads behind gpucheck-passed.target, each beside cloud-init's units.

usage: ordering.py SOURCE_DIR
Needs systemd-analyze (skipped without it: 77). cloud-init's units are modelled on 26.x below; with GPUCHECK_CLOUD_INIT_DEB=FILE, or
where apt-get has the package at hand, the Debian package's own units are taken as well.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cloud_init_package import unpacked

SKIPPED = 77
BASE = Path("/lib/systemd/system")
MULTI = "multi-user.target"

# Ordering and requirements of cloud-init 26.x (canonical/cloud-init, systemd/*.tmpl): what decides about cycles, nothing else.
CLOUD_INIT = {
    "cloud-init-local.service": ("DefaultDependencies=no", "After=systemd-remount-fs.service", "Before=network-pre.target",
                                 "Before=shutdown.target", "Conflicts=shutdown.target", "Wants=network-pre.target"),
    "cloud-init-network.service": ("DefaultDependencies=no", "Wants=cloud-init-local.service", "After=cloud-init-local.service",
                                   "Before=network-online.target", "Before=sysinit.target", "Before=shutdown.target",
                                   "Conflicts=shutdown.target"),
    "cloud-config.target": ("Wants=cloud-init-local.service cloud-init-network.service",
                            "After=cloud-init-local.service cloud-init-network.service"),
    "cloud-config.service": ("After=network-online.target cloud-config.target", "Wants=network-online.target cloud-config.target"),
    "cloud-final.service": ("After=network-online.target cloud-config.service rc-local.service multi-user.target",
                            "Before=apt-daily.service", "Wants=network-online.target cloud-config.service"),
    "cloud-init.target": ("After=multi-user.target",),
}
SERVICES = [name for name in CLOUD_INIT if name.endswith(".service")]

# docs/boot.md, "Ordering": lines of [Unit], who wants it, is there a cycle.
CASES = {
    "A": (["After=cloud-final.service"], MULTI, True),
    "B": (["After=cloud-final.service multi-user.target"], MULTI, False),
    "C": (["After=cloud-init.target", "Wants=cloud-init.target"], MULTI, True),
    "D": (["After=cloud-init.target multi-user.target"], MULTI, False),
    "E": (["After=cloud-final.service"], "cloud-init.target", False),
    "F": (["After=cloud-config.service network-online.target", "Wants=network-online.target"], MULTI, False),
    "G": (["After=cloud-config.target network-online.target", "Wants=network-online.target"], MULTI, False),
    "H": (["After=cloud-init.target"], "cloud-init.target", False),
}
# Workloads that require gpucheck-passed.target.
GATED = ["Requires=gpucheck-passed.target"]
WORKLOADS = {
    "behind the target alone": (GATED + ["After=gpucheck-passed.target"], MULTI, True),
    "behind the target and multi-user.target": (GATED + ["After=gpucheck-passed.target multi-user.target"], MULTI, False),
    "wanted by the target": (GATED + ["After=gpucheck-passed.target"], "gpucheck-passed.target", False),
}


def write_unit(folder, name, lines):
    text = "[Unit]\n" + "\n".join([f"Description={name}", *lines]) + "\n"
    if name.endswith(".service"):
        text += "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n"
    (folder / name).write_text(text)


def enable(folder, name, target):
    wants = folder / f"{target}.wants"
    wants.mkdir(exist_ok=True)
    (wants / name).symlink_to(f"../{name}")


def modelled(folder):
    for name, lines in CLOUD_INIT.items():
        write_unit(folder, name, lines)
    for name in SERVICES:
        enable(folder, name, "cloud-init.target")
    enable(folder, "cloud-init.target", MULTI)  # what cloud-init's generator does


def packaged(units):
    def install(folder):
        for unit in units:
            text = re.sub(r"^Exec(Start|Stop)\w*=.*", "ExecStart=/bin/true", unit.read_text(), count=1, flags=re.M)
            text = re.sub(r"^Exec(?!Start=/bin/true).*\n", "", text, flags=re.M)
            (folder / unit.name).write_text(text)
            if "WantedBy=cloud-init.target" in text:
                enable(folder, unit.name, "cloud-init.target")
        enable(folder, "cloud-init.target", MULTI)
    return install


def cycles(install, scratch):
    """What systemd says of cycles when multi-user.target is started with these units."""
    folder = Path(tempfile.mkdtemp(dir=scratch))
    install(folder)
    environment = dict(os.environ, SYSTEMD_UNIT_PATH=f"{folder}:{BASE}", SYSTEMD_LOG_LEVEL="info", LC_ALL="C")
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", MULTI], env=environment, capture_output=True, text=True,
                          timeout=60)
    said = done.stdout + done.stderr
    return [line for line in said.splitlines() if "cycle" in line or "deleted" in line], said


def shipped(source):
    def install(folder):
        for unit in (source / "cloud-init/systemd").glob("gpucheck-*"):
            text = re.sub(r"^ExecStart=.*", "ExecStart=/bin/true", unit.read_text(), flags=re.M)
            (folder / unit.name).write_text(text)
            for target in re.findall(r"^WantedBy=(.*)", text, flags=re.M):
                enable(folder, unit.name, target.strip())
    return install


def real_units(scratch):
    folder = unpacked(scratch)
    if folder is None:
        return None
    return [path for path in folder.rglob("*") if path.suffix in (".service", ".target") and path.is_file()]


def main():
    source = Path(sys.argv[1])
    if not shutil.which("systemd-analyze") or not (BASE / MULTI).exists():
        print("skipped: no systemd-analyze with its units")
        return SKIPPED
    problems = []

    def judge(what, installs, expected):
        def install(folder):
            for one in installs:
                one(folder)
        found, said = cycles(install, scratch)
        if bool(found) != expected:
            problems.append(f"{what}: {'a cycle' if found else 'no cycle'}, expected {'one' if expected else 'none'}\n{said}")
        return said

    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        surroundings = {"modelled on 26.x": modelled}
        units = real_units(scratch)
        if units:
            surroundings["the distribution's package"] = packaged(units)
        for label, cloud_init in surroundings.items():
            def unit(lines, target):
                def install(folder):
                    write_unit(folder, "probe.service", lines)
                    enable(folder, "probe.service", target)
                return install
            for case, (lines, target, cycle) in CASES.items():
                judge(f"case {case}, {label}", [cloud_init, unit(lines, target)], cycle)
            said = judge(f"the shipped units, {label}", [cloud_init, shipped(source)], False)
            if "gpucheck" in said:
                problems.append(f"systemd complains about the shipped units:\n{said}")
            for workload, (lines, target, cycle) in WORKLOADS.items():
                judge(f"a workload {workload}, {label}", [cloud_init, shipped(source), unit(lines, target)], cycle)
        judge("the shipped units without cloud-init", [shipped(source)], False)
    for problem in problems:
        print(problem)
    print(f"{len(surroundings)} sets of cloud-init's units{'' if units else ' (no package at hand)'}, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
