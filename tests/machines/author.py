#!/usr/bin/env python3
"""Writes the recorded machines of this folder.

They are re-created in the formats of real dumps with numbers, addresses and ids of our own. The script is how they were
authored, and how a change to a common part (a file that every check now reads, say) reaches all of them; the folders are the
tests. A machine that comes from `gpucheck capture` is not listed here and is left alone.

usage: author.py [NAME...]     rewrites these machines (default: all); the verdict in expected.json is kept
"""
import json
import sys

from recording import *  # noqa: F403

MACHINES = {}


def machine(build):
    MACHINES[build.__name__.replace("_", "-")] = build
    return build


# ---------------------------------------------------------------- healthy

@machine
def h100_x8_healthy():
    return hgx("HGX H100, bare metal, eight GPUs behind Gen5 switches, four NVSwitches, a BMC. Nothing is wrong.")


@machine
def h100_x2_idle_links():
    m = hgx("A healthy pair of H100 that idles: the links sleep at Gen1 and full width (trap 1, field case C102).", 2, expect={"gpu_count": 2})
    for path in list(m.files):
        if path.endswith("current_link_speed") and "/0000:8" not in path:
            m.file(path, GEN[1])
    return m


@machine
def h200_guest_healthy():
    return nvidia_guest("One H200 passed through to a KVM guest: no AER, no NUMA node, an emulated root port (traps 3 and 18), and "
                        "no NVSwitch in sight although the board is an SXM.", 0x2335, 0x18be, "NVIDIA H200")


@machine
def a10g_aws_narrow_by_design():
    m = nvidia_guest("An AWS g5 instance: the A10G runs at x8 of x16 because the platform is wired so (trap 2, field case C101). "
                     "PCI device number 1e, not 00.", 0x2237, 0x152f, "NVIDIA A10G", vm=AWS, count=0,
                     version="535.183.06")
    nvidia_gpu(m, 0, 0x2237, 0x152f, "NVIDIA A10G", guest=True, version="535.183.06", chain=["0000:00:1e.0"], bare_ports=False,
               speed=1, width=8, max_speed=4, max_width=16)
    return m


@machine
def a100_x8_vm_flat_topology():
    m = nvidia_guest("Eight A100 SXM in a cloud VM: flat virtual topology, no NUMA, no AER (field case C116).", 0x20b2, 0x1463,
                     "NVIDIA A100-SXM4-80GB", count=8, version="550.163.01", expect={"gpu_count": 8},
                     link={"speed": 4, "width": 16})
    return m


@machine
def l40s_x2_eight_lanes():
    m = Machine("Two L40S in a bare-metal server that wires eight lanes to each: normal for this board.", expect={"gpu_count": 2})
    host(m, cpu="GenuineIntel")
    bmc(m)
    nvidia_driver(m)
    for i in range(2):
        chain = chain_for(i)
        port(m, chain[:1], speed=4, width=8, max_speed=5, max_width=16)
        nvidia_gpu(m, i, 0x26b9, 0x1851, "NVIDIA L40S", chain=[chain[0], chain[2]], bare_ports=False, speed=4, width=8, max_width=16)
    return m


@machine
def gb200_placeholder_link():
    m = Machine("Four GB200: the GPUs hang on NVLink-C2C, their PCIe link reads as a placeholder Gen1 x1 that means nothing.",
                expect={"gpu_count": 4})
    host(m, release="6.8.0-1025-nvidia-64k", cpu="ARM")
    m.file("/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32\n"
           "CPU implementer\t: 0x41\nCPU part\t: 0xd4f\n")
    m.file("/sys/devices/virtual/dmi/id/sys_vendor", "NVIDIA").file("/sys/devices/virtual/dmi/id/product_name", "GB200 NVL")
    nvidia_driver(m, "570.133.20")
    m.file("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  570.133.20  Release Build  "
           "(builder@host)  Mon Apr 14 05:13:01 UTC 2025\nGCC version:  gcc version 13.3.0\n")
    m.drop(r"/usr/lib/x86_64-linux-gnu/")
    libraries(m, "570.133.20", "/usr/lib/aarch64-linux-gnu")
    for i in range(4):
        nvidia_gpu(m, i, 0x2941, 0x2046, "NVIDIA GB200", chain=[f"00{i:02x}:00:00.0", f"00{i:02x}:01:00.0"], bare_ports=False,
                   speed=1, width=1)
        port(m, [f"00{i:02x}:00:00.0"], 0x10de, 0x22b2, 1, 1)
    return m


@machine
def b200_x2_healthy():
    return hgx("Two B200 of an HGX board on bare metal. Nothing is wrong.", 2, "570.133.20", 0x2901, 0x1999, "NVIDIA B200", expect={"gpu_count": 2})


@machine
def mi300x_vf_healthy():
    return amd_guest("One MI300X virtual function (1002:74b5, subsystem 74a1) in a DigitalOcean droplet. Nothing is wrong; serial and "
                     "product name are empty and NUMA is -1, as in every guest (trap 18).")


@machine
def mi300x_x8_healthy():
    return instinct("Eight MI300X on bare metal, one xGMI hive, amdgpu from DKMS. Nothing is wrong.")


@machine
def mi325x_vf_x8_healthy():
    m = Machine("Eight MI325X virtual functions in one droplet.", expect={"gpu_count": 8})
    host(m, vm=DO)
    virtual_display(m)
    amdgpu_driver(m)
    kfd_root(m)
    for i in range(8):
        amd_gpu(m, i, 0x74b9, 0x74a5, guest=True, hive=0x5ead1e5, vram=274542362624)
    return m


