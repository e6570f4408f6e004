#!/usr/bin/env python3
"""The VM ring: a Debian that boots for real, cloud-init that installs the package, systemd that starts the units, a power cut, a receiver that
is down, another instance on the same disk. Judged by what the guest wrote and by what the receiver got.

usage: vm.py BUILD_DIR CPACK SOURCE_DIR [RELEASE...]
The image is kept in BUILD_DIR/vm. Skipped (77) without mmdebstrap, QEMU and root's rights, or where no package mirror answers.
"""
import gzip
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SOURCE = Path(sys.argv[3])
sys.path.insert(0, str(SOURCE / "tests/delivery"))
from receiver import Receiver, report_of  # noqa: E402
from vm_machine import HOST, Droplet, build_image, missing_tools, run  # noqa: E402

TOKEN = "ring-report-token"
BOOT = 400  # seconds, for ever: a guest boots, waits for GPUs that do not come, judges and powers off in 45 on an idle machine
problems, lock = [], threading.Lock()


def expect(what, fine, more=""):
    with lock:
        print(("ok   " if fine else "FAIL ") + what + ("" if fine else f": {str(more)[-6000:]}"), flush=True)
        if not fine:
            problems.append(what)


def replaced(text, *pairs):
    for old, new in pairs:
        assert text.count(old) >= 1, f"the example no longer holds {old}"
        text = text.replace(old, new)
    return text


def config(port, **more):
    sink = {"url": f"http://{HOST}:{port}/v1/reports", "insecure_http": True, "token_credential": "report-token"}
    return json.dumps({"sinks": [sink]} | more)


def drop_ins():
    """The timer of a test does not wait for minutes, and the console shows what the unit waits for."""
    files = {"/etc/systemd/system/gpucheck-report.timer.d/ring.conf": "[Timer]\nOnBootSec=\nOnUnitInactiveSec=\nRandomizedDelaySec=0\n"
                                                                     "OnBootSec=30\nOnUnitInactiveSec=5\nAccuracySec=1\n",
             "/etc/systemd/system/gpucheck-boot.service.d/ring.conf": "[Service]\nStandardError=journal+console\n"}
    return "".join(f"  - path: {path}\n    content: {json.dumps(text)}\n" for path, text in files.items())


def user_data(package, port):
    """cloud-init/examples/user-data-package-url.yaml with this package, this receiver, and a token."""
    text = (SOURCE / "cloud-init/examples/user-data-package-url.yaml").read_text()
    example = re.search(r"content: \|\n      \{.*?\n      \}\n", text, re.S).group(0)
    version = re.search(r"gpucheck_([\d.]+)_", text).group(1)
    token = f"  - path: /etc/gpucheck/token\n    permissions: '0600'\n    content: {TOKEN}\n"
    return replaced(text, (example, f"content: '{config(port, provider='digitalocean', instance_type='gpu-h100x8-640gb')}'\n"),
                    (f"https://packages.example.net/gpucheck_{version}_amd64.deb", "http://169.254.169.254/gpucheck.deb"),
                    ("0" * 64, hashlib.sha256(package.read_bytes()).hexdigest()), ("--proto =https", "--proto =http"),
                    ("write_files:\n", "write_files:\n" + token + drop_ins()),
                    ("      systemctl start --no-block gpucheck-boot.service", "      systemctl daemon-reload\n      systemctl start --no-block gpucheck-boot.service"))


def units_of(parts):
    units = {}
    for block in parts.get("units", "").split("\n\n"):
        values = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        units[values.get("Id")] = values
    return units


def reports(receiver):
    with receiver.lock:
        requests = list(receiver.requests)
    return [(headers, body, report_of(headers, body)) for headers, body in requests]


def codes(report):
    return [finding["code"] for finding in report["findings"]]


def multi_user_s(parts):
    return int(units_of(parts)["multi-user.target"]["ActiveEnterTimestampMonotonic"]) / 1e6


def judge_boot(name, parts, report, droplet_id):
    """What holds for each boot with a verdict."""
    units, verdict = units_of(parts), json.loads(parts["verdict"])
    expect(f"{name}: no cycle in the units' order", parts["cycles"] == "0", parts["cycles"])
    boot, multi = units["gpucheck-boot.service"], units["multi-user.target"]
    begun, reached = (int(x) for x in (boot["InactiveExitTimestampMonotonic"], multi["ActiveEnterTimestampMonotonic"]))
    expect(f"{name}: systemd started the unit, after the boot was done", 0 < reached <= begun, (reached, begun))
    expect(f"{name}: the verdict is of this report", verdict["report_id"] == report["report_id"], verdict)
    expect(f"{name}: provider and instance are right",
           (report["instance"]["provider"], report["instance"]["id"]) == ("digitalocean", str(droplet_id)), report["instance"])
    expect(f"{name}: it is a boot's report", report["profile"] == "boot" and report["readiness"] is not None, report["profile"])
    journal = json.loads(parts["journal"].splitlines()[-1])
    expect(f"{name}: the journal has the verdict as a field", journal["GPUCHECK_VERDICT"] == verdict["verdict"], journal)
    expect(f"{name}: the message of the day says it", verdict["line"].removeprefix("gpucheck: ").split(";")[0] in parts["motd"], parts["motd"])


