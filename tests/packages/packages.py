#!/usr/bin/env python3
"""The packages: control data, contents, dependencies, lintian, and a life of install, upgrade, remove and purge in a root of its own.

usage: packages.py BUILD_DIR CPACK
Skipped (77) without dpkg. The .rpm is looked at where rpm and rpmbuild are. Nothing is installed into the machine that tests.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
UNITS = ["gpucheck-boot.service", "gpucheck-passed.target", "gpucheck-report.service", "gpucheck-report.timer"]
ENABLED = ["gpucheck-boot.service", "gpucheck-passed.target", "gpucheck-report.timer"]
SCRIPTS = ["/usr/share/gpucheck/slurm/gpucheck-prolog", "/usr/share/gpucheck/slurm/gpucheck-epilog", "/usr/share/gpucheck/slurm/gpucheck-health",
           "/usr/share/gpucheck/slurm/gpucheck-acceptance.sbatch", "/usr/share/gpucheck/kubernetes/gpucheck-npd"]
FILES = ["/usr/bin/gpucheck", "/usr/share/man/man1/gpucheck.1.gz", "/usr/share/bash-completion/completions/gpucheck",
         "/usr/share/zsh/vendor-completions/_gpucheck", "/usr/share/fish/vendor_completions.d/gpucheck.fish",
         "/usr/lib/tmpfiles.d/gpucheck.conf", "/usr/share/doc/gpucheck/examples/config.json", "/usr/share/doc/gpucheck/copyright",
         "/usr/share/doc/gpucheck/examples/vendor-data.yaml", "/usr/share/doc/gpucheck/examples/gpucheck-slurm.conf",
         "/usr/share/gpucheck/slurm/gpucheck-common.sh", "/usr/share/gpucheck/kubernetes/npd-pod.json",
         "/usr/share/gpucheck/kubernetes/job-nvidia.yaml", "/usr/share/gpucheck/kubernetes/Dockerfile",
         "/usr/share/gpucheck/prometheus/gpucheck-rules.yml", "/usr/share/gpucheck/prometheus/gpucheck-metrics.timer",
         "/usr/share/gpucheck/grafana/gpucheck.json", "/usr/share/gpucheck/ansible/gpucheck.yml"] + SCRIPTS + [f"/usr/lib/systemd/system/{unit}" for unit in UNITS]
problems = []


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=240, **options)


def check(what, fine, more=""):
    if not fine:
        problems.append(f"{what}: {more}" if more else what)


def make(build, cpack, folder):
    generators = ["DEB"] + (["RPM"] if shutil.which("rpmbuild") else [])
    if "RPM" not in generators:
        print("skipped: no rpmbuild: no .rpm is made")
    for generator in generators:
        done = run(cpack, "-G", generator, "-B", folder, cwd=build)
        check(f"cpack {generator}", done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:])
    return {name: (next(folder.glob(f"{name}_*.deb"), None), next(folder.glob(f"{name}-[0-9]*.rpm"), None)) for name in ("gpucheck", "gpucheck-fleet")}


def contents_of(deb):
    listed = {}
    for line in run("dpkg-deb", "-c", deb).stdout.splitlines():
        mode, owner, _, _, _, name = line.split(None, 5)
        listed[name.split(" -> ")[0][1:].rstrip("/") or "/"] = (mode, owner)
    return listed


def judge_deb(deb, scratch):
    fields = dict(line.split(": ", 1) for line in run("dpkg-deb", "-f", deb).stdout.splitlines() if re.match(r"[\w-]+: ", line))
    check("Package", fields.get("Package") == "gpucheck", str(fields))
    check("libc6 is depended on", "libc6 (>=" in fields.get("Depends", ""), fields.get("Depends", ""))
    # What differs between the distributions' releases must not be linked: spdlog and fmt have another soname on each.
    check("no dependency that only one release has", not re.search(r"spdlog|libfmt|nlohmann|cuda|hip|rocm|nvidia", fields.get("Depends", "")),
          fields.get("Depends", ""))
    check("the description is said once", fields.get("Description") == "says whether the GPUs of an instance are what was paid for", str(fields))
    listed = contents_of(deb)
    check("the agent's package holds nothing of the fleet's", not any("fleet" in name for name in listed), str(sorted(listed)))
    for name in FILES:
        check(f"the .deb holds {name}", name in listed)
    for name in SCRIPTS:
        check(f"{name} is executable", listed.get(name, ("-" * 10,))[0] == "-rwxr-xr-x")
    for name, (mode, owner) in listed.items():
        check(f"{name} is root's", owner == "root/root", owner)
        check(f"{name} is written by root alone", mode[5] == "-" and mode[8] == "-", mode)
    control = scratch / "control"
    run("dpkg-deb", "-e", deb, control)
    for script in ("postinst", "prerm", "postrm"):
        text = (control / script).read_text()
        check(f"{script} is a script of sh", run("sh", "-n", control / script).returncode == 0)
        for line in text.splitlines():
            waits = re.search(r"(systemctl|deb-systemd-invoke)\b.*\b(start|restart|reload)\b", line) and "daemon-reload" not in line
            check(f"{script} waits for a unit", not waits or "--no-block" in line, line)
    if shutil.which("lintian"):
        done = run("lintian", "--no-tag-display-limit", "--tag-display-limit", "0", deb)
        errors = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("E:")]
        check("lintian", not errors, "\n".join(errors))
    else:
        print("skipped: no lintian")


def judge_fleet(deb, rpm, scratch):
    """The second package: for operators, beside the first; its unit is there and nothing starts it."""
    check("there is a package of the fleet", deb is not None)
    if not deb:
        return
    fields = dict(line.split(": ", 1) for line in run("dpkg-deb", "-f", deb).stdout.splitlines() if re.match(r"[\w-]+: ", line))
    check("its name and description", fields.get("Package") == "gpucheck-fleet" and fields.get("Description", "").startswith("decides over"), str(fields))
    listed = contents_of(deb)
    for name in ("/usr/bin/gpucheck-fleet", "/usr/share/man/man1/gpucheck-fleet.1.gz", "/usr/share/doc/gpucheck-fleet/copyright",
                 "/usr/lib/systemd/system/gpucheck-fleet.service"):
        check(f"the fleet's .deb holds {name}", name in listed, str(sorted(listed)))
    for name, (mode, owner) in listed.items():
        check(f"{name} is root's and written by root alone", owner == "root/root" and mode[5] == "-" and mode[8] == "-", f"{mode} {owner}")
    control = scratch / "control-fleet"
    run("dpkg-deb", "-e", deb, control)
    check("it runs nothing when it is installed", sorted(path.name for path in control.iterdir()) == ["control", "md5sums"])
    if shutil.which("lintian"):
        done = run("lintian", "--no-tag-display-limit", "--tag-display-limit", "0", deb)
        errors = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("E:")]
        check("lintian", not errors, "\n".join(errors))
    if rpm and shutil.which("rpm"):
        names = run("rpm", "-qpl", rpm).stdout.split()
        check("the fleet's .rpm holds its program and unit",
              {"/usr/bin/gpucheck-fleet", "/usr/lib/systemd/system/gpucheck-fleet.service"} <= set(names), str(names))
        check("the fleet's .rpm runs nothing", not run("rpm", "-qp", "--scripts", rpm).stdout.strip())


class Root:
    """A root with a dpkg database of its own. Maintainer scripts run with dpkg's --force-script-chrootless, so their paths are
    rewritten to lie below it; the programs that they call only write down that they were called."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "run/systemd/system", "tools"):
            (folder / name).mkdir(parents=True)
        (folder / "var/lib/dpkg/status").write_text("")
        self.state("starting")
        self.tool("deb-systemd-helper", f'echo "deb-systemd-helper $*" >>{folder}/calls\n'
                  f'case " $* " in *" was-enabled "*) [ ! -e {folder}/was-disabled ];; esac')
        self.tool("deb-systemd-invoke", f'echo "deb-systemd-invoke $*" >>{folder}/calls')
        self.tool("systemctl", f'echo "systemctl $*" >>{folder}/calls\n'
                  f'case "$*" in is-system-running) cat {folder}/state;; esac')
        self.tool("systemd-tmpfiles", f'echo "systemd-tmpfiles $*" >>{folder}/calls')

    def tool(self, name, body):
        path = self.folder / "tools" / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def state(self, text):
        (self.folder / "state").write_text(text + "\n")

    def repacked(self, deb, version):
        """The same package with scripts whose paths lie below this root."""
        tree = self.folder / f"tree-{version}"
        check("dpkg-deb -R", run("dpkg-deb", "-R", deb, tree).returncode == 0)
        for script in ("postinst", "prerm", "postrm"):
            path = tree / "DEBIAN" / script
            text = re.sub(r"/usr/bin/deb-systemd-helper", f"{self.folder}/tools/deb-systemd-helper", path.read_text())
            text = re.sub(r"(?<![\w/])/(var/lib/gpucheck|etc/gpucheck|run/\w+)", rf"{self.folder}/\1", text)
            path.write_text(text.replace("set -e", f'set -e\nPATH="{self.folder}/tools:$PATH"', 1))
        control = tree / "DEBIAN/control"
        control.write_text(re.sub(r"^Version: .*", f"Version: {version}", control.read_text(), flags=re.M))
        path = self.folder / f"gpucheck_{version}.deb"
        check("dpkg-deb -b", run("dpkg-deb", "--root-owner-group", "-Znone", "-b", tree, path).returncode == 0)
        return path

    def dpkg(self, *arguments):
        (self.folder / "calls").write_text("")
        done = run("dpkg", f"--root={self.folder}", "--force-script-chrootless", "--force-depends", "--force-not-root",
                   "--force-unsafe-io", *arguments)
        check(f"dpkg {' '.join(map(str, arguments))}", done.returncode == 0, done.stdout + done.stderr)
        return (self.folder / "calls").read_text()

    def has(self, name):
        return (self.folder / name).exists()