@machine
def mi355x_x2_healthy():
    return instinct("Two MI355X on bare metal, amdgpu 6.14 from DKMS on a 6.8 kernel: new enough although the kernel alone is not.",
                    count=2, expect={"gpu_count": 2}, version="6.14.14", dkms="6.14.14-2193512.24.04", rocm="7.0.1-42",
                    gpu={"device": 0x75a3, "sub": 0x75a3, "gfx": 90500, "simd": 1024, "xcc": 8, "vram": 309220868096})


@machine
def mi300x_x2_intree_kernel():
    return instinct("Two MI300X with the in-tree amdgpu of kernel 6.12: it has no version file, and needs none (trap 18).", 2, expect={"gpu_count": 2},
                    release="6.12.9+deb13-amd64", os_id="debian", version=None, dkms=None)


@machine
def mi210_x8_two_hives():
    m = instinct("Eight MI210: two xGMI bridges of four GPUs each, so two hives; all-to-all is not to be demanded. Gen4, and display "
                 "class 0380.", gpu={"device": 0x740f, "sub": 0x0c34, "gfx": 90010, "simd": 416, "xcc": 1, "vram": 68702699520,
                                     "class_code": 0x038000, "speed": 4, "mode": None, "ports": False, "xgmi": 3}, count=0)
    for i in range(8):
        chain = chain_for(i)
        ports_above(m, chain, speed=4)
        amd_gpu(m, i, 0x740f, 0x0c34, gfx=90010, simd=416, xcc=1, vram=68702699520, class_code=0x038000, speed=4, mode=None,
                hive=0x77aa01 + i // 4, xgmi=3, node_base=2, ports=False, chain=chain)
    return m


@machine
def mi300x_x8_cpx_63_nodes():
    m = instinct("Eight MI300X in CPX/NPS4 show 63 logical GPUs, not 64: the BMC's display took one of the old kernel's 64 DRM minors "
                 "(trap 6, field case C076). Eight physical GPUs are there.", count=0)
    for i in range(8):
        amd_gpu(m, i, partitions=8, mode="CPX", memory_mode="NPS4", node_base=2, hive=0x1d0c57a9e3, drop_last=1 if i == 7 else 0,
                listed_links=63)
    return m


@machine
def mi300x_x2_throttled_for_power():
    return instinct("Two MI300X that worked hard: their lifetime totals show much throttling at the power limit (ppt) and none for another reason. "
                    "That is what a healthy board does under GEMM, and no fault.", 2, expect={"gpu_count": 2},
                    gpu={"telemetry": {"layout": "1.6", "metrics": {"accumulation_counter": 4123456, "ppt_residency_acc": 2987654}}})


@machine
def mi350x_x2_layout_1_9():
    return instinct("Two MI350X whose gpu_metrics is the self-describing layout 1.9 of new kernels.", 2, expect={"gpu_count": 2},
                    release="6.19.2-generic", version="6.18.1", dkms="6.18.1-2301133.24.04", rocm="7.2.0-43",
                    gpu={"device": 0x75a0, "sub": 0x75a0, "gfx": 90500, "simd": 1024, "vram": 309220868096,
                         "telemetry": {"layout": "1.9"}})


@machine
def mi300x_x2_cpx():
    return instinct("Two MI300X in CPX/NPS4: sixteen logical GPUs, each linked to the fifteen others; counters are those of the whole GPU.", 2,
                    expect={"gpu_count": 2, "compute_partition": "CPX", "memory_partition": "NPS4"},
                    gpu={"partitions": 8, "mode": "CPX", "memory_mode": "NPS4", "xgmi": 15})


@machine
def mi300x_vf_few_files():
    m = amd_guest("An MI300X virtual function whose driver shows little: temperatures, power and its limit; no gpu_metrics, no RAS, no clocks.")
    return m.drop(r"/gpu_metrics$|/pp_dpm_|/(gpu|mem)_busy_percent$|/power_dpm_")


def one_sick(readme, sick, count=2, gpu=None, **machine):
    """Healthy MI300X beside each other; the telemetry of the first is made of `sick`."""
    m = instinct(readme, count, expect={"gpu_count": count}, gpu=gpu, **machine)
    telemetry_files(m, folder_of(m, chain_for(0)[-1]), 0, 0x74a1, **sick)
    return m


def folder_of(m, bdf):
    """Where the telemetry files of this function lie."""
    return next(path.rsplit("/", 1)[0] for path in m.files if path.endswith(f"/{bdf}/gpu_metrics"))


@machine
def mi300x_x2_ras_uncorrectable():
    return one_sick("Two MI300X; the memory of the first returned data that could not be corrected (ras/umc_err_count).",
                    {"ras": {"counts": {"umc": (1, 0, 0)}}})


@machine
def mi300x_x2_ras_correctable():
    return one_sick("Two MI300X; the memory of the first corrected some errors, which is a warning and no fault.",
                    {"ras": {"counts": {"umc": (0, 12, 0), "gfx": (0, 1, 0)}}})


@machine
def mi300x_x2_bad_pages_at_the_limit():
    m = one_sick("Two MI300X; 130 pages of the first are retired, and amdgpu.bad_page_threshold allows 128.",
                 {"ras": {"pages": "".join(f"0x{0x1a2b000 + 17 * i:x} : 0x1000 : R\n" for i in range(130))}})
    return m.file("/sys/module/amdgpu/parameters/bad_page_threshold", "128")


@machine
def mi300x_x8_xgmi_link_down():
    return one_sick("Eight MI300X; two of them lost the link between them, the others show all seven.",
                    {"metrics": {"xgmi_link_status": [1, 1, 0, 1, 1, 1, 1, 2]}}, 8)


@machine
def mi300x_x8_two_hives():
    m = instinct("Eight MI300X in two hives of four: the links between the halves did not train.", 8)
    for path in list(m.files):
        number = re.search(r"/topology/nodes/(\d+)/properties$", path)
        if number and int(number.group(1)) >= 6:
            text = m.files[path].decode() if isinstance(m.files[path], bytes) else m.files[path]
            m.file(path, re.sub(r"hive_id \d+", "hive_id 77001", text))
    return m


@machine
def mi300x_x2_power_limit_low():
    m = instinct("Two MI300X; somebody limited the first to 500 of 750 W.", 2, expect={"gpu_count": 2})
    cap = next(path for path in m.files if path.endswith("power1_cap"))
    return m.file(cap, "500000000")


@machine
def mi300x_x2_metrics_of_a_new_layout():
    m = instinct("Two MI300X whose kernel writes gpu_metrics in a layout newer than this gpucheck: what it says is not known, which is "
                 "listed and neither a pass nor a fault.", 2, expect={"gpu_count": 2})
    for path in list(m.files):
        if path.endswith("/gpu_metrics"):
            m.file(path, struct.pack("<HBB", 4096, 1, 23) + bytes(4092))
    return m


@machine
def mi300x_blacklisted_but_loaded():
    return instinct("modprobe.blacklist=amdgpu on the command line, AMD's own advice for MI300X: a unit loaded the module later, all is well "
                    "(field case C087).", 1, expect={"gpu_count": 1}, cmdline="ro iommu=pt pci=realloc=off modprobe.blacklist=amdgpu")


@machine
def mi300x_vf_user_world_accessible():
    m = amd_guest("The judged user is in no GPU group, and needs none: /dev/kfd and the render node are 0666, systemd's default (trap 9, "
                  "field case C009).", uid=1000, gids=[1000])
    m.node_change("/dev/kfd", mode="0666", open_="ok").node_change("/dev/dri/renderD128", mode="0666", open_="ok")
    return m.node_change("/dev/dri/card1", mode="0666", open_="ok")


@machine
def mi300x_container_numeric_gids():
    m = amd_guest("A rootless container that was given the device nodes and the host's numeric gid, for which it has no name (trap 8).",
                  uid=1000, gids=[1000, 991])
    m.file("/etc/group", "root:x:0:\nuser:x:1000:\n").file("/.dockerenv", "").file("/proc/1/comm", "bash")
    m.file("/proc/self/uid_map", "         0     100000      65536")
    m.drop(r"^/run/systemd")
    m.node_change("/dev/kfd", gid=991).node_change("/dev/dri/renderD128", gid=991).node_change("/dev/dri/card1", gid=991)
    return m


# ---------------------------------------------------------------- GPUs that are not there, or not what was promised

@machine
def h100_x8_one_missing():
    return hgx("Eight H100 were promised, seven are on the bus; driver, /dev and /proc agree with each other about seven.", 7)


@machine
def h100_x8_half_gone():
    return hgx("Half of the eight promised H100 are gone: a whole switch board is missing.", 4)


@machine
def h100_x2_fallen_off_bus():
    m = hgx("One H100 of two fell off the bus after boot: its reads give all ones, speed Unknown and width 63 (trap 3, field case "
            "C114); the driver still lists it.", 2, expect={"gpu_count": 2})
    chain = chain_for(1)
    path = "/sys/devices/pci0000:25/" + "/".join(chain)
    link_files(m, path, "Unknown", 63, 5, 16)
    m.file(f"{path}/config", b"\xff" * 256)
    return m


@machine
def mi300x_x4_probe_failed():
    m = instinct("amdgpu is loaded and /dev/kfd exists, yet one of four GPUs failed to probe (error -12, no room for the BAR): no driver "
                 "is bound to it and KFD knows three (trap 7, field case C010).", count=0, expect={"gpu_count": 4})
    for i in range(4):
        if i == 2:
            amd_gpu(m, i, driver=None)
            continue
        amd_gpu(m, i, hive=0x1d0c57a9e3, xgmi=3, node_base=2)
    return m


@machine
def mi300x_no_kfd_in_kernel():
    m = instinct("A kernel built without CONFIG_HSA_AMD: amdgpu drives the GPU, there is no KFD at all (field case C112).", count=1,
                 release="6.12.9-custom", version=None, dkms=None, expect={"gpu_count": 1})
    return m.drop(r"/kfd")


@machine
def mi300x_kfd_skips_gpu():
    m = amd_guest("KFD skipped the GPU of this VM because the virtual root port routes no PCIe atomics: amdgpu is bound, the topology holds "
                  "only the CPU node (field case C111).")
    return m.drop(r"topology/nodes/1/")


@machine
def no_gpu_vm():
    m = Machine("A small cloud VM without any GPU; its virtual display is none.", expect={})
    host(m, vm=DO)
    return virtual_display(m)


@machine
def no_gpu_but_eight_promised():
    m = Machine("A VM of a type that promises eight GPUs and has none on its bus.", expect={"gpu_count": 8})
    host(m, vm=DO)
    return virtual_display(m)


@machine
def no_gpu_and_none_promised():
    m = Machine("A control-plane VM that is said to have no GPU, and has none.", expect={"gpu_count": 0})
    host(m, vm=DO)
    return virtual_display(m)


@machine
def h100_promised_a100_delivered():
    return nvidia_guest("The instance was sold as an H100 and holds an A100.", 0x20b2, 0x1463, "NVIDIA A100-SXM4-80GB",
                        version="550.163.01", expect={"gpu_count": 1, "board": "h100-sxm-80gb"}, link={"speed": 4})


@machine
def unknown_board():
    return nvidia_guest("A board that no row of the table knows: unknown is no fault, the ids are to be sent in.", 0x3fff, 0x1234,
                        "NVIDIA Graphics Device")


@machine
def mi300x_harvested_too_far():
    m = amd_guest("An MI300X that shows 296 compute units instead of 304.")
    path = f"{KFD}/topology/nodes/1/properties"
    return m.file(path, m.files[path].decode().replace("simd_count 1216", "simd_count 1184"))


@machine
def h100_x2_one_excluded():
    m = hgx("One H100 of two was excluded by the driver's parameter: it is on the bus and takes no work.", 2, expect={"gpu_count": 2})
    path = f"/proc/driver/nvidia/gpus/{chain_for(1)[-1]}/information"
    return m.file(path, m.files[path].decode().replace("GPU Excluded:\t No", "GPU Excluded:\t Yes"))


# ---------------------------------------------------------------- drivers and kernels

@machine
def nvidia_driver_absent():
    m = Machine("A fresh VM with an H100 on its bus and no NVIDIA driver installed.")
    host(m, vm=KVM)
    virtual_display(m)
    module_file(m)
    nvidia_gpu(m, 0, guest=True, driver=None)
    return m


@machine
def nvidia_nouveau_owns_gpu():
    m = Machine("nouveau claimed both GPUs before the NVIDIA module could (field case C033).", expect={"gpu_count": 2})
    host(m, cpu="GenuineIntel")
    bmc(m)
    module_loaded(m, "nouveau")
    module_file(m, "kernel/drivers/gpu/drm/nouveau/nouveau.ko.zst", "updates/dkms/nvidia.ko")
    dkms_tree(m, "nvidia", "570.133.20")
    libraries(m, "570.133.20")
    for i in range(2):
        nvidia_gpu(m, i, driver="nouveau")
    return m


@machine
def nvidia_secure_boot_refused():
    m = Machine("Secure Boot is on and the DKMS-built module is not signed with an enrolled key: it is installed and cannot be loaded "
                "(field case C045).")
    host(m, vm=KVM)
    virtual_display(m)
    module_file(m, "updates/dkms/nvidia.ko", "updates/dkms/nvidia-uvm.ko")
    dkms_tree(m, "nvidia", "570.133.20")
    libraries(m, "570.133.20")
    m.file("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", b"\x06\0\0\0\x01")
    m.file("/sys/kernel/security/lockdown", "none [integrity] confidentiality")
    nvidia_gpu(m, 0, guest=True, driver=None)
    return m


@machine
def nvidia_library_mismatch():
    m = nvidia_guest("An unattended upgrade replaced the libraries under a running module: 570.195.03 on disk, 570.172.08 in the kernel "
                     "(field case C030).", version="570.172.08")
    m.drop(r"/usr/lib/x86_64-linux-gnu/")
    libraries(m, "570.195.03")
    return m


@machine
def nvidia_uvm_missing():
    return nvidia_guest("nvidia-uvm was never loaded and its node is missing: CUDA cannot start until nvidia-modprobe makes it (field case "
                        "C047).").drop(r"nvidia[-_]uvm")


@machine
def mi350x_kernel_too_old():
    m = instinct("MI350X on Ubuntu 22.04 with the in-tree driver of 5.15, which has never heard of gfx950: amdgpu is loaded and bound to "
                 "nothing.", count=0, release="5.15.0-119-generic", os_id="jammy", version=None, dkms=None, rocm=None,
                 expect={"gpu_count": 1})
    amd_gpu(m, 0, 0x75a0, 0x75a0, driver=None)
    return m


@machine
def mi300x_blacklisted_never_loaded():
    m = instinct("modprobe.blacklist=amdgpu, and nothing loaded the module afterwards (field case C087).", count=1, driver=None,
                 cmdline="ro iommu=pt modprobe.blacklist=amdgpu", expect={"gpu_count": 1})
    amdgpu_driver(m, loaded=False)
    return m


@machine
def mi300x_dkms_tree_broken():
    m = Machine("A DKMS tree without its source after a package was half removed; amdgpu is not loaded (field case C017).")
    host(m)
    bmc(m)
    amdgpu_driver(m, version="6.10.5", dkms=None, loaded=False)
    m.drop(r"updates/dkms/")
    module_file(m)
    dkms_tree(m, "amdgpu", "6.8.5-2009582.22.04", built=False, installed=False, source=False)
    amd_gpu(m, 0, driver=None)
    return m


@machine
def mi300x_dkms_only_added():
    m = Machine("The kernel was upgraded and DKMS has not built amdgpu for it: the tree is there, only added (field case C018).")
    host(m)
    bmc(m)
    amdgpu_driver(m, version="6.10.5", dkms=None, loaded=False)
    m.drop(r"updates/dkms/")
    module_file(m)
    dkms_tree(m, "amdgpu", "6.10.5-2125197.24.04", built=False, installed=False)
    amd_gpu(m, 0, driver=None)
    return m


@machine
def mi300x_host_of_vms_gim():
    m = Machine("A virtualisation host: gim owns the physical functions and hands out virtual ones; nobody promised GPUs to this OS.",
                expect={})
    host(m)
    bmc(m)
    module_loaded(m, "gim", "8.1.0")
    for i in range(2):
        amd_gpu(m, i, driver="gim")
    return m


@machine
def h100_given_to_a_vm():
    m = Machine("vfio-pci owns one of two H100: it was handed to a VM, but both were promised to this system.", expect={"gpu_count": 2})
    host(m, cpu="GenuineIntel")
    bmc(m)
    nvidia_driver(m)
    nvidia_gpu(m, 0)
    nvidia_gpu(m, 1, driver="vfio-pci")
    module_loaded(m, "vfio_pci")
    return m


# ---------------------------------------------------------------- device nodes

@machine
def mi300x_kfd_denied_to_user():
    m = amd_guest("The judged user is in group video; the node belongs to render (field cases C001 and C003). rocm-smi would list the GPU.",
                  uid=1000, gids=[1000, 44])
    for path in ("/dev/kfd", "/dev/dri/renderD128"):
        m.node_change(path, open_="EACCES")
    return m


@machine
def mi300x_kfd_root_only():
    m = amd_guest("/dev/kfd is root:root 0600: no udev rule was installed (field case C008).", uid=1000, gids=[1000, 109])
    return m.node_change("/dev/kfd", mode="0600", gid=0, open_="EACCES")


@machine
def mi300x_container_without_kfd():
    m = amd_guest("A container that was not given /dev/kfd; /sys is the host's, so 'the module is loaded' says nothing (field case C005).")
    m.file("/.dockerenv", "").file("/proc/1/comm", "python3").drop(r"^/run/systemd")
    return m.drop(r"^/dev/")


@machine
def mi300x_container_cgroup_refuses():
    m = amd_guest("The nodes are in the container with mode 0666, but its device cgroup refuses them: EPERM, which no chmod repairs (field "
                  "case C006).")
    m.file("/.dockerenv", "").file("/proc/1/comm", "python3").drop(r"^/run/systemd")
    return m.node_change("/dev/kfd", mode="0666", open_="EPERM").node_change("/dev/dri/renderD128", mode="0666", open_="EPERM")


@machine
def mi300x_lxc_invalid_argument():
    m = amd_guest("An LXC container in which open(2) of /dev/kfd gives EINVAL although its mode is 0666: the container does not fit the "
                  "host's driver (trap 8).")
    m.file("/run/systemd/container", "lxc")
    return m.node_change("/dev/kfd", mode="0666", open_="EINVAL")


@machine
def mi300x_only_card_denied():
    m = amd_guest("Only card1 is denied: monitoring tools want it, compute does not (field case C010b).", uid=1000, gids=[1000, 109])
    return m.node_change("/dev/dri/card1", open_="EACCES")


@machine
def nvidia_container_lost_cgroup():
    m = nvidia_guest("After systemctl daemon-reload a container keeps its nodes, mode 0666, and loses the right to open them (field case C120).")
    m.file("/.dockerenv", "").file("/proc/1/comm", "python3").drop(r"^/run/systemd")
    for node in m.nodes:
        if node["path"].startswith("/dev/nvidia"):
            node["open"] = "EPERM"
    return m


@machine
def nvidia_container_two_of_four():
    m = hgx("A container that was given two of the host's four GPUs; nobody said how many to expect.", 4, expect={})
    m.file("/.dockerenv", "").file("/proc/1/comm", "python3").drop(r"^/run/systemd")
    return m.drop(r"^/dev/nvidia[23]$").drop(r"^/dev/dri")


@machine
def kfd_is_a_regular_file():
    m = amd_guest("Somebody's bind mount put a regular file at /dev/kfd.")
    m.drop(r"^/dev/kfd$")
    return m.file("/dev/kfd", "")


# ---------------------------------------------------------------- PCIe

@machine
def h100_x2_one_narrow():
    m = hgx("One H100 of two trained at x8 instead of x16.", 2, expect={"gpu_count": 2})
    chain = chain_for(1)
    path = "/sys/devices/pci0000:25/" + "/".join(chain)
    m.file(f"{path}/current_link_width", "8")
    return m.file("/sys/devices/pci0000:25/" + "/".join(chain[:2]) + "/current_link_width", "8")


@machine
def mi300x_x2_slot_narrow_above_switch():
    m = instinct("The on-package switch of one MI300X shows Gen5 x16 to the GPU while its slot runs at x4 (traps 4 and field case C103): only "
                 "the path tells.", 2, expect={"gpu_count": 2})
    return m.file("/sys/devices/pci0000:25/0000:25:01.0/current_link_width", "4")


@machine
def h100_x2_link_pinned():
    m = hgx("Somebody pinned the links of one H100 to Gen2 with setpci: target speed 2 and autonomous speed change disabled; nothing is logged.",
            2, expect={"gpu_count": 2})
    chain = chain_for(1)
    path = "/sys/devices/pci0000:25/" + "/".join(chain)
    m.file(f"{path}/config", config_space(0x10de, 0x2330, 0x030200, (5, 16), (2, 16), 2, True))
    return m.file(f"{path}/current_link_speed", GEN[2])


@machine
def h100_x2_aer_storm():
    m = hgx("40,000 corrected errors in two hours on the port above one H100: a marginal link.", 2, uptime=7200.0, expect={"gpu_count": 2})
    path = "/sys/devices/pci0000:25/" + "/".join(chain_for(1)[:2])
    aer_files(m, path, correctable=40000)
    return m


@machine
def h100_x2_aer_fatal():
    m = hgx("One fatal PCIe error since boot on an H100 (completion timeout, field case C109).", 2, uptime=7200.0, expect={"gpu_count": 2})
    aer_files(m, "/sys/devices/pci0000:25/" + "/".join(chain_for(1)), fatal=1)
    return m


@machine
def h100_bar_unassigned():
    m = Machine("No room for the GPU's big BAR: it is listed without an address and the probe failed (field case C105).")
    host(m, cpu="GenuineIntel")
    bmc(m)
    nvidia_driver(m)
    path = nvidia_gpu(m, 0, driver=None)
    return m.file(f"{path}/resource", "0x0000000000000000 0x0000001fffffffff 0x000000000014220c\n"
                  "0x00000000fc000000 0x00000000fcffffff 0x0000000000040200\n")


@machine
def h100_x2_xid79_in_the_log():
    m = hgx("Files agree that both H100 are fine; the kernel log says that one left the bus and its row remapper ran out before.", 2,
            expect={"gpu_count": 2})
    bdf = chain_for(1)[-1]
    m.kernel_log = (
        "[    0.000000] Linux version 6.8.0-55-generic (builder@host) (gcc 13.3.0) #57 SMP PREEMPT_DYNAMIC\n"
        f"[   61.204411] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.133.20  Release Build  (builder@host)\n"
        f"[  890.118233] NVRM: GPU at PCI:{bdf[:-2]}: GPU-00000000-0000-0000-0000-000000000002\n"
        f"[  890.118240] NVRM: Xid (PCI:{bdf[:-2]}): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
        f"[  890.118251] NVRM: GPU {bdf}: GPU has fallen off the bus.\n")
    return m


@machine
def mi300x_x2_harmless_log():
    m = instinct("A kernel log full of lines that frighten and mean nothing (trap 11): taint, ROM alignment, an optional firmware file, an "
                 "application's page fault in none of them.", 2, expect={"gpu_count": 2})
    m.kernel_log = (
        "[    0.000000] Linux version 6.8.0-55-generic (builder@host) (gcc 13.3.0) #57 SMP PREEMPT_DYNAMIC\n"
        "[    7.310021] amdgpu: loading out-of-tree module taints kernel.\n"
        "[    7.310044] amdgpu: module verification failed: signature and/or required key missing - tainting kernel\n"
        "[    9.771030] amdgpu 0000:19:00.0: ROM [??? 0x00000000 flags 0x20000000]: can't assign; bogus alignment\n"
        "[    9.902118] amdgpu 0000:29:00.0: Direct firmware load for amdgpu/isp_4_1_0.bin failed with error -2\n"
        "[   10.448447] amdgpu: legacy kernel without apple_gmux_detect()\n"
        "[   12.550000] kfd kfd: amdgpu: added device 1002:74a1\n")
    return m


# ---------------------------------------------------------------- environment, libraries, host

@machine
def mi210_override_left_over():
    m = Machine("HSA_OVERRIDE_GFX_VERSION from a desktop recipe makes an MI210 pass for gfx1030 (field case C090).",
                env={"HSA_OVERRIDE_GFX_VERSION": "10.3.0"})
    host(m, cmdline="ro iommu=pt pci=realloc=off")
    bmc(m)
    amdgpu_driver(m)
    kfd_root(m)
    chain = chain_for(0)
    ports_above(m, chain, speed=4)
    amd_gpu(m, 0, 0x740f, 0x0c34, gfx=90010, simd=416, xcc=1, vram=68702699520, class_code=0x038000, speed=4, mode=None, ports=False,
            chain=chain)
    return m


@machine
def h100_visible_devices_empty():
    m = nvidia_guest("CUDA_VISIBLE_DEVICES is set and empty: every CUDA program sees no GPU (field case C095).")
    m.process["env"] = {"CUDA_VISIBLE_DEVICES": ""}
    return m


@machine
def mi300x_masked_twice():
    m = amd_guest("ROCR_VISIBLE_DEVICES leaves one GPU, CUDA_VISIBLE_DEVICES asks for the third of them (field case C097).", count=4,
                  expect={"gpu_count": 4})
    m.process["env"] = {"ROCR_VISIBLE_DEVICES": "2", "CUDA_VISIBLE_DEVICES": "2"}
    return m


@machine
def mi300x_launch_blocking():
    m = amd_guest("A debugging setting was left on for everybody: every launch waits (field case C099).")
    m.process["env"] = {"HIP_LAUNCH_BLOCKING": "1", "AMD_SERIALIZE_KERNEL": "3", "HIP_DEVICE_MAX_HW_QUEUES": "8"}
    return m


@machine
def h100_stub_library_first():
    m = nvidia_guest("LD_LIBRARY_PATH puts the toolkit's link-time stub before the real driver library (field case C094).")
    stubs = "/usr/local/cuda-12.4/targets/x86_64-linux/lib/stubs"
    m.process["env"] = {"LD_LIBRARY_PATH": stubs}
    return m.file(f"{stubs}/libcuda.so.1", "placeholder for a link-time stub")


@machine
def h100_library_empty():
    m = nvidia_guest("The disk filled up during the driver's installation: libcuda is there with zero bytes.")
    return m.file("/usr/lib/x86_64-linux-gnu/libcuda.so.570.133.20", "")


@machine
def mi300x_boot_full():
    m = amd_guest("/boot has 12 MB left: the next DKMS build cannot write its initramfs (field case C140).")
    m.process["filesystems"]["/boot"] = {"total_bytes": 500000000, "free_bytes": 12000000}
    return m


@machine
def mi300x_clock_unset():
    m = amd_guest("The clock says 1970: TLS to the report receiver cannot work (field case C137).")
    m.process["now"] = "1970-01-01T00:01:30Z"
    return m


@machine
def mi300x_x2_numa_balancing():
    m = instinct("Automatic NUMA balancing is on, and the IOMMU translates: AMD's guides for this board want neither on bare metal.", 2,
                 expect={"gpu_count": 2}, cmdline="ro quiet")
    return m.file("/proc/sys/kernel/numa_balancing", "1")


@machine
def mi300x_partition_not_as_promised():
    m = amd_guest("The GPU was promised in CPX and runs in SPX.", expect={"gpu_count": 1, "compute_partition": "CPX"})
    return m


# ---------------------------------------------------------------- what could not be looked at

@machine
def h100_link_unreadable():
    m = nvidia_guest("The link files of the GPU answer EIO: not knowing is neither yes nor no.")
    path = "/sys/devices/pci0000:00/0000:00:04.0/0000:81:00.0"
    return m.unreadable(f"{path}/current_link_width", "EIO").unreadable(f"{path}/current_link_speed", "EIO")


@machine
def mi300x_captured_partly():
    m = amd_guest("A capture that saw the PCI bus and little else: what was not captured is not absent.")
    m.drop(r"^/dev|/kfd|^/sys/module|^/var|^/opt|^/usr/lib/modules|^/proc/(?!sys|1|cpuinfo|version|cmdline|uptime)")
    m.captured = ["/sys/bus/pci/**", "/sys/devices/pci*/**", "/proc/sys/**", "/proc/cpuinfo", "/proc/1/comm", "/proc/version", "/proc/cmdline",
                  "/etc/**", "/sys/class/dmi/**", "/sys/devices/virtual/dmi/**"]
    return m


@machine
def sysfs_not_mounted():
    m = Machine("A container without /sys: whether there are GPUs cannot be told.", expect={"gpu_count": 1})
    host(m, vm=DO)
    m.drop(r"^/sys/")
    return m.file("/.dockerenv", "").file("/proc/1/comm", "bash").drop(r"^/run/systemd")


@machine
def mi300x_hostile_sysfs():
    m = amd_guest("Files that lie: terminal escapes in a product name, a negative VRAM, a width of 4 billion, junk in the KFD properties.")
    path = "/sys/devices/pci0000:00/0000:00:04.0/0000:81:00.0"
    m.file(f"{path}/product_name", b"\x1b[2J\x1b]0;pwned\x07MI300X\n").file(f"{path}/mem_info_vram_total", "-1")
    m.file(f"{path}/current_link_width", "4294967296").file(f"{path}/numa_node", "99999999999999999999")
    m.file(f"{KFD}/topology/nodes/1/properties", b"simd_count \xff\xfe\nsimd_per_cu 0\nunique_id 18446744073709551616\n" + b"A" * 3000 + b"\n")
    return m


# ---------------------------------------------------------------- what NVML says: vendor.json, by answers.py


def h100_pair(readme):
    m = hgx(readme, 2, expect={"gpu_count": 2})
    m.process["uptime_s"] = 900.0  # whoever joins the fabric has had the time
    return unit(m, "nvidia-fabricmanager.service", processes=(1207,))


@machine
def h100_x2_telemetry_healthy():
    return h100_pair("Two healthy H100 with everything that NVML says of them: nothing may be found.")


@machine
def h100_x2_row_remap_pending():
    return h100_pair("A row of one H100 waits to be remapped: a reset mends it, and the page is out of use meanwhile.")


@machine
def h100_x2_row_remap_failed():
    return h100_pair("A row of one H100 could not be remapped: the board has to be replaced.")


@machine
def h100_x2_one_gpu_lost():
    return h100_pair("The bus shows two H100, and NVML answers GPU_IS_LOST for one of them.")


@machine
def h100_x2_fabric_not_started():
    m = h100_pair("NVSwitches and a fabric manager that does not run: the GPUs never joined the fabric, every CUDA call fails with 802.")
    return m.drop("/sys/fs/cgroup/system.slice/nvidia-fabricmanager")


@machine
def h100_x2_mig_pending():
    return h100_pair("MIG was switched on for one H100 and waits for a reset.")


# ---------------------------------------------------------------- whose instance it is: metadata.json

LINK_LOCAL = "http://169.254.169.254"


def told(document):
    """A 200 with this JSON."""
    return {"status": 200, "headers": {"Content-Type": "application/json"}, "body": json.dumps(document)}


def aws_answers(instance_type):
    token = {"X-aws-ec2-metadata-token": "RECORDED-TOKEN"}
    document = {"accountId": "000011112222", "availabilityZone": "us-west-2b", "billingProducts": None, "imageId": "ami-0example",
                "instanceId": "i-0example0000000001", "instanceType": instance_type, "region": "us-west-2", "version": "2017-09-30"}
    return {f"PUT {LINK_LOCAL}/latest/api/token": {"status": 200, "body": "RECORDED-TOKEN",
                                                   "requires": {"X-aws-ec2-metadata-token-ttl-seconds": "60"}},
            f"GET {LINK_LOCAL}/latest/dynamic/instance-identity/document": told(document) | {"requires": token},
            f"GET {LINK_LOCAL}/latest/meta-data/instance-life-cycle": {"status": 200, "body": "on-demand", "requires": token}}


def nvme(m, index, model):
    path = f"/sys/devices/pci0000:f0/0000:f0:{index:02x}.0"
    m.file(f"{path}/class", "0x010802").file(f"{path}/vendor", "0x1d0f").file(f"{path}/device", "0xcd01")
    m.file(f"{path}/nvme/nvme{index}/model", model)
    return m.link(f"/sys/bus/pci/devices/0000:f0:{index:02x}.0", path)


@machine
def cloud_aws_p5_one_missing():
    m = nvidia_guest("An AWS p5.48xlarge: the metadata service says that the type has eight H100, and seven are on the bus. The driver, /dev "
                     "and every count on the machine agree on seven; only the type knows. Eight local drives and a network disk.",
                     vm=("Amazon EC2", "p5.48xlarge"), count=7, expect={})
    nvme(m, 0, "Amazon Elastic Block Store")
    for i in range(1, 9):
        nvme(m, i, "Amazon EC2 NVMe Instance Storage")
    m.metadata = aws_answers("p5.48xlarge")
    return m


@machine
def cloud_aws_called_gcp():
    m = nvidia_guest("An AWS instance that the options call a Google one: the option is used, and the contradiction is told.",
                     0x2237, 0x152f, "NVIDIA A10G", vm=AWS, expect={"provider": "gcp", "gpu_count": 1}, version="535.183.06")
    m.metadata = aws_answers("g5.xlarge")
    return m


@machine
def cloud_gcp_h100():
    m = nvidia_guest("One H100 at Google: types and zones come as paths, the id as a number of 19 digits.", vm=("Google", "Google Compute Engine"),
                     expect={})
    instance = {"id": 1234567890123456789, "machineType": "projects/1/machineTypes/a3-highgpu-1g", "zone": "projects/1/zones/us-central1-a",
                "scheduling": {"preemptible": "FALSE"}, "attributes": {"ssh-keys": "user:ssh-ed25519 AAAAEXAMPLE"}}
    m.metadata = {"GET http://metadata.google.internal/computeMetadata/v1/?recursive=true&alt=json":
                  told({"instance": instance}) | {"requires": {"Metadata-Flavor": "Google"}}}
    return m


@machine
def cloud_gcp_service_silent():
    m = nvidia_guest("One H100 at Google whose metadata service does not answer: nobody knows what was promised, and the report says why.",
                     vm=("Google", "Google Compute Engine"), expect={})
    m.metadata = {"GET http://metadata.google.internal/computeMetadata/v1/?recursive=true&alt=json": {"error": "timeout"}}
    return m


@machine
def cloud_azure_h100_nvl():
    m = nvidia_guest("One H100 NVL at Azure, recognised by the asset tag of the chassis: the maker's name is that of any Hyper-V.", 0x2321, 0x1839,
                     "NVIDIA H100 NVL", vm=("Microsoft Corporation", "Virtual Machine"), expect={})
    m.file("/sys/devices/virtual/dmi/id/chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77")
    compute = {"location": "westus3", "name": "gpu-vm-3", "vmId": "00000000-0000-0000-0000-000000000002", "priority": "Spot",
               "vmSize": "Standard_NC40ads_H100_v5", "zone": "", "tags": ""}
    m.metadata = {f"GET {LINK_LOCAL}/metadata/instance?api-version=2021-02-01": told({"compute": compute}) | {"requires": {"Metadata": "true"}}}
    return m


@machine
def cloud_oci_a10():
    m = nvidia_guest("One A10 at Oracle: the shape's name holds model and count.", 0x2236, 0x1482, "NVIDIA A10", expect={})
    m.file("/sys/devices/virtual/dmi/id/chassis_asset_tag", "OracleCloud.com")
    m.metadata = {f"GET {LINK_LOCAL}/opc/v2/instance/": told(
        {"id": "ocid1.instance.oc1.phx.example", "shape": "VM.GPU.A10.1", "region": "phx", "canonicalRegionName": "us-phoenix-1",
         "availabilityDomain": "XXXX:PHX-AD-1"}) | {"requires": {"Authorization": "Bearer Oracle"}}}
    return m


@machine
def cloud_vultr_mi300x():
    m = amd_guest("One MI300X at Vultr, recognised by a word of the kernel's command line; its metadata has no plan.", vm=KVM)
    m.files["/proc/cmdline"] = m.files["/proc/cmdline"].replace(b"console=ttyS0", b"vultr console=ttyS0")
    m.metadata = {f"GET {LINK_LOCAL}/v1.json": told({"instance-v2-id": "0aaaa000-example", "region": {"regioncode": "EWR"}})}
    return m


@machine
def cloud_nebius_h200():
    m = nvidia_guest("One H200 at Nebius: no mark in the firmware, so the provider comes from the options; the preset begins with the count.",
                     0x2335, 0x18be, "NVIDIA H200", expect={"provider": "nebius"})
    m.metadata = {"GET http://metadata.nebius.internal/v1/instance-data": {"error": "dns"},
                  f"GET {LINK_LOCAL}/v1/instance-data": told(
                      {"id": "computeinstance-example", "platform": "gpu-h200-sxm", "preset": "1gpu-16vcpu-200gb", "region": "eu-west1"})
                  | {"requires": {"Metadata": "true"}}}
    return m


@machine
def cloud_openstack_h100():
    m = nvidia_guest("One H100 in a private OpenStack: the flavour is known and no table has it.", vm=("OpenStack Foundation", "OpenStack Nova"))
    m.metadata = {f"GET {LINK_LOCAL}/openstack/latest/meta_data.json": told({"uuid": "00000000-0000-4000-8000-00000000000a",
                                                                            "availability_zone": "nova"}),
                  f"GET {LINK_LOCAL}/latest/meta-data/instance-type": {"status": 200, "body": "g1.h100x1"}}
    return m


@machine
def cloud_runpod_h100():
    return nvidia_guest("One H100 in a pod: the environment is all there is, and the firmware names the host's maker.",
                        env={"RUNPOD_POD_ID": "example0pod", "RUNPOD_GPU_COUNT": "1"}, vm=("Supermicro", "AS -8125GS-TNMR2"), expect={})


@machine
def cloud_digitalocean_mi300x():
    m = amd_guest("One MI300X droplet: the metadata names it but not its size, which the options give.",
                  expect={"provider": "digitalocean", "instance_type": "gpu-mi300x1-192gb"})
    m.file("/sys/devices/virtual/dmi/id/product_serial", "900000001")
    m.metadata = {f"GET {LINK_LOCAL}/metadata/v1.json": told(
        {"droplet_id": 900000001, "hostname": "gpu-node-01", "user_data": "", "vendor_data": "", "auth_key": "REDACTED", "region": "nyc3",
         "tags": None})}
    return m


if __name__ == "__main__":
    chosen = sys.argv[1:] or list(MACHINES)
    for name in chosen:
        if name not in MACHINES:
            sys.exit(f"author.py: no machine '{name}'; known: {', '.join(MACHINES)}")
        MACHINES[name]().write(name)
