#!/usr/bin/env python3
"""Bad input through the real binary: a clear error or a Missing fact within a second, never a crash, a hang or a pass.

usage: hostile.py GPUCHECK MACHINES
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GPUCHECK, MACHINES = sys.argv[1], Path(sys.argv[2])
PROBLEMS = []
# Sanitizer builds are several times slower; the limit is for the shipped binary.
LIMIT_S = float(os.environ.get("GPUCHECK_TEST_SLOWDOWN", "1")) * 1.0
ENV = {"PATH": "/usr/bin:/bin", "NO_COLOR": "1"} | {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}


def run(*args, stdin=None, cwd=None):
    start = time.monotonic()
    try:
        done = subprocess.run([GPUCHECK, *map(str, args)], capture_output=True, timeout=20, env=ENV, cwd=cwd,
                              stdin=subprocess.DEVNULL if stdin is None else stdin)
    except subprocess.TimeoutExpired:
        return 124, "", "hangs", 20.0
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), time.monotonic() - start


def expect(name, ok, detail=""):
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else f": {detail}"))
    if not ok:
        PROBLEMS.append(name)


def clear_error(name, *args, status=64, word=None, **kwargs):
    code, out, err, seconds = run(*args, **kwargs)
    good = code == status and err.strip() and "terminate" not in err and "Sanitizer" not in err and seconds < LIMIT_S
    if word:
        good = good and word in err
    expect(name, good, f"status {code}, {seconds:.2f} s, stderr {err[:200]!r}")


def never_passes(name, machine, extra=()):
    code, out, err, seconds = run("run", "--machine", machine, "--format", "json", "--expect", "gpu_count=1", *extra)
    good = code in (1, 2, 64) and seconds < LIMIT_S and "Sanitizer" not in err
    if code in (1, 2):
        good = good and json.loads(out)["verdict"] in ("fail", "unknown")
    expect(name, good, f"status {code}, {seconds:.2f} s, {out[:100]!r} {err[:200]!r}")


def copy_of(scratch, name="mi300x-vf-healthy"):
    target = Path(scratch) / f"copy-{len(list(Path(scratch).iterdir()))}"
    shutil.copytree(MACHINES / name, target, symlinks=True)
    return target


GPU = "sysroot/sys/devices/pci0000:00/0000:00:04.0/0000:81:00.0"


def replaced(scratch, path, make):
    machine = copy_of(scratch)
    victim = machine / path
    if victim.is_symlink() or victim.exists():
        shutil.rmtree(victim) if victim.is_dir() and not victim.is_symlink() else victim.unlink()
    make(victim)
    return machine


def main():
    clear_error("unknown flag", "--no-such-flag")
    clear_error("unknown command", "frobnicate")
    clear_error("expectation without value", "--expect", "gpu_count")
    clear_error("expectation of an unknown key", "--expect", "gpus=8", word="gpu_count")
    clear_error("expectation of nonsense", "--expect", "gpu_count=-1")
    clear_error("expectation too large", "--expect", "gpu_count=99999999999999999999")
    clear_error("expected board unknown", "--expect", "board=mi3000x")
    clear_error("unknown format", "--format", "yaml")
    clear_error("unknown profile", "--profile", "fast")
    clear_error("budget of nothing", "--budget", "0")
    clear_error("missing machine folder", "--machine", "/nonexistent/machine", word="/nonexistent/machine")
    clear_error("machine is a file", "--machine", __file__)
    clear_error("missing specs folder", "--specs", "/nonexistent", "--machine", MACHINES / "mi300x-vf-healthy")
    clear_error("unknown code", "explain", "no.such.code")
    clear_error("capture without folder", "capture")
    with tempfile.TemporaryDirectory() as scratch:
        clear_error("capture into a folder in use", "capture", "--machine", MACHINES / "mi300x-vf-healthy", MACHINES, status=64)
        clear_error("output into a missing folder", "--machine", MACHINES / "mi300x-vf-healthy", "--output", f"{scratch}/no/such/report.json",
                    status=70)
        clear_error("output onto a folder", "--machine", MACHINES / "mi300x-vf-healthy", "--output", scratch, status=70)

        machine = copy_of(scratch)
        (machine / "nodes.json").write_text("[" * 100000)
        clear_error("nodes.json nested 100,000 deep", "--machine", machine)
        (machine / "nodes.json").write_text('[{"path": "/dev/kfd"')
        clear_error("nodes.json cut off", "--machine", machine)
        machine = copy_of(scratch)
        (machine / "process.json").write_bytes(b'{"uid": "root", "gids": 7, "env": [1,2,3]}\xff')
        clear_error("process.json of junk", "--machine", machine)

        def sparse(path):
            with open(path, "wb") as file:
                file.truncate(1 << 30)

        class_file = f"{GPU}/class"
        never_passes("1 GiB in place of the class", replaced(scratch, class_file, sparse))
        never_passes("1 GiB in place of the link width", replaced(scratch, f"{GPU}/current_link_width", sparse))
        never_passes("a FIFO in place of the vendor", replaced(scratch, f"{GPU}/vendor", os.mkfifo))
        never_passes("a FIFO in place of the link width", replaced(scratch, f"{GPU}/current_link_width", os.mkfifo))
        never_passes("a folder in place of the vendor", replaced(scratch, f"{GPU}/vendor", os.mkdir))
        never_passes("invalid UTF-8 in the driver's name", replaced(scratch, f"{GPU}/driver", lambda p: os.symlink(b"../\xff\xfe", bytes(p))))
        never_passes("binary junk in the KFD properties", replaced(
            scratch, "sysroot/sys/devices/virtual/kfd/kfd/topology/nodes/1/properties", lambda p: p.write_bytes(os.urandom(60000))))
        never_passes("a link out of the root in place of the GPU", replaced(
            scratch, "sysroot/sys/bus/pci/devices/0000:81:00.0", lambda p: os.symlink("../../../../../../../../../../../../sys", p)))
        never_passes("a link that is absolute", replaced(scratch, f"{GPU}/vendor", lambda p: os.symlink("/etc/hostname", p)))
        never_passes("a link to itself", replaced(scratch, f"{GPU}/vendor", lambda p: os.symlink("vendor", p)))

        code, out, err, seconds = run("--machine", MACHINES / "mi300x-hostile-sysfs")
        expect("no terminal escape reaches the terminal", "\x1b" not in out + err and code in (1, 2), f"status {code}")

        secret = "hunter2-planted-secret"
        machine = copy_of(scratch)
        process = json.loads((machine / "process.json").read_text())
        process["env"] = {"AWS_SECRET_ACCESS_KEY": secret, "NVIDIA_API_KEY": secret, "HIP_TOKEN": secret, "https_proxy": f"http://user:{secret}@proxy:3128"}
        (machine / "process.json").write_text(json.dumps(process))
        told = "".join(run("--machine", machine, "--format", f)[1] for f in ("text", "json", "junit", "html", "nagios", "prometheus"))
        told += run("list", "--machine", machine, "--json")[1]
        run("capture", "--machine", machine, f"{scratch}/captured")
        told += "".join(p.read_text(errors="replace") for p in Path(f"{scratch}/captured").rglob("*") if p.is_file() and not p.is_symlink())
        expect("secrets of the environment appear nowhere", secret not in told and "kfd" in told)

        full = subprocess.run([GPUCHECK, "--machine", str(MACHINES / "mi300x-vf-healthy")], stdout=open("/dev/full", "wb"),
                              stderr=subprocess.PIPE, env=ENV, timeout=20)
        expect("a full standard output is an error", full.returncode == 70 and full.stderr, f"status {full.returncode}")
        pipe = subprocess.Popen([GPUCHECK, "explain"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
        pipe.stdout.close()
        status = pipe.wait(timeout=20)
        expect("a closed pipe is no crash", status in (0, 70, -signal.SIGPIPE), f"status {status}")

        killed = subprocess.Popen([GPUCHECK, "capture", "--machine", str(MACHINES / "mi300x-x8-healthy"), f"{scratch}/half"], env=ENV,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.01)
        killed.kill()
        killed.wait()
        expect("a killed capture leaves no half folder under its name",
               not Path(f"{scratch}/half").exists() or (Path(f"{scratch}/half") / "captured.txt").exists())
    print(f"{len(PROBLEMS)} problems")
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    sys.exit(main())
