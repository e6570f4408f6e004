#!/usr/bin/env python3
"""Slurm's own daemons on this machine, our scripts in them: the bad node is drained with its reason, the others are not.

usage: ring.py GPUCHECK SOURCE_DIR
Machines are recorded ones; a wrapper stands where a site's gpucheck stands.
Five `slurmd -N` and one slurmctld on loopback, with a munged of their own; folders, keys and ports are temporary. Twice in a row.
Skipped (77) where the packages slurmctld, slurmd and munge are absent.
"""
import ctypes
import getpass
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIPPED = 77
GPUCHECK, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
SCRIPTS = SOURCE / "fleet/slurm"
NODES = [f"n{i}" for i in range(1, 6)]
HEALTHY, NARROW, DENIED = "h100-x8-healthy", "h100-x2-one-narrow", "mi300x-kfd-denied-to-user"
problems = []


def check(what, fine, more=""):
    if not fine:
        problems.append(what)
        print(f"PROBLEM {what}: {more}", flush=True)


def descendants(of):
    found = []
    for task in Path(f"/proc/{of}/task").glob("*/children"):
        try:
            for child in map(int, task.read_text().split()):
                found += [child, *descendants(child)]
        except OSError:
            pass  # ended meanwhile
    return found


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Ring:
    """One cluster. What a node's GPUs are is a line in now/WHO/NODE: a recorded machine, or `hang`."""

    def __init__(self, folder):
        self.folder, self.children = folder, []
        for name in ("state", "spool", "scripts", "jobs"):
            (folder / name).mkdir()
        for who in ("health", "prolog", "epilog", "job"):
            (folder / "now" / who).mkdir(parents=True)
            for node in NODES:
                self.now(who, node, HEALTHY)
        for script in SCRIPTS.glob("gpucheck-*"):
            shutil.copy(script, folder / "scripts")
        self.write_wrapper()
        self.write_health()
        self.environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SLURM_CONF": str(folder / "slurm.conf"), "LC_ALL": "C"}
        self.start()

    def now(self, who, node, machine):
        path = self.folder / "now" / who / node
        path.with_suffix(".new").write_text(machine)
        path.with_suffix(".new").rename(path)

    def write_wrapper(self):
        """Stands where a site's gpucheck stands; judges a recorded machine instead of this one."""
        wrapper = self.folder / "gpucheck"
        wrapper.write_text(f"""#!/bin/sh
case "$1" in run) ;; *) exec {GPUCHECK} "$@" ;; esac
case ${{SLURM_SCRIPT_CONTEXT:-job}} in health | prolog | epilog) who=$SLURM_SCRIPT_CONTEXT ;; *) who=job ;; esac
machine=$(cat {self.folder}/now/$who/"$SLURMD_NODENAME")
if [ "$machine" = hang ]; then
    [ $who = job ] || trap '' TERM
    while :; do sleep 1; done
fi
exec {GPUCHECK} "$@" --machine {SOURCE}/tests/machines/"$machine"
""")
        wrapper.chmod(0o755)

    def write_health(self):
        """One state folder a node: here all five are on one machine."""
        for node in NODES:
            (self.folder / "nodes" / node).mkdir(parents=True)
            for name in ("gpucheck-common.sh", "gpucheck-health", "gpucheck-prolog", "gpucheck-epilog"):
                shutil.copy(SCRIPTS / name, self.folder / "nodes" / node)
            settings = self.folder / "nodes" / node / "gpucheck-slurm.conf"
            settings.write_text(f"gpucheck={self.folder}/gpucheck\nscontrol={shutil.which('scontrol')}\n"
                                f"slurm_conf={self.folder}/slurm.conf\nstate={self.folder}/state-{node}\nlimit_s=2\nwait_s=0\n")
            settings.chmod(0o644)
        for role in ("health", "prolog", "epilog"):
            start = self.folder / "scripts" / f"{role}-of-node"
            start.write_text(f'#!/bin/sh\nexec {self.folder}/nodes/"$SLURMD_NODENAME"/gpucheck-{role}\n')
            start.chmod(0o755)

    def configuration(self):
        ports = free_ports(1 + len(NODES))
        me = getpass.getuser()
        lines = [f"ClusterName=ring\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort={ports[0]}\nSlurmUser={me}\nSlurmdUser={me}",
                 f"AuthType=auth/munge\nCredType=cred/munge\nAuthInfo=socket={self.folder}/munge.socket",
                 f"StateSaveLocation={self.folder}/state\nSlurmdSpoolDir={self.folder}/spool/%n",
                 f"SlurmctldPidFile={self.folder}/slurmctld.pid\nSlurmdPidFile={self.folder}/%n.pid",
                 f"SlurmctldLogFile={self.folder}/slurmctld.log\nSlurmdLogFile={self.folder}/%n.log",
                 "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\nSwitchType=switch/none",
                 "JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\nSelectType=select/linear",
                 "ReturnToService=0\nHealthCheckInterval=2\nHealthCheckNodeState=ANY\nPrologFlags=Alloc\nKillWait=1\nUnkillableStepTimeout=10",
                 f"HealthCheckProgram={self.folder}/scripts/health-of-node",
                 f"Prolog={self.folder}/scripts/prolog-of-node\nEpilog={self.folder}/scripts/epilog-of-node"]
        lines += [f"NodeName={node} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs=1" for node, port in zip(NODES, ports[1:])]
        lines += ["PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP"]
        (self.folder / "slurm.conf").write_text("\n".join(lines) + "\n")

    def daemon(self, *command):
        log = open(self.folder / "daemons.log", "a")
        self.children.append(subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                              env=self.environment, cwd=self.folder, start_new_session=True))

    def start(self):
        self.configuration()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o400)
        self.daemon("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                    f"--pid-file={self.folder}/munge.pid", f"--log-file={self.folder}/munge.log", f"--seed-file={self.folder}/munge.seed")
        self.until("munged", lambda: (self.folder / "munge.socket").exists(), 10)
        self.daemon("slurmctld", "-D", "-c")
        for node in NODES:
            self.daemon("slurmd", "-D", "-N", node)
        self.until("five idle nodes", lambda: all(self.state(node)[0] == "IDLE" for node in NODES), 20)

    def slurm(self, *command):
        try:
            done = subprocess.run(list(map(str, command)), env=self.environment, cwd=self.folder / "jobs", capture_output=True, text=True, timeout=10)
        except subprocess.TimeoutExpired:
            return 124, ""
        return done.returncode, done.stdout + done.stderr

    def state(self, node):
        told = self.slurm("scontrol", "show", "node", node)[1]
        state, reason = re.search(r"State=(\S+)", told), re.search(r"^ *Reason=(.*?)(?: \[[^]]*\])?$", told, re.M)
        return state.group(1) if state else "", reason.group(1) if reason else ""

    def health(self, node):
        try:
            return (self.folder / f"state-{node}" / "health.state").read_text().strip()
        except OSError:
            return ""

    def until(self, what, true, seconds):
        deadline = time.monotonic() + 4 * seconds  # the seconds are for an idle machine
        while time.monotonic() < deadline:
            if true():
                return True
            time.sleep(0.1)
        check(f"{what} in time", False, self.describe())
        return False

    def describe(self):
        told = {node: (*self.state(node), self.health(node)) for node in NODES}
        logs = "".join(path.read_text(errors="replace")[-1500:] for path in sorted(self.folder.glob("*.log")))
        return f"{logs}\n{told}\n{self.slurm('squeue', '-o', '%i %T %r %N')[1]}"

    def stop(self):
        """All that was started, also what left its parents: this process is their reaper."""
        for child in reversed(self.children):
            child.terminate()
        began = time.monotonic()
        while (left := descendants(os.getpid())) and time.monotonic() < began + 10:
            if time.monotonic() > began + 1:
                for process in left:
                    try:
                        os.kill(process, signal.SIGKILL)
                    except OSError:
                        pass  # ended meanwhile
            for child in self.children:
                child.poll()
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except OSError:
                pass  # none left
            time.sleep(0.05)
        check("no process is left", not descendants(os.getpid()), str(descendants(os.getpid())))


def acceptance(ring):
    """One job over all nodes: one is bad, one hangs."""
    ring.now("job", "n3", NARROW)
    ring.now("job", "n5", "hang")
    code, said = ring.slurm("sbatch", "--parsable", "--nodes=5", ring.folder / "scripts/gpucheck-acceptance.sbatch", "--profile", "quick",
                            "--limit", "2", "--gpucheck", ring.folder / "gpucheck")
    check("sbatch", code == 0, said)
    job = said.strip()
    output = ring.folder / "jobs" / f"gpucheck-acceptance-{job}.out"
    if not ring.until("the acceptance job ended", lambda: "JobState=FAILED" in ring.slurm("scontrol", "show", "job", job)[1], 25):
        return
    text = output.read_text()
    check("acceptance: the bad node, its code and its GPU", re.search(r"^FAIL +n3 +pcie\.link\.narrow on 0000:29:00\.0", text, re.M), text)
    check("acceptance: the hung node is named", re.search(r"^NO REPORT +n5 +gpucheck hung", text, re.M), text)
    check("acceptance: every node is counted", "5 nodes: 3 passed, 1 failed, 0 unknown, 1 without a report" in text, text)
    # All reports are of recorded machines: no node's hardware is known, and each node is named.
    missing = {node for node in NODES if re.search(rf"\b{node}:\s+is\s+expected,\s+and\s+no\s+report\s+of\s+it\s+counts", text)}
    check("acceptance: the summary knows the job's nodes", missing == set(NODES), text)
    check("acceptance: exit status", "ExitCode=1:0" in ring.slurm("scontrol", "show", "job", job)[1])
    reports = sorted(path.name for path in (ring.folder / "jobs" / f"gpucheck-{job}").glob("*.json"))
    check("acceptance: reports", reports == ["n1.json", "n2.json", "n3.json", "n4.json"], reports)
    check("acceptance: a job drains nobody", all("DRAIN" not in ring.state(node)[0] for node in NODES), ring.describe())


def drains(ring):
    code, said = ring.slurm("scontrol", "update", "NodeName=n4", "State=DRAIN", "Reason=disk swap, ask ops")
    check("an operator drains", code == 0, said)
    for node, machine in (("n3", NARROW), ("n4", NARROW), ("n5", "hang")):
        ring.now("health", node, machine)
    reason = "gpucheck: pcie.link.narrow on 0000:29:00.0"
    ring.until("the bad node is drained with its reason", lambda: "DRAIN" in ring.state("n3")[0] and ring.state("n3")[1].startswith(reason), 10)
    ring.until("what another drained is left alone, and said", lambda: "left alone" in ring.health("n4"), 10)
    check("the operator's reason stays", ring.state("n4")[1] == "disk swap, ask ops", ring.state("n4"))
    ring.until("the hung node is named", lambda: "gpucheck hung" in ring.health("n5"), 15)
    check("a hung node is not drained unless the admin says so", "DRAIN" not in ring.state("n5")[0], ring.state("n5"))
    settings = ring.folder / "nodes/n5/gpucheck-slurm.conf"
    settings.write_text(settings.read_text() + "drain_unknown=yes\n")
    ring.until("the admin says so", lambda: ring.state("n5")[1].startswith("gpucheck: unknown: gpucheck hung"), 15)
    ring.now("health", "n3", HEALTHY)
    ring.until("the mended node passes", lambda: ring.health("n3") == "pass", 10)
    check("nobody is resumed", "DRAIN" in ring.state("n3")[0] and ring.state("n3")[1].startswith(reason), ring.state("n3"))
    for node in ("n1", "n2"):
        check(f"the good {node} is left", ring.state(node) in (("IDLE", ""), ("ALLOCATED", "")) and ring.health(node) == "pass", ring.describe())


def prolog(ring):
    """No job starts on a bad node; Slurm drains it, and the health check says why."""
    # Looked at by nobody else meanwhile, or the health check would be first.
    ring.now("health", "n2", "hang")
    ring.until("n2 is looked at by nobody", lambda: "gpucheck hung" in ring.health("n2"), 15)
    ring.now("prolog", "n2", DENIED)
    mark = ring.folder / "jobs/started"
    code, said = ring.slurm("sbatch", "--parsable", "--nodelist=n2", "--output=none", "--wrap", f"touch {mark}")
    check("sbatch", code == 0, said)
    ring.until("a failing prolog drains", lambda: "DRAIN" in ring.state("n2")[0], 10)
    check("the job did not start", not mark.exists())
    check("the reason is Slurm's", ring.state("n2")[1] == "Prolog error", ring.state("n2"))
    ring.slurm("scancel", said.strip())
    ring.now("health", "n2", DENIED)
    ring.until("the health check says why", lambda: ring.state("n2")[1].startswith("gpucheck: kfd.node.denied on /dev/kfd"), 15)
    code, said = ring.slurm("sbatch", "--parsable", "--nodelist=n1", "--output=none", "--wrap", f"touch {mark}")
    ring.until("a job runs on the good node", mark.exists, 10)
    ring.until("and n1 stays in service", lambda: ring.state("n1") == ("IDLE", ""), 10)


def main():
    absent = [name for name in ("slurmctld", "slurmd", "munged", "scontrol", "sbatch", "srun") if not shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")]
    if absent:
        print("skipped: not installed: " + " ".join(absent))
        return SKIPPED
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    began = time.monotonic()
    for turn in (1, 2):
        with tempfile.TemporaryDirectory(prefix="ring") as name:
            Path(name).chmod(0o755)
            ring = None
            try:
                ring = Ring(Path(name))
                print(f"turn {turn}: started after {time.monotonic() - began:.1f} s", flush=True)
                for part in (acceptance, drains, prolog) if turn == 1 else (acceptance, drains):
                    if not problems:
                        part(ring)
                        print(f"turn {turn}: {part.__name__} after {time.monotonic() - began:.1f} s", flush=True)
            finally:
                if ring is not None:
                    ring.stop()
                    print(f"turn {turn}: stopped after {time.monotonic() - began:.1f} s", flush=True)
        if problems:
            break
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
