"""Builders for the recorded machines of this folder: the parts that author.py puts together.

Paths, formats and spellings are those of real kernels and drivers; numbers, addresses and ids are our own.
"""
import json
import os
import re
import shutil
import struct
from pathlib import Path

from amd_files import telemetry_files

HERE = Path(__file__).resolve().parent
NOW = "2026-11-30T10:00:00Z"


class Machine:
    """One machine under construction: files by path, links, device nodes, the judged process."""

    def __init__(self, readme, uid=0, gids=(0,), env=None, uptime=120.0, expect=None, filesystems=None):
        self.readme = readme
        self.files, self.links, self.nodes = {}, {}, []
        self.process = {"uid": uid, "gids": list(gids), "env": env or {}, "now": NOW, "uptime_s": uptime}
        self.process["filesystems"] = filesystems or {
            "/": {"total_bytes": 1 << 40, "free_bytes": 1 << 39},
            "/boot": {"total_bytes": 2 << 30, "free_bytes": 1 << 30},
            "/var": {"total_bytes": 1 << 40, "free_bytes": 1 << 39},
            "/tmp": {"total_bytes": 1 << 40, "free_bytes": 1 << 39},
        }
        self.expect = {"gpu_count": 1} if expect is None else expect
        self.captured = None
        self.metadata = None
        self.kernel_log = ""

    def file(self, path, content):
        if isinstance(content, str) and content and not content.endswith("\n"):
            content += "\n"
        self.files[path] = content if isinstance(content, bytes) else content.encode()
        return self

    def drop(self, pattern):
        for table in (self.files, self.links):
            for path in [p for p in table if re.search(pattern, p)]:
                del table[path]
        self.nodes = [n for n in self.nodes if not re.search(pattern, n["path"])]
        return self

    def link(self, path, target):
        """A link to the absolute path `target`, written relative."""
        self.links[path] = os.path.relpath(target, os.path.dirname(path))
        return self

    def node(self, path, major, minor, mode="0666", uid=0, gid=0, open_="ok", type_="char"):
        self.nodes = [n for n in self.nodes if n["path"] != path]
        self.nodes.append({"path": path, "type": type_, "major": major, "minor": minor, "mode": mode, "uid": uid,
                           "gid": gid, "open": open_})
        return self

    def node_change(self, path, **changes):
        for node in self.nodes:
            if node["path"] == path:
                node.update({k.rstrip("_"): v for k, v in changes.items()})
                return self
        raise KeyError(path)

    def unreadable(self, path, error):
        self.nodes.append({"path": path, "type": "file", "mode": "0444", "uid": 0, "gid": 0, "open": "ok", "read": error})
        return self

    def write(self, name):
        folder = HERE / name
        kept = (folder / "expected.json").read_text() if (folder / "expected.json").exists() else None
        # What NVML answered is captured through the fake library from the scenario beside it (answers.py), not written here.
        answers = {n: (folder / n).read_bytes() for n in ("vendor.json", "scenario.json") if (folder / n).exists()}
        if folder.exists():
            shutil.rmtree(folder)
        root = folder / "sysroot"
        root.mkdir(parents=True)
        for path, content in self.files.items():
            target = root / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        for path, target in self.links.items():
            place = root / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(target)
        title = name.replace("-", " ")
        (folder / "README.md").write_text(f"# {title}\n\n{self.readme.strip()}\n")
        (folder / "process.json").write_text(json.dumps(self.process, indent=2) + "\n")
        rows = ",\n  ".join(json.dumps(n) for n in sorted(self.nodes, key=lambda n: n["path"]))
        (folder / "nodes.json").write_text(f"[\n  {rows}\n]\n" if rows else "[]\n")
        (folder / "kernel.log").write_text(self.kernel_log)
        if self.captured is not None:
            (folder / "captured.txt").write_text("\n".join(self.captured) + "\n")
        if self.metadata is not None:
            (folder / "metadata.json").write_text(json.dumps(self.metadata, indent=2) + "\n")
        for answer, content in answers.items():
            (folder / answer).write_bytes(content)
        expected = json.loads(kept) if kept else {"verdict": "unknown", "findings": []}
        expected["expect_options"] = self.expect
        (folder / "expected.json").write_text(json.dumps(expected, indent=2) + "\n")


