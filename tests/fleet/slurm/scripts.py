#!/usr/bin/env python3
"""The Slurm scripts alone, with stand-ins for gpucheck and scontrol: what they do with each answer, and that they always end.

usage: scripts.py SOURCE_DIR
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCRIPTS = Path(sys.argv[1]).resolve() / "fleet/slurm"
problems = []

GPUCHECK = r"""#!/bin/sh
echo "$SLURMD_NODENAME $*" >>FOLDER/asked
case "$1" in report) cat FOLDER/line; exit 0 ;; esac
mode=$(cat FOLDER/mode)
case $mode in
    hang) trap '' TERM; while :; do sleep 1; done ;;
    slow) sleep 0.1; echo '{}'; exit 0 ;;
    held) echo '{}'; trap '' TERM; sleep 3 9>&- & exit 1 ;;
    cut) echo '{"verdict":'; exit 1 ;;
    killed) kill -9 $$ ;;
    large) printf '{"text":"%0300000d"}' 0; exit 1 ;;
    no-report) exit 1 ;;
    [0-9]*) [ "$mode" -gt 2 ] || echo '{}'; exit "$mode" ;;
esac
"""
SCONTROL = r"""#!/bin/sh
echo "$*" >>FOLDER/calls
case "$1" in
    show) cat FOLDER/node; exit "$(cat FOLDER/show-status)" ;;
    update) exit "$(cat FOLDER/update-status)" ;;
