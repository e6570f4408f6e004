// Eight AMD accelerators on one board, whole and partitioned; see healthy.h.
#include <string>

#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

// The address of GPU `index` on the machine of the public CPX dump's kind: buses 05, 26, 46 ...
Bdf address(unsigned index) {
    return Bdf{0, static_cast<std::uint8_t>(0x05 + 0x20 * index), 0, 0};
}

DeviceNode render_node(unsigned minor) {
    return {"/dev/dri/renderD" + std::to_string(minor),
            NodeKind::render,
            fact(NodeStat{"char", 226, minor, 0660, 0, 109}),
            fact("ok"),
            fact(226U),
            fact(minor)};
}

void make_physical(Device& gpu, unsigned index) {
    gpu.bdf = address(index);
    gpu.pci.bdf = gpu.bdf;
    gpu.pci.device = fact(std::uint16_t{0x74a1});
    gpu.pci.numa_node = fact(static_cast<int>(index / 4));
    Board board = gpu.board.value();
    board.virtual_function = false;
    gpu.board = fact(board);
    gpu.amd.vram_total_bytes = fact(std::uint64_t{206141652992ULL});
    gpu.amd.vbios_version = fact("113-M3000100-102");
    gpu.amd.firmware = {{"mec", "0x000000b1"}, {"sdma", "0x00000018"}, {"sos", "0x00360c05"}};
    KfdNode& node = gpu.amd.kfd_nodes.front();
    node.node = 2 + index;
    node.unique_id = fact(std::uint64_t{0x1000000000000000} + index);
    node.location_id = fact(std::uint64_t{gpu.bdf.bus} << 8);
    node.device_id = fact(std::uint64_t{0x74a1});
    node.drm_render_minor = fact(std::uint64_t{128} + index);
    node.hive_id = fact(std::uint64_t{15188900000000000000ULL});
    node.vram_bytes = fact(std::uint64_t{206141652992ULL});
    gpu.nodes = {render_node(128 + index)};
}

}  // namespace

Snapshot healthy_mi300x_x8() {
    Snapshot machine = healthy_mi300x_vf();
    machine.host.hypervisor = fact("none");
    machine.host.pci_functions = fact(160U);
    machine.host.kfd.nodes_total = fact(10U);
    machine.host.kfd.gpu_nodes = fact(8U);
    const Device model = machine.gpus.front();
    machine.gpus.clear();
    for (unsigned i = 0; i < 8; ++i) {
        machine.gpus.push_back(model);
        make_physical(machine.gpus.back(), i);
    }
    machine.expected.gpu_count = Fact<unsigned>(8, "--expect");
    return machine;
}

Snapshot healthy_mi300x_x8_cpx() {
    Snapshot machine = healthy_mi300x_x8();
    machine.host.kfd.nodes_total = fact(66U);
    machine.host.kfd.gpu_nodes = fact(64U);
    unsigned minor = 128;
    for (Device& gpu : machine.gpus) {
        gpu.amd.compute_partition = fact("CPX");
        KfdNode node = gpu.amd.kfd_nodes.front();
        node.simd_count = fact(std::uint64_t{152});
        node.num_xcc = fact(std::uint64_t{1});
        node.vram_bytes = fact(std::uint64_t{206141652992ULL / 8});
        gpu.amd.kfd_nodes.clear();
        gpu.nodes.clear();
        for (unsigned part = 0; part < 8; ++part, ++minor) {
            node.drm_render_minor = fact(std::uint64_t{minor});
            gpu.amd.kfd_nodes.push_back(node);
            gpu.nodes.push_back(render_node(minor));
        }
    }
    return machine;
}

}  // namespace gpucheck