# ---------------------------------------------------------------- the machine around the GPUs

RELEASE = "6.8.0-55-generic"


def host(m, release=RELEASE, vm=None, os_id="ubuntu", cmdline="ro console=ttyS0", cpu="AuthenticAMD", numa_nodes=1):
    """Kernel, OS, DMI, CPU. `vm` is (sys_vendor, product_name) of a virtual machine, None for bare metal."""
    names = {"ubuntu": ("Ubuntu 24.04.2 LTS", "24.04"), "debian": ("Debian GNU/Linux 12 (bookworm)", "12"),
             "jammy": ("Ubuntu 22.04.5 LTS", "22.04"), "rhel": ("Red Hat Enterprise Linux 9.4 (Plow)", "9.4")}
    pretty, version = names[os_id]
    ident = "ubuntu" if os_id == "jammy" else os_id
    m.release = release
    m.file("/proc/sys/kernel/osrelease", release)
    m.file("/proc/version", f"Linux version {release} (builder@host) (gcc 13.3.0) #57 SMP PREEMPT_DYNAMIC")
    m.file("/proc/cmdline", f"BOOT_IMAGE=/boot/vmlinuz-{release} root=LABEL=rootfs {cmdline}")
    m.file("/usr/lib/os-release", f'NAME="{pretty.split()[0]}"\nID={ident}\nVERSION_ID="{version}"\nPRETTY_NAME="{pretty}"\n')
    m.link("/etc/os-release", "/usr/lib/os-release")
    m.link("/lib", "/usr/lib")
    m.file("/etc/hostname", "gpu-node-01")
    m.file("/etc/group", "root:x:0:\nadm:x:4:\nvideo:x:44:\nrender:x:109:\nuser:x:1000:\n")
    m.file("/proc/sys/kernel/random/boot_id", "00000000-0000-4000-8000-000000000001")
    m.file("/proc/uptime", f"{m.process['uptime_s']} 900.00")
    m.file("/proc/sys/kernel/tainted", "0")
    m.file("/proc/sys/kernel/numa_balancing", "0")
    m.file("/proc/meminfo", "MemTotal:       2113495040 kB\nMemFree:        2081048576 kB\nMemAvailable:   2079524864 kB\n")
    flags = "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov sse sse2 ht syscall nx rdtscp lm pni avx2"
    if vm:
        flags += " hypervisor"
    model = "AMD EPYC 9554 64-Core Processor" if cpu == "AuthenticAMD" else "Intel(R) Xeon(R) Platinum 8480+"
    m.file("/proc/cpuinfo", "".join(f"processor\t: {i}\nvendor_id\t: {cpu}\nmodel name\t: {model}\nflags\t\t: {flags}\n\n"
                                   for i in range(2)))
    m.file("/proc/1/comm", "systemd")
    m.file("/sys/devices/system/cpu/online", "0-1")
    m.file("/sys/devices/system/node/online", "0" if numa_nodes == 1 else f"0-{numa_nodes - 1}")
    vendor, product = vm or ("Supermicro", "AS -8125GS-TNMR2")
    for key, text in {"sys_vendor": vendor, "product_name": product, "board_vendor": vendor, "bios_vendor": vendor,
                      "chassis_vendor": vendor, "chassis_asset_tag": "None"}.items():
        m.file(f"/sys/devices/virtual/dmi/id/{key}", text)
    m.link("/sys/class/dmi/id", "/sys/devices/virtual/dmi/id")
    m.file("/run/systemd/timesync/synchronized", "")
    m.file("/proc/devices", "Character devices:\n  1 mem\n  5 /dev/tty\n226 drm\n\nBlock devices:\n259 blkext\n")
    m.file("/proc/modules", "")
    m.file("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids")
    m.file("/sys/fs/cgroup/system.slice/systemd-journald.service/cgroup.procs", "611")
    return m


DO = ("DigitalOcean", "Droplet")
KVM = ("QEMU", "Standard PC (Q35 + ICH9, 2009)")
AWS = ("Amazon EC2", "g5.xlarge")