def first_boot(gpucheck, droplet, receiver, scratch):
    droplet.start("ring=verdict")
    parts = droplet.ended(BOOT)
    got = reports(receiver)
    expect("first: the guest wrote what became of it", parts, droplet.text(droplet.console))
    expect("first: cloud-init fetched and installed the package",
           parts.get("packages", "").startswith("install ok installed") and "/gpucheck.deb" in droplet.metadata.asked, parts.get("packages"))
    expect("first: exactly one report came", len(got) == 1, ([h for h, _, _ in got], parts, droplet.text(droplet.console)))
    if not parts or not got:
        return None
    headers, body, report = got[0]
    judge_boot("first", parts, report, droplet.droplet_id)
    expect("first: eight GPUs were promised, none is there: fail", report["verdict"] == "fail" and report["gpu_count"]["expected"] == 8,
           (report["verdict"], codes(report)))
    expect("first: the console says it", "gpucheck: FAIL" in droplet.text(droplet.console), droplet.text(droplet.console))
    expect("first: the token came as a systemd credential", headers.get("authorization") == f"Bearer {TOKEN}", "no such header")
    (scratch / "envelope.json").write_bytes(gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body)
    (scratch / "key.pem").write_text(parts["public-key"] + "\n")
    signed = subprocess.run([gpucheck, "report", "verify", scratch / "envelope.json", "--key", scratch / "key.pem"], capture_output=True, text=True)
    expect("first: it is signed by this machine's key", signed.returncode == 0, signed.stderr + parts["public-key"])
    units = units_of(parts)
    expect("first: the gate is shut and the workload does not run", units["gpucheck-passed.target"]["ActiveState"] == "inactive"
           and units["training.service"]["ActiveState"] == "inactive", units)
    expect("first: cloud-init ended without errors", json.loads(parts["cloud-init"])["v1"]["errors"] == [], parts["cloud-init"])
    exposure = [float(x) for x in re.findall(r"(\d+\.\d+)", parts["exposure"])]
    print("     " + parts["exposure"].replace("\n", "\n     "))
    expect("first: what the units expose", len(exposure) == 2 and exposure[0] <= 5.0 and exposure[1] <= 3.0, parts["exposure"])
    expect("first: state, config and token are root's alone", re.search(r"^/var/lib/gpucheck 700 root$", parts["state"], re.M)
           and re.search(r"^/etc/gpucheck/token 600 root$", parts["state"], re.M), parts["state"])
    everything = json.dumps(report) + "".join(parts.values()) + droplet.text(droplet.console)
    expect("first: no secret is in report, journal or console", "SECRET-" not in everything and TOKEN not in everything)
    return report


def outage_and_power_cut(droplet, receiver, first):
    """The same instance again: no receiver, then a power cut."""
    port = receiver.port
    receiver.close()
    droplet.start("ring=flushed")
    expect("outage: the verdict is there without a receiver", droplet.says("RING: the boot's verdict is there", BOOT), droplet.text(droplet.console))
    later = Receiver(remember=True, port=port)
    parts = droplet.ended(BOOT)
    got = reports(later)
    expect("outage: the report was spooled, and the timer delivered it", parts.get("spooled") == "1" and parts.get("spooled-later") == "0" and len(got) == 1,
           (parts.get("spooled"), parts.get("spooled-later"), len(got)))
    second = got[0][2] if got else None
    if second and parts:
        judge_boot("outage", parts, second, droplet.droplet_id)
        expect("outage: another boot, another report", second["report_id"] != first["report_id"] and second["boot_id"] != first["boot_id"])

    droplet.start("ring=verdict")
    expect("power cut: it waits for its GPUs", droplet.says("promised are on the bus", BOOT), droplet.text(droplet.console))
    time.sleep(1)
    droplet.cut_power()
    before = len(reports(later))
    droplet.start("ring=verdict")
    parts = droplet.ended(BOOT)
    got = reports(later)[before:]
    expect("after the cut: one report came", len(got) == 1 and parts, (len(got), droplet.text(droplet.console)))
    if got and parts:
        third = got[0][2]
        judge_boot("after the cut", parts, third, droplet.droplet_id)
        told = [f for f in third["findings"] if f["code"] == "boot.interrupted"]
        expect("after the cut: it tells of the run that did not end, and where", len(told) == 1 and "waiting for drivers" in json.dumps(told), codes(third))
        ids = [r["report_id"] for _, _, r in reports(later)] + [first["report_id"]]
        expect("every report came once", len(set(ids)) == len(ids), ids)
    later.close()


