// Healthy machines as snapshots; see healthy.h.
#include "tests/checks/healthy.h"

#include <algorithm>

namespace gpucheck {
namespace {

PciLink link(LinkSpeed speed, unsigned width) {
    return {fact(speed), fact(speed), fact(width), fact(width)};
}

PcieConfig config(LinkSpeed speed) {
    return {speed, 16, speed, 16, speed, false, false};
}

Bar bar(unsigned index, std::uint64_t start, std::uint64_t size) {
    return {index, start, size, 0x14220c};
}

Aer clean_aer() {
    return {fact(AerCounters{}), fact(AerCounters{}), fact(AerCounters{})};
}

PciFunction function(Bdf bdf, std::uint16_t vendor, std::uint16_t device, std::uint32_t class_code,
                     const char* driver) {
    PciFunction pci;
    pci.bdf = bdf;
    pci.vendor = fact(vendor);
    pci.device = fact(device);
    pci.sub_vendor = fact(vendor);
    pci.sub_device = fact(device);
    pci.class_code = fact(class_code);
    pci.revision = fact(std::uint8_t{0xa1});
    pci.driver = fact(driver);
    pci.has_physfn = fact(false);
    pci.link = link(LinkSpeed::gen5, 16);
    pci.numa_node = fact(0);
    pci.runtime_status = fact("active");
    pci.power_state = fact("D0");
    pci.enabled = fact(true);
    pci.config = fact(config(LinkSpeed::gen5));
    return pci;
}

DeviceNode node(const char* path, NodeKind kind, unsigned major, unsigned minor, unsigned mode,
                unsigned gid) {
    return {path,       kind,        fact(NodeStat{"char", major, minor, mode, 0, gid}),
            fact("ok"), fact(major), fact(minor)};
}

Module module(const char* name, bool loaded, const char* version) {
    Module result;
    result.name = name;
    result.loaded = fact(loaded);
    result.version = version != nullptr ? fact(version) : Fact<std::string>(Missing{"test", "ENOENT"});
    result.file = fact(loaded ? "/lib/modules/6.8.0-55-generic/updates/dkms/module.ko" : "");
    result.blacklisted_by = fact("");
    return result;
}

Library library(const char* soname, const char* path, const char* version) {
    Library result;
    result.soname = soname;
    result.path = path;
    result.found_by = "default";
    result.real_path = fact(path);
    result.version = fact(version);
    result.size_bytes = fact(std::uint64_t{2000000});
    return result;
}

Host ubuntu_24_04() {
    Host host;
    host.kernel_release = fact("6.8.0-55-generic");
    host.kernel_cmdline = fact("BOOT_IMAGE=/boot/vmlinuz-6.8.0-55-generic ro iommu=pt pci=realloc=off");
    host.os_id = fact("ubuntu");
    host.os_version_id = fact("24.04");
    host.os_pretty_name = fact("Ubuntu 24.04.2 LTS");
    host.hostname = fact("gpu-node-01");
    host.uptime_s = fact(120.0);
    LogSummary quiet;
    quiet.lines = 44;
    quiet.first = "0.000000";
    quiet.last = "13.080000";
    host.kernel_log = Fact<LogSummary>(quiet, "/dev/kmsg");
    host.numa_balancing = fact(0);
    host.container = fact("none");
    host.secure_boot = fact(false);
    host.lockdown = fact("none");
    host.cpus_online = fact(2U);
    host.memory_total_bytes = fact(std::uint64_t{2} << 40);
    host.memory_available_bytes = fact(std::uint64_t{2} << 40);
    host.filesystems = {{"/", fact(std::uint64_t{1} << 40), fact(std::uint64_t{1} << 39)},
                        {"/boot", fact(std::uint64_t{1} << 30), fact(std::uint64_t{1} << 29)}};
    host.time_synchronized = fact(true);
    host.groups = {{"video", 44}, {"render", 109}};
    host.process.uid = fact(0U);
    host.process.gids = fact(std::vector<unsigned>{0});
    host.process.user_namespace = fact(false);
    host.process.now = fact("2026-11-30T10:00:00Z");
    return host;
}

}  // namespace

Snapshot healthy_h100_x8() {
    Snapshot snapshot;
    Host& host = snapshot.host;
    host = ubuntu_24_04();
    host.hypervisor = fact("none");
    host.pci_functions = fact(132U);
    host.numa_nodes = fact(2U);
    host.nvidia.version = fact("570.133.20");
    host.nvidia.open_kernel_module = fact(true);
    host.nvidia.params = {{"ModifyDeviceFiles", "1"},
                          {"DeviceFileMode", "438"},
                          {"DeviceFileUID", "0"},
                          {"DeviceFileGID", "0"}};
    host.modules = {module("nvidia", true, "570.133.20"), module("nvidia_uvm", true, "570.133.20"),
                    module("nouveau", false, nullptr), module("amdgpu", false, nullptr)};
    host.kfd.nodes_total = Missing{"test", "ENOENT"};
    host.kfd.gpu_nodes = Missing{"test", "ENOENT"};
    host.nodes = {node("/dev/nvidiactl", NodeKind::nvidia_ctl, 195, 255, 0666, 0),
                  node("/dev/nvidia-uvm", NodeKind::nvidia_uvm, 510, 0, 0666, 0)};
    host.libraries = {
        library("libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.570.133.20", "570.133.20"),
        library("libnvidia-ml.so.1", "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.133.20", "570.133.20")};
    std::vector<std::string> names;
    Board board;
    board.key = "h100-sxm-80gb";
    board.name = "NVIDIA H100 SXM5 80GB";
    board.form = FormFactor::sxm;
    board.arch = "sm_90";
    board.compute_units = fact(132U);
    board.pcie_speed = fact(LinkSpeed::gen5);
    board.pcie_width = fact(16U);
    board.driver_min = fact("525.60");
    board.needs_nvswitch = true;
    for (unsigned i = 0; i < 8; ++i) {
        Device gpu;
        gpu.bdf = Bdf{0, static_cast<std::uint8_t>(0x19 + 0x10 * i), 0, 0};
        gpu.vendor = Vendor::nvidia;
        gpu.pci = function(gpu.bdf, 0x10de, 0x2330, 0x030200, "nvidia");
        gpu.pci.aer = clean_aer();
        gpu.pci.iommu_group = fact("12");
        gpu.pci.bars =
            fact(std::vector<Bar>{bar(0, 0x214042000000, 16ULL << 20), bar(2, 0x210000000000, 128ULL << 30),
                                  bar(4, 0x214000000000, 32ULL << 20)});
        PciPort port;
        port.bdf = Bdf{0, static_cast<std::uint8_t>(0x17 + 0x10 * i), 1, 0};
        port.vendor = fact(std::uint16_t{0x1000});
        port.device = fact(std::uint16_t{0xc030});
        port.link = link(LinkSpeed::gen5, 16);
        port.aer = clean_aer();
        port.config = fact(config(LinkSpeed::gen5));
        gpu.pci.path = {port};
        port.bdf = Bdf{0, static_cast<std::uint8_t>(0x15 + 0x10 * i), 1, 0};
        port.vendor = fact(std::uint16_t{0x8086});
        gpu.pci.path.push_back(port);
        gpu.board = fact(board);
        gpu.nvidia.model = fact("NVIDIA H100 80GB HBM3");
        gpu.nvidia.minor = fact(i);
        gpu.nvidia.excluded = fact(false);
        gpu.nvidia.gsp_firmware = fact("570.133.20");
        gpu.nvidia.vbios_version = fact("96.00.74.00.01");
        const std::string path = "/dev/nvidia" + std::to_string(i);
        gpu.nodes = {node(path.c_str(), NodeKind::nvidia_gpu, 195, i, 0666, 0)};
        names.push_back(gpu.bdf.str());
        snapshot.gpus.push_back(gpu);
    }
    host.nvidia.proc_gpus = fact(names);
    snapshot.expected.gpu_count = Fact<unsigned>(8, "--expect");
    return snapshot;
}

Snapshot healthy_mi300x_vf() {
    Snapshot snapshot;
    Host& host = snapshot.host;
    host = ubuntu_24_04();
    host.hypervisor = fact("kvm");
    host.dmi.sys_vendor = fact("DigitalOcean");
    host.pci_functions = fact(5U);
    host.numa_nodes = fact(1U);
    host.rocm_version = fact("6.3.2-66");
    host.modules = {module("amdgpu", true, "6.10.5"), module("nvidia", false, nullptr),
                    module("nouveau", false, nullptr)};
    host.dkms = {{"amdgpu", "6.10.5-2125197.24.04", fact("installed")}};
    host.kfd.nodes_total = fact(2U);
    host.kfd.gpu_nodes = fact(1U);
    host.nodes = {node("/dev/kfd", NodeKind::kfd, 236, 0, 0660, 109)};
    host.libraries = {library("libamdhip64.so.6", "/opt/rocm/lib/libamdhip64.so.6.3.60302", "6.3.60302")};

    Board board;
    board.key = "mi300x";
    board.name = "AMD Instinct MI300X";
    board.vendor = Vendor::amd;
    board.form = FormFactor::oam;
    board.arch = "gfx942";
    board.virtual_function = true;
    board.compute_units = fact(304U);
    board.pcie_speed = fact(LinkSpeed::gen5);
    board.pcie_width = fact(16U);
    board.memory_bytes = fact(std::uint64_t{206141652992ULL});
    board.partitions_max = fact(8U);
    board.kernel_min = fact("6.5");
    Device gpu;
    gpu.bdf = Bdf{0, 0x83, 0, 0};
    gpu.vendor = Vendor::amd;
    gpu.pci = function(gpu.bdf, 0x1002, 0x74b5, 0x120000, "amdgpu");
    gpu.pci.sub_device = fact(std::uint16_t{0x74a1});
    gpu.pci.numa_node = fact(-1);
    gpu.pci.aer = {Missing{"test", "ENOENT"}, Missing{"test", "ENOENT"}, Missing{"test", "ENOENT"}};
    gpu.pci.bars = fact(std::vector<Bar>{bar(0, 0x4000000000, 256ULL << 30),
                                         bar(2, 0x3ff000000000, 2ULL << 20),
                                         {5, 0xc1000000, 512ULL << 10, 0x40200}});
    PciPort port;
    port.bdf = Bdf{0, 0x80, 3, 0};
    port.vendor = fact(std::uint16_t{0x1b36});
    port.device = fact(std::uint16_t{0x000c});
    port.link = link(LinkSpeed::gen5, 16);
    gpu.pci.path = {port};
    gpu.board = fact(board);
    KfdNode kfd;
    kfd.node = 1;
    kfd.gpu_id = fact(std::uint64_t{41001});
    kfd.unique_id = fact(std::uint64_t{4376754343743654429ULL});
    kfd.location_id = fact(std::uint64_t{33536});
    kfd.domain = fact(std::uint64_t{0});
    kfd.vendor_id = fact(std::uint64_t{4098});
    kfd.device_id = fact(std::uint64_t{29877});
    kfd.gfx_target_version = fact(std::uint64_t{90402});
    kfd.simd_count = fact(std::uint64_t{1216});
    kfd.simd_per_cu = fact(std::uint64_t{4});
    kfd.num_xcc = fact(std::uint64_t{8});
    kfd.drm_render_minor = fact(std::uint64_t{128});
    kfd.hive_id = fact(std::uint64_t{0});
    kfd.capability = fact(std::uint64_t{746037888});
    kfd.vram_bytes = fact(std::uint64_t{205571227648ULL});
    gpu.amd.kfd_nodes = {kfd};
    gpu.amd.compute_partition = fact("SPX");
    gpu.amd.memory_partition = fact("NPS1");
    gpu.amd.unique_id = fact("3cbd4e5f6071829d");
    gpu.amd.vram_total_bytes = fact(std::uint64_t{205571227648ULL});
    gpu.amd.vbios_version = fact("113-MI3SRIOV-001");
    gpu.nodes = {node("/dev/dri/renderD128", NodeKind::render, 226, 128, 0660, 109),
                 node("/dev/dri/card1", NodeKind::card, 226, 1, 0660, 44)};
    snapshot.gpus = {gpu};
    snapshot.expected.gpu_count = Fact<unsigned>(1, "--expect");
    return snapshot;
}

Findings complaints(const Check& check, const Snapshot& snapshot) {
    Findings all = run_check(check, snapshot, Profile::acceptance).findings;
    all.erase(std::remove_if(all.begin(), all.end(),
                             [](const Finding& f) {
                                 return f.verdict == Verdict::pass || f.verdict == Verdict::not_applicable;
                             }),
              all.end());
    return all;
}

std::string said(const Check& check, const Snapshot& snapshot) {
    std::vector<std::string> lines;
    for (const Finding& finding : complaints(check, snapshot)) {
        lines.push_back(std::string(finding.code) + " " + finding.subject.id + " " +
                        std::string(name_of(finding.verdict)));
    }
    std::sort(lines.begin(), lines.end());
    std::string text;
    for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
    return text;
}

}  // namespace gpucheck