def module_loaded(m, name, version=None, params=None, kofile=None):
    base = f"/sys/module/{name}"
    m.file(f"{base}/initstate", "live")
    m.file(f"{base}/refcnt", "0")
    m.file(f"{base}/taint", "OE" if version else "")
    m.file(f"{base}/srcversion", "8F3A1C0D5B7E92A4C6D1E0F")
    if version:
        m.file(f"{base}/version", version)
    for key, value in (params or {}).items():
        m.file(f"{base}/parameters/{key}", value)
    m.files["/proc/modules"] = m.files["/proc/modules"] + f"{name} 1949696 0 - Live 0x0000000000000000\n".encode()
    return m


def module_file(m, *paths):
    """Module files of the running kernel, relative to /lib/modules/RELEASE."""
    base = f"/usr/lib/modules/{m.release}"
    m.file(f"{base}/modules.order", "kernel/drivers/net/virtio_net.ko")
    m.file(f"{base}/modules.dep", "kernel/drivers/net/virtio_net.ko:\n" + "".join(f"{p}:\n" for p in paths))
    for path in paths:
        m.file(f"{base}/{path}", "placeholder for a kernel module")
    return m


def dkms_tree(m, module, version, built=True, installed=True, source=True):
    tree = f"/var/lib/dkms/{module}/{version}"
    if source:
        m.file(f"/usr/src/{module}-{version}/dkms.conf", f'PACKAGE_NAME="{module}"\nPACKAGE_VERSION="{version}"\n')
    m.link(f"{tree}/source", f"/usr/src/{module}-{version}")
    if built:
        m.file(f"{tree}/{m.release}/x86_64/module/{module}.ko", "placeholder for a kernel module")
        m.file(f"{tree}/{m.release}/x86_64/log/make.log", "make: done")
    if installed:
        m.link(f"/var/lib/dkms/{module}/kernel-{m.release}-x86_64", f"{tree}/{m.release}/x86_64")
    return m


# ---------------------------------------------------------------- PCI

AER_COR = "RxErr {0}\nBadTLP 0\nBadDLLP 0\nRollover 0\nTimeout 0\nNonFatalErr 0\nCorrIntErr 0\nHeaderOF 0\nTOTAL_ERR_COR {0}\n"
AER_UNC = ("Undefined 0\nDLP 0\nSDES 0\nTLP 0\nFCP 0\nCmpltTO {0}\nCmpltAbrt 0\nUnxCmplt 0\nRxOF 0\nMalfTLP 0\nECRC 0\n"
           "UnsupReq 0\nACSViol 0\nUncorrIntErr 0\nBlockedTLP 0\nAtomicOpBlocked 0\nTLPBlockedErr 0\nPoisonTLPBlocked 0\n"
           "TOTAL_ERR_{1} {0}\n")
GEN = {1: "2.5 GT/s PCIe", 2: "5.0 GT/s PCIe", 3: "8.0 GT/s PCIe", 4: "16.0 GT/s PCIe", 5: "32.0 GT/s PCIe", 6: "64.0 GT/s PCIe"}


def link_files(m, path, speed, width, max_speed=None, max_width=None):
    m.file(f"{path}/current_link_speed", GEN.get(speed, speed))
    m.file(f"{path}/current_link_width", str(width))
    m.file(f"{path}/max_link_speed", GEN.get(max_speed or speed, max_speed or speed))
    m.file(f"{path}/max_link_width", str(max_width or width))


def aer_files(m, path, correctable=0, nonfatal=0, fatal=0):
    m.file(f"{path}/aer_dev_correctable", AER_COR.format(correctable))
    m.file(f"{path}/aer_dev_nonfatal", AER_UNC.format(nonfatal, "NONFATAL"))
    m.file(f"{path}/aer_dev_fatal", AER_UNC.format(fatal, "FATAL"))