def live(deb, folder):
    root = Root(folder)
    first, second = root.repacked(deb, "0.0.1"), root.repacked(deb, "0.0.2")

    calls = root.dpkg("-i", first)
    for name in FILES:
        check(f"installed: {name}", root.has(name[1:]))
    check("installed: the state folder is root's alone", root.has("var/lib/gpucheck") and
          (folder / "var/lib/gpucheck").stat().st_mode & 0o777 == 0o700)
    for unit in ENABLED:
        check(f"installed: {unit} is enabled", f"enable {unit}" in calls, calls)
    check("installed while booting: the validation is asked for", "systemctl start --no-block gpucheck-boot.service" in calls, calls)

    (folder / "var/lib/gpucheck/spooled").write_text("waits")
    (folder / "etc/gpucheck/config.json").write_text("{}")
    (folder / "was-disabled").write_text("")
    calls = root.dpkg("-i", second)
    check("upgraded: what was disabled stays so", "enable gpucheck" not in calls and "update-state gpucheck-boot.service" in calls, calls)
    check("upgraded: nothing is stopped or judged", "stop" not in calls and "gpucheck-boot.service" not in
          "".join(line for line in calls.splitlines() if line.startswith("systemctl")), calls)
    check("upgraded: the spool stays", root.has("var/lib/gpucheck/spooled"))
    check("upgraded: the configuration stays", root.has("etc/gpucheck/config.json"))

    calls = root.dpkg("-r", "gpucheck")
    check("removed: what ran is stopped", "systemctl stop" in calls and "gpucheck-boot.service" in calls, calls)
    check("removed: the program is gone", not root.has("usr/bin/gpucheck") and not root.has(f"usr/lib/systemd/system/{UNITS[0]}"))
    check("removed: spool and configuration stay", root.has("var/lib/gpucheck/spooled") and root.has("etc/gpucheck/config.json"))

    calls = root.dpkg("-P", "gpucheck")
    check("purged: no trace", not root.has("var/lib/gpucheck") and not root.has("etc/gpucheck"))
    check("purged: nothing stays enabled", all(f"purge {unit}" in calls for unit in ENABLED), calls)

    (folder / "was-disabled").unlink()
    root.state("running")
    calls = root.dpkg("-i", first)
    check("installed on a machine that runs: nobody's GPUs are touched", "gpucheck-boot.service" not in
          "".join(line for line in calls.splitlines() if " start " in line), calls)