esac
"""


def check(what, fine, more=""):
    if not fine:
        problems.append(what)
        print(f"PROBLEM {what}: {more}")


class Place:
    def __init__(self, folder):
        self.folder, self.state = folder, folder / "state"
        for script in SCRIPTS.glob("gpucheck-*"):
            shutil.copy(script, folder)
        for name, text in (("gpucheck", GPUCHECK), ("scontrol", SCONTROL)):
            (folder / name).write_text(text.replace("FOLDER", str(folder)))
            (folder / name).chmod(0o755)
        self.settings()
        self.put(mode="0", line="pcie.link.narrow on 0000:29:00.0: expected x16, observed x8\n", node="   State=IDLE ThreadsPerCore=1\n",
                 **{"show-status": "0", "update-status": "0"})

    def put(self, **files):
        for name, text in files.items():
            (self.folder / name).write_text(text)

    def settings(self, more=""):
        path = self.folder / "gpucheck-slurm.conf"
        path.write_text(f"gpucheck={self.folder}/gpucheck\nscontrol={self.folder}/scontrol\nstate={self.state}\nlimit_s=1\nwait_s=0\n{more}")
        path.chmod(0o644)

    def run(self, role, shell="sh", node="node-7", **environment):
        calls = self.folder / "calls"
        calls.write_text("")
        began = time.monotonic()
        done = subprocess.run([shell, self.folder / f"gpucheck-{role}"], env={"SLURMD_NODENAME": node, **environment}, capture_output=True,
                              text=True, timeout=60, stdin=subprocess.DEVNULL)
        return done.returncode, done.stderr, calls.read_text(), time.monotonic() - began

    def run_bare(self, role):
        done = subprocess.run(["sh", self.folder / f"gpucheck-{role}"], env={}, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stderr

    def told(self):
        return (self.state / "health.state").read_text().strip()


def gates(place, role, shell):
    """Prolog and epilog: the exit status is all; scontrol is never called."""
    marker = place.state / f"{role}.failed"
    for mode, more, status in (("0", "", 0), ("1", "", 1), ("0", "", 0), ("2", "", 0), ("2", "drain_unknown=yes\n", 1), ("70", "", 0), ("64", "", 0),
                               ("no-report", "", 0), ("139", "", 0), ("cut", "", 0), ("killed", "", 0), ("held", "", 1), ("0", "", 0),
                               ("large", "", 1)):
        place.settings(more)
        place.put(mode=mode)
        code, said, calls, _ = place.run(role, shell)
        check(f"{role} in {shell}: gpucheck {mode} {more.strip()}: exit {status}", code == status, f"{code}: {said}")
        check(f"{role}: never scontrol", calls == "", calls)
        if mode == "0" or status == 1:
            check(f"{role}: a marker where Slurm drains", marker.exists() == (status == 1), mode)
    place.settings()
    place.put(mode="1")
    place.run(role, shell)
    check(f"{role}: the marker has the words", marker.read_text().startswith("pcie.link.narrow on 0000:29:00.0"), marker.read_text())
    check(f"{role}: reports are kept", (place.state / f"{role}.json").exists() and (place.state / f"{role}.json.previous").exists())
    place.put(mode="hang")
    code, said, _, seconds = place.run(role, shell)
    check(f"{role}: a hang ends, is named and drains nobody", code == 0 and "node node-7: unknown: gpucheck hung" in said and seconds < 30, said)
    left = [p for p in Path("/proc").glob("[0-9]*/cmdline") if str(place.folder).encode() in read(p)]
    check(f"{role}: nothing is left of it", not left, str(left))
    place.put(mode="0")
    place.settings("limit_s=10\nwait_s=10\n")
    code, said, _, _ = place.run(role, shell)
    check(f"{role}: waiting for drivers leaves time for the look", code == 0 and "it waits for 5 s" in said, said)
    place.put(mode="slow")
    place.settings("limit_s=30\n")
    together = [subprocess.Popen([shell, place.folder / f"gpucheck-{role}"], env={"SLURMD_NODENAME": "node-7"}, stdin=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True) for _ in range(4)]
    said = [one.communicate(timeout=60)[1] for one in together]
    check(f"{role}: jobs that start together are all looked at", [one.returncode for one in together] == [0] * 4 and not any(said), said)
    place.put(mode="0")
    lock = place.state / f"{role}.lock"
    lock.unlink()
    lock.mkdir()  # the shell cannot redirect to it
    for mode, status in (("0", 0), ("1", 1)):
        place.put(mode=mode)
        code, said, _, _ = place.run(role, shell)
        check(f"{role}: without a place for a lock the look is taken", code == status, (code, said))
    lock.rmdir()
    place.put(mode="0")
    check(f"{role}: nor in the way", place.run(role, shell)[0] == 0 and not marker.exists())
    asked = (place.folder / "asked").read_text()
    runs = [line for line in asked.splitlines() if " run " in line]
    check(f"{role}: no look is delivered to the config's receiver", runs and all("--no-deliver" in line for line in runs), asked)


def without_a_disk(place, shell, *hanging):
    """A disk that takes nothing drains no healthy node and passes no sick one."""
    def verdicts(what, kept, hang=()):
        for role in ("prolog", "epilog"):
            for mode, status in (("0", 0), ("1", 1), ("2", 0), *((one, 0) for one in hang)):
                place.put(mode=mode)
                code, said, calls, seconds = place.run(role, shell)
                check(f"{what}: {role} with {mode}: exit {status}", code == status and calls == "" and seconds < 30, (code, said))
                check(f"{what}: {role} with {mode} is said", mode == "0" or ("gpucheck hung" in said) == (mode == "hang"), said)
                check(f"{what}: {role} names the fault", mode != "1" or "pcie.link.narrow on 0000:29:00.0" in said, said)
        for mode, want in (("0", ""), *((one, "") for one in hang), ("1", "State=DRAIN Reason=gpucheck: pcie.link.narrow on 0000:29:00.0: expected x16")):
            place.put(mode=mode, node="State=IDLE X=1\n")
            code, said, calls, _ = place.run("health", shell)
            check(f"{what}: health with {mode}", code == 0 and want in calls and bool(calls) == bool(want), calls + said)
        check(f"{what}: what is kept", kept())
    # A folder that cannot be made, as on a disk that is read-only: root writes anywhere else.
    nowhere = Path("/proc/gpucheck-nowhere")
    place.state = nowhere
    place.settings()
    verdicts("no folder", lambda: not nowhere.exists())
    if os.getuid() == 0:
        theirs = place.folder / "theirs"
        theirs.mkdir()
        os.chown(theirs, 65534, 65534)
        place.state = theirs
        place.settings()
        verdicts("a folder of somebody else", lambda: not list(theirs.iterdir()))
    small = place.folder / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "gpucheck", small], capture_output=True).returncode != 0:
        print("skipped: no tmpfs may be mounted here: a full and a read-only disk were not tried")
        return
    try:
        place.state = small / "state"
        place.settings()
        place.put(mode="0")
        place.run("health", shell)
        check("pass is kept", place.told() == "pass")
        (small / "rest").write_bytes(b"x" * 4096)
        try:
            with open(small / "rest", "ab", buffering=0) as rest:
                while rest.write(b"x" * 4096):
                    pass
        except OSError:
            pass  # full
        verdicts("a full disk", lambda: place.told() == "pass" and not list(place.state.glob("*.new")), hanging)
        for _ in range(100):  # what was killed may hold a file for a moment
            done = subprocess.run(["mount", "-o", "remount,ro", small], capture_output=True, text=True)
            if done.returncode == 0:
                break
            time.sleep(0.1)
        check("read-only", done.returncode == 0, done.stderr)
        verdicts("a read-only disk", lambda: place.told() == "pass")
        subprocess.run(["mount", "-o", "remount,rw", small], check=True)
        (small / "rest").unlink()
        place.run("health", shell)
        check("a disk with room again", "drained" in place.told() and (place.state / "health.json").read_text() == "{}\n", place.told())
    finally:
        subprocess.run(["umount", "--lazy", small], check=True)


def read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def drains(place):
    """The health check: which states it touches, and with which words."""
    ours = "Reason=gpucheck: pcie.link.narrow on 0000:29:00.0: expected x16 [root@2026-11-30T10:00:00]"
    update = "update NodeName=node-7 State=DRAIN Reason=gpucheck: pcie.link.narrow on 0000:29:00.0: expected x16, observed x8"
    for state, reason, want in (("IDLE", "", update), ("MIXED", "", update), ("ALLOCATED", "", update), ("IDLE*", "", update),
                                ("IDLE", "Reason=noisy fan [bob@2026-11-30T10:00:00]", update + " (was: noisy fan)"),
                                ("IDLE+DRAIN", "Reason=disk swap [bob@2026-11-30T10:00:00]", None),
                                ("IDLE+DRAIN", "", None), ("DOWN*", "Reason=Not responding [slurm@2026-11-30T10:00:00]", None), ("DOWN", "", None),
                                ("MAINT", "", None), ("MIXED+DRAIN", "Reason=gpu check by ops [bob@x]", None),
                                ("IDLE+DRAIN", ours, None), ("MIXED+DRAIN", ours.replace("pcie.link", "pcie.lin"), update),
                                ("IDLE+DRAIN", ours.replace("narrow on", "narrower on"), update),
                                ("IDLE+DRAIN", "Reason=Prolog error [slurm@2026-11-30T10:00:00]", None)):
        place.put(mode="1", node=f"NodeName=node-7 Arch=x86_64\n   State={state} ThreadsPerCore=1\n   {reason}\n")
        code, said, calls, _ = place.run("health")
        check(f"health: {state} {reason}", code == 0 and (calls.splitlines() == ["show node node-7"] + ([want] if want else [])), calls + said)
        check(f"health: {state} {reason} is told", place.told().endswith("drained") if want else "left alone" in place.told() or "already" in place.told())
    (place.state / "prolog.failed").write_text("x\n")
    calls = place.run("health")[2]
    check("health: Slurm's drain by our prolog gets its words", update in calls and not (place.state / "prolog.failed").exists(), calls)
    place.put(node="State=IDLE X=1\n")
    for mode in ("0", "2", "70", "no-report", "hang"):
        place.put(mode=mode)
        code, said, calls, _ = place.run("health")
        check(f"health: {mode} drains nobody", code == 0 and calls == "", calls)
    check("health: a hung gpucheck is named", "gpucheck hung: no report within 1 s; not drained" in place.told(), place.told())
    place.settings("drain_unknown=yes\n")
    check("health: the admin says so", "Reason=gpucheck: unknown: gpucheck hung" in place.run("health")[2])
    place.put(node=f"State=IDLE+DRAIN X=1\n   {ours}\n")
    calls = place.run("health")[2]
    check("health: what is not known replaces no fault", "update" not in calls and "drained already" in place.told(), calls)
    place.settings()
    place.put(mode="1", **{"show-status": "1"}, node="")
    code, _, calls, _ = place.run("health")
    check("health: no controller", code == 0 and "update" not in calls and "not drained" in place.told(), calls + place.told())
    place.put(**{"show-status": "0"}, node="nonsense\n")
    check("health: nonsense from scontrol", "update" not in place.run("health")[2] and "not drained" in place.told())
    place.put(node="State=IDLE X=1\n", **{"update-status": "1"})
    place.run("health")
    check("health: a refused update is told", "not drained: scontrol update ended with 1" in place.told(), place.told())
    place.put(line="a'\"`$(touch x)\\;b\x01=c\nsecond\n", **{"update-status": "0"})
    calls = place.run("health")[2]
    for hostile in ("\xe9\u4e2d " + "x" * 400 + "\n", "$(touch MARK)`touch MARK`'\";touch MARK\n", "-M all State=RESUME\n", "\n", "\xff" * 5000):
        place.put(line=hostile.replace("MARK", str(place.folder / "mark")), node=f"State=IDLE X=1\n   Reason={'n$(touch m)' * 60}\xe9 [a b@c]\n")
        reasons = [call.partition("Reason=")[2] for call in place.run("health")[2].splitlines() if call.startswith("update")]
        check(f"health: {hostile[:9]!r} is one short reason", len(reasons) == 1 and reasons[0].startswith("gpucheck: ") and len(reasons[0]) <= 200
              and not set(reasons[0]) & set("$`'\"\\=\n") and reasons[0].isascii() and not (place.folder / "mark").exists(), reasons)
        check("health: one line is told", len(place.told().splitlines()) == 1 and place.told().isascii(), place.told())
    place.put(line="a'\"`$(touch x)\\;b\x01=c\nsecond\n", node="State=IDLE X=1\n")
    calls = place.run("health")[2]
    check("health: nothing in a reason that a shell or scontrol could read", "Reason=gpucheck: a____(touch x)_;b__c" in calls and "second" not in calls, calls)


def hostile(place):
    place.put(mode="1", line="code on gpu\n")
    mark = place.folder / "mark"
    place.settings(f"limit_s=9999\nstate=relative\ngpucheck=/bin/$(touch {mark})\ndrain_unknown=maybe\nnonsense\nlimit_s=\n")
    code, said, _, _ = place.run("prolog")
    check("settings: each bad line is said and left out", code == 1 and all(word in said for word in
          ("not 1 to 30: limit_s=9999", "not an absolute path: state=relative", "not yes or no", "no such setting: nonsense")), said)
    check("settings: nothing is executed", not mark.exists())
    (place.folder / "gpucheck-slurm.conf").chmod(0o666)
    code, said, _, _ = place.run("prolog")
    check("settings: whoever could write them could run as root", "is not root's alone" in said, said)
    place.settings()
    for node in ("", "a b", "x;reboot", "../../etc"):
        code, said, _, _ = place.run("prolog", node=node)
        check(f"a node's name is no '{node}'", code == 1 and (node == "" or node not in said), said)
    trap = place.folder / "trap"
    trap.mkdir()
    for tool in ("sleep", "setsid", "flock", "mktemp", "env", "head"):
        (trap / tool).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (trap / tool).chmod(0o755)
    code, said, _, _ = place.run("prolog", PATH=f"{trap}:/usr/bin:/bin", IFS="/", limit_s="1", gpucheck="/bin/true", BASH_ENV=str(trap / "env"))
    check("nothing from the environment is trusted", code == 1 and not mark.exists(), said)
    (place.folder / "gpucheck").unlink()
    check("without gpucheck no job is lost", place.run_bare("prolog")[0] == 0)
    (place.folder / "gpucheck-common.sh").unlink()
    for role in ("prolog", "epilog", "health"):
        code, said = place.run_bare(role)
        check(f"{role} without its other half drains nobody and says so", code == 0 and "nothing was looked at" in said, said)


def main():
    shells = [shell for shell in ("dash", "bash") if shutil.which(shell)] or ["sh"]
    for what, arguments in [(gates, ("prolog", shells[0])), (gates, ("epilog", shells[-1])), (drains, ()), (hostile, ()),
                            (without_a_disk, (shells[0], "hang")), (without_a_disk, (shells[-1],))]:
        with tempfile.TemporaryDirectory(prefix="slurm") as name:
            Path(name).chmod(0o755)
            what(Place(Path(name)), *arguments)
    if shutil.which("shellcheck"):
        done = subprocess.run(["shellcheck", "-x", *sorted(SCRIPTS.glob("gpucheck-[!s]*"))], capture_output=True, text=True)
        check("shellcheck", done.returncode == 0, done.stdout)
    else:
        print("skipped: no shellcheck")
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