def config_space(vendor, device, class_code, cap=(5, 16), sta=(5, 16), target=5, autonomous_off=False):
    """256 bytes with a PCI Express capability at 0x60: what root reads."""
    data = bytearray(256)
    struct.pack_into("<HHHH", data, 0, vendor, device, 0x0406, 0x0010)
    struct.pack_into("<I", data, 8, (class_code << 8) | 0xa1)
    data[0x34] = 0x60
    data[0x60:0x62] = bytes((0x10, 0x00))
    struct.pack_into("<H", data, 0x62, 0x0002)                       # capability version 2, endpoint
    struct.pack_into("<I", data, 0x60 + 0x0c, cap[0] | (cap[1] << 4))    # LnkCap
    struct.pack_into("<H", data, 0x60 + 0x12, sta[0] | (sta[1] << 4))    # LnkSta
    struct.pack_into("<H", data, 0x60 + 0x30, target | (0x20 if autonomous_off else 0))  # LnkCtl2
    return bytes(data)


def function(m, chain, vendor, device, class_code, driver=None, sub=None, revision=None):
    """One PCI function; `chain` is its BDFs from the root port down. Returns its sysfs folder."""
    domain_bus = chain[0].rsplit(":", 1)[0]
    path = f"/sys/devices/pci{domain_bus}/" + "/".join(chain)
    bdf = chain[-1]
    m.file(f"{path}/vendor", f"0x{vendor:04x}")
    m.file(f"{path}/device", f"0x{device:04x}")
    m.file(f"{path}/class", f"0x{class_code:06x}")
    if sub:
        m.file(f"{path}/subsystem_vendor", f"0x{sub[0]:04x}")
        m.file(f"{path}/subsystem_device", f"0x{sub[1]:04x}")
    if revision:
        m.file(f"{path}/revision", revision)
    m.link(f"/sys/bus/pci/devices/{bdf}", path)
    if driver:
        m.link(f"{path}/driver", f"/sys/bus/pci/drivers/{driver}")
    return path


def port(m, chain, vendor=0x8086, device=0x352a, speed=5, width=16, max_speed=None, max_width=None, aer=True):
    path = function(m, chain, vendor, device, 0x060400, "pcieport")
    link_files(m, path, speed, width, max_speed, max_width)
    if aer:
        aer_files(m, path)
    return path


def gpu_function(m, chain, vendor, device, class_code, driver, sub, speed=5, width=16, max_speed=None, max_width=None,
                 numa=0, aer=True, bar_gib=128, config=None):
    path = function(m, chain, vendor, device, class_code, driver, sub, "0xa1")
    link_files(m, path, speed, width, max_speed, max_width)
    if aer:
        aer_files(m, path)
    m.file(f"{path}/numa_node", str(numa))
    m.file(f"{path}/enable", "1" if driver else "0")
    m.file(f"{path}/power_state", "D0")
    m.file(f"{path}/power/runtime_status", "active")
    base = 0x4000000000 + 0x4000000000 * (int(chain[-1].split(":")[1], 16))
    m.file(f"{path}/resource", f"0x{base:016x} 0x{base + bar_gib * (1 << 30) - 1:016x} 0x000000000014220c\n"
           + "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
           + "0x00000000fc000000 0x00000000fcffffff 0x0000000000040200\n")
    m.file(f"{path}/config", config or config_space(vendor, device, class_code, (speed if isinstance(speed, int) else 5, 16),
                                                    (speed if isinstance(speed, int) else 5, 16))[:64])
    return path


def bmc(m):
    path = function(m, ["0000:00:1c.0", "0000:02:00.0"], 0x1a03, 0x2000, 0x030000, "ast")
    m.file(f"{path}/drm/card0/dev", "226:0")
    m.link("/sys/class/drm/card0", f"{path}/drm/card0")
    m.node("/dev/dri/card0", 226, 0, "0660", gid=44)
    return m


def virtual_display(m):
    path = function(m, ["0000:00:01.0"], 0x1234, 0x1111, 0x030000, "bochs-drm", (0x1af4, 0x1100))
    m.file(f"{path}/drm/card0/dev", "226:0")
    m.link("/sys/class/drm/card0", f"{path}/drm/card0")
    m.node("/dev/dri/card0", 226, 0, "0660", gid=44)
    function(m, ["0000:00:03.0"], 0x1af4, 0x1000, 0x020000, "virtio-pci", (0x1af4, 0x0001))
    return m


