"""Debian in a virtual machine that looks like a DigitalOcean droplet: image, seed, metadata service, console. QEMU by TCG alone, so that it
runs wherever the tests do."""
import hashlib
import http.server
import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

HOST = "169.254.169.1"  # this machine, seen from the guest
GUEST = Path(__file__).with_name("guest")
PACKAGES = ("systemd-sysv,udev,dbus,cloud-init,linux-image-cloud-amd64,initramfs-tools,zstd,iproute2,curl,ca-certificates,libssl3,"
            "netplan.io,locales,openssh-server")
LEAN = [f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in ("man", "locale", "doc")]
# The guest has no network but this machine: what would fetch or generate is left as the image has it.
SETTINGS = "locale: C.UTF-8\napt: {preserve_sources_list: true}\nssh_deletekeys: false\n"


def missing_tools():
    tools = ["mmdebstrap", "qemu-system-x86_64", "qemu-img", "mke2fs", "genisoimage", "dpkg-deb"]
    return [tool for tool in tools if not shutil.which(tool)] + ([] if os.geteuid() == 0 else ["root's rights"])


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stdout[-1000:]}{done.stderr[-3000:]}")
    return done.stdout


def build_image(folder, release, timeout):
    """A root file system with kernel and initrd, kept in `folder`, and made anew when what goes into it changed."""
    recipe = " ".join([release, PACKAGES, SETTINGS, *LEAN]) + "".join(p.read_text() for p in sorted(GUEST.iterdir()))
    recipe += Path(__file__).read_text()
    key = hashlib.sha256(recipe.encode()).hexdigest()[:16]
    image = folder / f"{release}-{key}"
    if (image / "disk.raw").exists():
        return image
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    root = work / "root"
    run("mmdebstrap", "--quiet", "--variant=minbase", '--aptopt=APT::Install-Recommends "false"', f"--include={PACKAGES}", *LEAN, release, root,
        timeout=timeout)
    for name, place, mode in (("ring-probe", "usr/local/bin", 0o755), ("ring-probe.service", "etc/systemd/system", 0o644),
                              ("training.service", "etc/systemd/system", 0o644)):
        target = root / place / name
        shutil.copyfile(GUEST / name, target)
        target.chmod(mode)
    for unit, wanting in (("ring-probe.service", "multi-user.target"), ("training.service", "gpucheck-passed.target")):
        wants = root / f"etc/systemd/system/{wanting}.wants"
        wants.mkdir(parents=True, exist_ok=True)
        (wants / unit).symlink_to(f"../{unit}")
    (root / "etc/cloud/cloud.cfg.d/99_ring.cfg").write_text(SETTINGS)
    (root / "etc/hostname").write_text("gpu-node-01\n")
    for name in ("vmlinuz", "initrd.img"):
        shutil.copyfile(root / name, work / name)
    run("mke2fs", "-q", "-t", "ext4", "-d", root, work / "disk.part", "1800M", timeout=300)
    shutil.rmtree(root)
    (work / "disk.part").rename(work / "disk.raw")
    shutil.rmtree(image, ignore_errors=True)
    work.rename(image)
    return image


class Metadata:
    """DigitalOcean's metadata service, and the package's URL. What the guest asked for is in `asked`."""

    def __init__(self, droplet_id, package):
        self.droplet_id, self.package, self.asked = droplet_id, package, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                body = outer.answer(self.path)
                self.send_response(200 if body is not None else 404)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, path):
        if path == "/gpucheck.deb":
            return self.package.read_bytes()
        if path == "/metadata/v1.json":
            return json.dumps({"droplet_id": self.droplet_id, "hostname": "gpu-node-01", "region": "nyc3", "user_data": "SECRET-IN-USER-DATA",
                               "auth_key": "SECRET-AUTH-KEY", "interfaces": {}, "tags": None}).encode()
        return None


RELAY = """
import socket, sys, threading
far = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
def up():
    while chunk := sys.stdin.buffer.raw.read(65536):
        far.sendall(chunk)
    far.shutdown(socket.SHUT_WR)
threading.Thread(target=up, daemon=True).start()
while chunk := far.recv(65536):
    sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()
"""


class Droplet:
    """One instance: its disk stays from boot to boot."""

    def __init__(self, folder, image, droplet_id, package, disk=None):
        folder.mkdir(parents=True)
        self.folder, self.image, self.droplet_id = folder, image, droplet_id
        self.disk = folder / "disk.qcow2"
        if disk:
            shutil.copyfile(disk, self.disk)
        else:
            run("qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", (image / "disk.raw").resolve(), self.disk)
        self.metadata = Metadata(droplet_id, package)
        (folder / "relay.py").write_text(RELAY)
        self.boots = 0

    def seed(self, instance_id, user_data):
        (self.folder / "user-data").write_text(user_data)
        run("sh", GUEST.parent.parent.parent / "cloud-init/nocloud-seed.sh", self.folder / "seed.img", self.folder / "user-data", instance_id)

    def start(self, wish):
        """Boots; `wish` is what the probe in the guest waits for."""
        self.boots += 1
        self.console, self.probe = (self.folder / f"{name}-{self.boots}.log" for name in ("console", "probe"))
        self.metadata.droplet_id = self.droplet_id
        relay = shlex.join([sys.executable, str(self.folder / "relay.py"), str(self.metadata.port)])
        network = f"user,id=n,net=169.254.169.0/24,host={HOST},guestfwd=tcp:169.254.169.254:80-cmd:{relay}"
        command = ["qemu-system-x86_64", "-M", "q35", "-accel", "tcg,thread=multi", "-smp", "2", "-m", "768", "-display", "none", "-no-reboot",
                   "-kernel", self.image / "vmlinuz", "-initrd", self.image / "initrd.img",
                   "-append", f"root=/dev/vda rw console=ttyS0 quiet mitigations=off systemd.show_status=0 {wish}",
                   "-drive", f"file={self.disk},if=virtio,format=qcow2", "-drive", f"file={self.folder}/seed.img,if=virtio,format=raw,readonly=on",
                   "-netdev", network, "-device", "virtio-net-pci,netdev=n,romfile=",
                   "-smbios", "type=0,vendor=DigitalOcean", "-smbios", f"type=1,manufacturer=DigitalOcean,product=Droplet,serial={self.droplet_id}",
                   "-serial", f"file:{self.console}", "-serial", f"file:{self.probe}"]
        self.started = time.monotonic()
        self.qemu = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=open(self.folder / "qemu.log", "w"))

    def says(self, text, timeout):
        """Waits until the console shows `text`."""
        end = time.monotonic() + timeout
        while time.monotonic() < end and self.qemu.poll() is None:
            if text in self.text(self.console):
                return True
            time.sleep(0.2)
        return text in self.text(self.console)

    def cut_power(self):
        self.qemu.kill()
        self.qemu.wait()

    def ended(self, timeout):
        """What the probe wrote, by part; {} when the guest did not power off."""
        try:
            self.qemu.wait(timeout)
        except subprocess.TimeoutExpired:
            self.cut_power()
            return {}
        parts, name = {}, None
        for line in self.text(self.probe).splitlines():
            if line.startswith("=== "):
                name = line[4:]
                parts[name] = []
            elif name:
                parts[name].append(line)
        return {part: "\n".join(lines).strip() for part, lines in parts.items()} if "end" in parts else {}

    @staticmethod
    def text(path):
        return path.read_text(errors="replace").replace("\r", "") if path.exists() else ""