def judge_rpm(rpm):
    if not shutil.which("rpm"):
        print("skipped: no rpm: the .rpm is made and not looked at")
        return
    listed = run("rpm", "-qpl", rpm).stdout.split()
    for name in FILES:
        check(f"the .rpm holds {name}", name in listed, " ".join(listed))
    for folder in ("/usr/lib/systemd", "/usr/lib/systemd/system", "/usr/bin", "/usr/share/man/man1", "/etc", "/usr/lib/tmpfiles.d"):
        check(f"the .rpm does not own {folder}", folder not in listed)
    scripts = run("rpm", "-qp", "--scripts", rpm).stdout
    for line in scripts.splitlines():
        check("an .rpm script waits for a unit", "systemctl start" not in line or "--no-block" in line, line)
    check("the .rpm needs the C library", "libc.so.6" in run("rpm", "-qpR", rpm).stdout)


def main():
    if not shutil.which("dpkg-deb") or not shutil.which("dpkg"):
        print("skipped: no dpkg")
        return SKIPPED
    build, cpack = Path(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        scratch.chmod(0o755)
        made = make(build, cpack, scratch / "made")
        judge_fleet(*made["gpucheck-fleet"], scratch)
        deb, rpm = made["gpucheck"]
        if deb:
            judge_deb(deb, scratch)
            if os.geteuid() == 0:
                live(deb, scratch / "root")
            else:
                print("skipped: not root: nothing is installed, upgraded, removed or purged")
            print(f"{deb.name}: {deb.stat().st_size} bytes")
        if rpm:
            judge_rpm(rpm)
            print(f"{rpm.name}: {rpm.stat().st_size} bytes")
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    return 1 if problems or deb is None else 0


if __name__ == "__main__":
    sys.exit(main())