def chain_for(index, guest=False):
    """Root port, switch port, GPU on bare metal; an emulated root port and the GPU in a guest."""
    if guest:
        return [f"0000:00:{4 + index:02x}.0", f"0000:{0x81 + index:02x}:00.0"]
    root = 0x15 + 0x10 * index
    return [f"0000:{root:02x}:01.0", f"0000:{root + 2:02x}:01.0", f"0000:{root + 4:02x}:00.0"]


def ports_above(m, chain, guest=False, speed=5, width=16):
    if guest:
        port(m, chain[:1], 0x1b36, 0x000c, speed, width, aer=False)
        return
    port(m, chain[:1], 0x8086, 0x352a, speed, width)
    port(m, chain[:2], 0x1000, 0xc030, speed, width, aer=False)


# ---------------------------------------------------------------- NVIDIA

NVIDIA_DEVICES = ("Character devices:\n  1 mem\n  5 /dev/tty\n195 nvidia\n195 nvidiactl\n226 drm\n235 nvidia-caps\n"
                  "510 nvidia-uvm\n\nBlock devices:\n259 blkext\n")


def nvidia_driver(m, version="570.133.20", open_module=True, dkms=True, uvm=True):
    if open_module:
        banner = f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {version}  Release Build  (builder@host)  Mon Apr 14 05:13:01 UTC 2025"
    else:
        banner = f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Mon Apr 14 05:13:01 UTC 2025"
    m.file("/proc/driver/nvidia/version", banner + "\nGCC version:  gcc version 13.3.0\n")
    m.file("/proc/driver/nvidia/params", "ModifyDeviceFiles: 1\nDeviceFileUID: 0\nDeviceFileGID: 0\nDeviceFileMode: 438\n")
    m.file("/proc/devices", NVIDIA_DEVICES)
    for name in ("nvidia", "nvidia_modeset", "nvidia_drm") + (("nvidia_uvm",) if uvm else ()):
        module_loaded(m, name, version)
    module_file(m, *[f"updates/dkms/{n}.ko" for n in ("nvidia", "nvidia-uvm", "nvidia-modeset", "nvidia-drm")])
    if dkms:
        dkms_tree(m, "nvidia", version)
    libraries(m, version)
    m.node("/dev/nvidiactl", 195, 255)
    if uvm:
        m.node("/dev/nvidia-uvm", 510, 0).node("/dev/nvidia-uvm-tools", 510, 1)
    m.file(f"/usr/lib/firmware/nvidia/{version}/gsp_ga10x.bin", "placeholder for firmware")
    return m


def unit(m, name, processes=(), enabled=True):
    """A service of systemd: its unit file, the link that starts it, and its processes' cgroup (none: it does not run)."""
    m.file(f"/usr/lib/systemd/system/{name}", f"[Unit]\nDescription={name}\n[Service]\nExecStart=/usr/bin/{name.split('.')[0]}\n")
    if enabled:
        m.link(f"/etc/systemd/system/multi-user.target.wants/{name}", f"/usr/lib/systemd/system/{name}")
    if processes:
        m.file(f"/sys/fs/cgroup/system.slice/{name}/cgroup.procs", "".join(f"{p}\n" for p in processes))
    return m


def libraries(m, version, folder="/usr/lib/x86_64-linux-gnu"):
    for soname in ("libcuda.so.1", "libnvidia-ml.so.1"):
        stem = soname[:-2]
        m.file(f"{folder}/{stem}.{version}", "placeholder for a vendor library")
        m.link(f"{folder}/{soname}", f"{folder}/{stem}.{version}")
    m.file("/etc/ld.so.conf.d/x86_64-linux-gnu.conf", "/usr/local/lib/x86_64-linux-gnu\n/lib/x86_64-linux-gnu\n/usr/lib/x86_64-linux-gnu\n")
    m.file("/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf")