def opt_out_and_another_instance(droplet, receiver):
    """A copy of the disk: first told to keep out, then a clone that is another instance and promises no GPU."""
    before = len(reports(receiver))
    droplet.start("ring=verdict gpucheck=off")
    without = droplet.ended(BOOT)
    units = units_of(without)
    expect("opted out: nothing ran, nothing came, the gate is shut", without and len(reports(receiver)) == before and without["verdict"].endswith("No such file or directory")
           and units["gpucheck-passed.target"]["ActiveState"] == "inactive" and units["training.service"]["ActiveState"] == "inactive",
           without or droplet.text(droplet.console))

    droplet.droplet_id = 900000002
    text = "#cloud-config\nwrite_files:\n  - path: /etc/gpucheck/config.json\n    permissions: '0600'\n"
    text += f"    content: '{config(receiver.port, expect={'gpu_count': 0})}'\n" + drop_ins()
    droplet.seed("ring-2", text)
    droplet.start("ring=verdict")
    parts = droplet.ended(BOOT)
    got = reports(receiver)[before:]
    expect("another instance: validated again, once", len(got) == 1 and parts, (len(got), droplet.text(droplet.console)))
    if not got or not parts or not without:
        return
    report, units = got[0][2], units_of(parts)
    judge_boot("another instance", parts, report, 900000002)
    expect("another instance: no GPU on a bus that was looked at, where none is promised, is a pass", report["verdict"] == "pass",
           (report["verdict"], codes(report)))
    expect("another instance: the gate is open and the workload runs",
           units["gpucheck-passed.target"]["ActiveState"] == "active" and units["training.service"]["ActiveState"] == "active", units)
    print(f"     multi-user.target after {multi_user_s(parts):.1f} s with gpucheck, {multi_user_s(without):.1f} s without", flush=True)
    # Shown and not judged: that nothing waits for the unit is shown above by the order, and seconds are those of whatever else runs here.


def checked(part, *arguments):
    """A thread that dies of an answer it did not expect is a failure too."""
    try:
        part(*arguments)
    except Exception as error:  # noqa: BLE001
        expect(f"{part.__name__} came to its end", False, repr(error))


def ring(build, cpack, release, scratch):
    begun = time.monotonic()
    run(cpack, "-G", "DEB", "-B", scratch, cwd=build, timeout=120)
    package = next(p for p in scratch.glob("gpucheck_*.deb"))
    try:
        image = build_image(build / "vm", release, 300)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        print(f"skipped: no image of {release}: {error}")
        return False
    print(f"     {release}: image after {time.monotonic() - begun:.0f} s", flush=True)
    gpucheck = build / "agent/gpucheck"
    receiver = Receiver(remember=True)
    droplet = Droplet(scratch / "droplet", image, 900000001, package)
    droplet.seed("ring-1", user_data(package, receiver.port))
    first = first_boot(gpucheck, droplet, receiver, scratch)
    if not first:
        return True
    other_receiver = Receiver(remember=True)
    clone = Droplet(scratch / "clone", image, 900000001, package, disk=droplet.disk)
    clone.seed("ring-1", user_data(package, other_receiver.port))
    other = threading.Thread(target=checked, args=(opt_out_and_another_instance, clone, other_receiver))
    other.start()
    checked(outage_and_power_cut, droplet, receiver, first)
    other.join()
    print(f"     {release}: {time.monotonic() - begun:.0f} s in all", flush=True)
    return True


def main():
    build, cpack = Path(sys.argv[1]).resolve(), sys.argv[2]
    if missing := missing_tools():
        print(f"skipped: no {', '.join(missing)}")
        return 77
    ran = False
    for release in sys.argv[4:] or ["bookworm"]:
        with tempfile.TemporaryDirectory(dir=build) as scratch:
            ran = ring(build, cpack, release, Path(scratch)) or ran
    print(f"{len(problems)} problems")
    return 1 if problems else 0 if ran else 77


if __name__ == "__main__":
    sys.exit(main())