def nvidia_gpu(m, index, device=0x2330, sub=0x16c1, model="NVIDIA H100 80GB HBM3", guest=False, driver="nvidia",
               version="570.133.20", nodes=True, chain=None, bare_ports=True, excluded="No", class_code=0x030200, **link):
    chain = chain or chain_for(index, guest)
    if bare_ports:
        ports_above(m, chain, guest)
    path = gpu_function(m, chain, 0x10de, device, class_code, driver, (0x10de, sub), aer=not guest,
                        numa=-1 if guest else 0, **link)
    if driver == "nvidia" and nodes:
        bdf = chain[-1]
        m.file(f"/proc/driver/nvidia/gpus/{bdf}/information",
               f"Model: \t\t {model}\nIRQ:   \t\t {57 + index}\nGPU UUID: \t GPU-00000000-0000-0000-0000-{index + 1:012d}\n"
               f"Video BIOS: \t 96.00.74.00.01\nBus Type: \t PCIe\nBus Location: \t {bdf}\nDevice Minor: \t {index}\n"
               f"GPU Firmware: \t {version}\nGPU Excluded:\t {excluded}\n")
        m.node(f"/dev/nvidia{index}", 195, index)
    return path


def nvswitches(m, count=4):
    for i in range(count):
        path = function(m, ["0000:80:01.0", f"0000:82:{i:02x}.0", f"0000:{0x83 + i:02x}:00.0"], 0x10de, 0x22a3,
                        0x068000, "nvidia-nvswitch", (0x10de, 0x1796))
        link_files(m, path, 4, 2)
    return m


def hgx(readme, count=8, version="570.133.20", device=0x2330, sub=0x16c1, model="NVIDIA H100 80GB HBM3", **machine):
    m = Machine(readme, expect=machine.pop("expect", {"gpu_count": 8}), **machine)
    host(m, cpu="GenuineIntel", cmdline="ro iommu=pt pci=realloc=off", numa_nodes=2)
    bmc(m)
    nvidia_driver(m, version)
    nvswitches(m)
    unit(m, "nvidia-fabricmanager.service", (1411,))
    unit(m, "nvidia-persistenced.service", (1398,))
    for i in range(count):
        nvidia_gpu(m, i, device, sub, model, version=version)
    return m


def nvidia_guest(readme, device=0x2330, sub=0x16c1, model="NVIDIA H100 80GB HBM3", vm=KVM, count=1, version="570.133.20",
                 link=None, class_code=0x030200, **machine):
    m = Machine(readme, **machine)
    host(m, vm=vm)
    virtual_display(m)
    nvidia_driver(m, version)
    for i in range(count):
        nvidia_gpu(m, i, device, sub, model, guest=True, version=version, class_code=class_code, **(link or {}))
    return m


# ---------------------------------------------------------------- AMD

KFD = "/sys/devices/virtual/kfd/kfd"


def kfd_root(m, cpu_nodes=1):
    m.file(f"{KFD}/dev", "236:0")
    m.file(f"{KFD}/topology/generation_id", "2")
    m.file(f"{KFD}/topology/system_properties", "platform_oem 0\nplatform_id 0\nplatform_rev 0\n")
    m.link("/sys/class/kfd/kfd", KFD)
    for i in range(cpu_nodes):
        base = f"{KFD}/topology/nodes/{i}"
        m.file(f"{base}/gpu_id", "0")
        m.file(f"{base}/name", "")
        m.file(f"{base}/properties", "cpu_cores_count 96\nsimd_count 0\nmem_banks_count 1\ncaches_count 0\nio_links_count 1\n"
               "p2p_links_count 0\ncpu_core_id_base 0\nsimd_id_base 0\nmax_waves_per_simd 0\nnum_cp_queues 0\n"
               "max_engine_clk_ccompute 3750\n")
        m.file(f"{base}/mem_banks/0/properties", "heap_type 0\nsize_in_bytes 2164218920960\nflags 0\nwidth 64\nmem_clk_max 4800\n")
    m.node("/dev/kfd", 236, 0, "0660", gid=109)
    m.file("/proc/devices", m.files["/proc/devices"].decode().replace("226 drm\n", "226 drm\n236 kfd\n"))
    return m


def kfd_gpu(m, node, location, unique_id, render, device_id, gfx=90402, simd=1216, xcc=8, vram=205822885888, hive=0,
            capability=746037888, clk=2100, xgmi=0, domain=0, peers=None, listed_links=None):
    """`listed_links`: how many io_links the node claims where more than its own are not worth recording: they are not read."""
    base = f"{KFD}/topology/nodes/{node}"
    m.file(f"{base}/gpu_id", str(20000 + node * 37))
    m.file(f"{base}/name", "ip discovery")
    m.file(f"{base}/properties",
           f"cpu_cores_count 0\nsimd_count {simd}\nmem_banks_count 1\ncaches_count 0\nio_links_count {listed_links or 1 + xgmi}\np2p_links_count 0\n"
           f"simd_id_base 2147487744\nmax_waves_per_simd 8\nlds_size_in_kb 64\nwave_front_size 64\narray_count 32\n"
           f"simd_arrays_per_engine 1\ncu_per_simd_array 10\nsimd_per_cu 4\ngfx_target_version {gfx}\nvendor_id 4098\n"
           f"device_id {device_id}\nlocation_id {location}\ndomain {domain}\ndrm_render_minor {render}\nhive_id {hive}\n"
           f"num_sdma_engines 2\nnum_sdma_xgmi_engines 14\nnum_cp_queues 24\nmax_engine_clk_fcompute {clk}\nlocal_mem_size 0\n"
           f"fw_version 177\ncapability {capability}\ndebug_prop 1511\nsdma_fw_version 24\nunique_id {unique_id}\nnum_xcc {xcc}\n"
           f"max_engine_clk_ccompute 3750\n")
    m.file(f"{base}/mem_banks/0/properties", f"heap_type 1\nsize_in_bytes {vram}\nflags 0\nwidth 8192\nmem_clk_max 1300\n")
    m.file(f"{base}/io_links/0/properties", f"type 2\nnode_from {node}\nnode_to 0\nweight 20\nmin_bandwidth 312\nmax_bandwidth 64000\nflags 1\n")
    for i in range(xgmi):
        to, weight = peers[i] if peers else (i + 1, 15)
        m.file(f"{base}/io_links/{i + 1}/properties",
               f"type 11\nnode_from {node}\nnode_to {to}\nweight {weight}\nmin_bandwidth 0\nmax_bandwidth 0\nflags 1\n")
    return m


def amdgpu_driver(m, version="6.10.5", dkms="6.10.5-2125197.24.04", loaded=True, rocm="6.3.2-66"):
    if loaded:
        module_loaded(m, "amdgpu", version, {"bad_page_threshold": "-1", "noretry": "-1"})
    if version:
        module_file(m, "updates/dkms/amdgpu.ko", "updates/dkms/amdttm.ko")
    else:
        module_file(m, "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst")
    if dkms:
        dkms_tree(m, "amdgpu", dkms)
    if rocm:
        plain = rocm.split("-")[0]
        number = "".join(f"{int(p):02d}" if i else p for i, p in enumerate(plain.split(".")))
        m.file(f"/opt/rocm-{plain}/.info/version", rocm)
        m.link("/opt/rocm", f"/opt/rocm-{plain}")
        real = f"/opt/rocm-{plain}/lib/libamdhip64.so.{plain[:3]}.{number}"
        m.file(real, "placeholder for a vendor library")
        m.link(f"/opt/rocm-{plain}/lib/libamdhip64.so.{plain[0]}", real)
    return m


def location_of(bdf, partition=0):
    _, bus, rest = bdf.split(":")
    device, fn = rest.split(".")
    return (int(bus, 16) << 8) | (int(device, 16) << 3) | (partition or int(fn))


def amd_gpu(m, index, device=0x74a1, sub=0x74a1, guest=False, driver="amdgpu", kfd=True, node_base=1, gfx=90402, simd=1216,
            xcc=8, vram=205822885888, hive=0, partitions=1, mode="SPX", memory_mode="NPS1", chain=None, ports=True,
            class_code=0x120000, xgmi=0, drop_last=0, render_gid=109, telemetry=None,
            listed_links=None, **link):
    """`telemetry`: arguments of telemetry_files, or False for a GPU without these files."""
    chain = chain or chain_for(index, guest)
    if ports:
        ports_above(m, chain, guest)
    path = gpu_function(m, chain, 0x1002, device, class_code, driver, (0x1002, sub), aer=not guest,
                        numa=-1 if guest else 0, bar_gib=256, **link)
    if driver != "amdgpu":
        return path
    unique = 0x3cbd5ae2f7fd0a00 + index * 0x111
    m.file(f"{path}/unique_id", f"{unique:016x}")
    m.file(f"{path}/product_name", "" if guest else "AMD Instinct accelerator")
    m.file(f"{path}/serial_number", "" if guest else f"69220000{index:04d}")
    m.file(f"{path}/vbios_version", "113-M3000108-103")
    m.file(f"{path}/mem_info_vram_total", str(vram))
    m.file(f"{path}/mem_info_vram_used", "298778624")
    m.file(f"{path}/mem_info_vis_vram_total", str(vram))
    if mode:
        m.file(f"{path}/current_compute_partition", mode)
        m.file(f"{path}/current_memory_partition", memory_mode)
    if hive and not guest:
        m.file(f"{path}/xgmi_hive_info/xgmi_hive_id", str(hive))
    if telemetry is not False:
        telemetry_files(m, path, index, device, guest, partitions, **(telemetry or {}))
    card = 1 + index
    m.file(f"{path}/drm/card{card}/dev", f"226:{card}")
    m.link(f"/sys/class/drm/card{card}", f"{path}/drm/card{card}")
    m.node(f"/dev/dri/card{card}", 226, card, "0660", gid=44)
    for p in range(partitions - drop_last):
        render = 128 + index * partitions + p
        folder = path if p == 0 else f"/sys/devices/platform/amdgpu_xcp_{index * (partitions - 1) + p - 1}"
        m.file(f"{folder}/drm/renderD{render}/dev", f"226:{render}")
        m.link(f"/sys/class/drm/renderD{render}", f"{folder}/drm/renderD{render}")
        m.node(f"/dev/dri/renderD{render}", 226, render, "0660", gid=render_gid)
        if kfd:
            node = node_base + index * partitions + p
            first = node_base + (index * partitions + p) // (xgmi + 1) * (xgmi + 1)  # hives are neighbours
            same_gpu = range(node_base + index * partitions, node_base + (index + 1) * partitions)
            weight = {n: 15 if partitions == 1 else 13 if n in same_gpu else 41 for n in range(first, first + xgmi + 1)}
            peers = [(n, weight[n]) for n in weight if n != node]
            kfd_gpu(m, node, location_of(chain[-1], p), unique, render, device, gfx, simd // partitions, xcc // partitions or 1,
                    vram // partitions, hive, xgmi=xgmi, peers=peers, listed_links=listed_links)
    return path


def amd_guest(readme, device=0x74b5, sub=0x74a1, vm=DO, count=1, **machine):
    m = Machine(readme, **machine)
    host(m, vm=vm)
    virtual_display(m)
    amdgpu_driver(m)
    kfd_root(m)
    for i in range(count):
        amd_gpu(m, i, device, sub, guest=True, hive=0 if count == 1 else 0x5ead1e5, mode="SPX")
    return m


def instinct(readme, count=8, release=RELEASE, cmdline="ro iommu=pt pci=realloc=off", version="6.10.5", dkms="6.10.5-2125197.24.04",
             rocm="6.3.2-66", driver="amdgpu", gpu=None, os_id="ubuntu", **machine):
    m = Machine(readme, expect=machine.pop("expect", {"gpu_count": 8}), **machine)
    host(m, release=release, cmdline=cmdline, numa_nodes=2, os_id=os_id)
    bmc(m)
    if driver == "amdgpu":
        amdgpu_driver(m, version, dkms, rocm=rocm)
        kfd_root(m, 2)
    settings = {"hive": 0x1d0c57a9e3, "xgmi": count - 1, "node_base": 2} | (gpu or {})
    for i in range(count):
        amd_gpu(m, i, driver=driver, **settings)
    return m
