// Folds KFD's logical nodes into physical GPUs, so that one GPU in eight partitions is not counted as eight
// and a GPU that KFD skipped is not covered by its neighbour's partitions.
#include <charconv>
#include <string>
#include <utility>

#include "agent/host/kfd.h"

namespace gpucheck::host {
namespace {

// The one AMD function at the address that the node names. The function bits of location_id carry the
// partition number, so they only decide between several functions of one device. Old kernels print no
// domain: then the bus alone must be unique.
Device* owner_by_address(const KfdNode& node, std::vector<Device>& gpus) {
    if (!node.location_id.known() || node.location_id.value() > 0xffff) return nullptr;
    if (node.domain.known() ? node.domain.value() > 0xffffffffU : !node.domain.absent()) return nullptr;
    const auto domain = static_cast<std::uint32_t>(node.domain.known() ? node.domain.value() : 0);
    const Bdf wanted = Bdf::from_kfd(static_cast<std::uint32_t>(node.location_id.value()), domain);
    Device *only = nullptr, *exact = nullptr;
    unsigned candidates = 0, exact_matches = 0;
    for (Device& gpu : gpus) {
        if (gpu.vendor != Vendor::amd || gpu.bdf.bus != wanted.bus || gpu.bdf.device != wanted.device)
            continue;
        if (node.domain.known() && gpu.bdf.domain != wanted.domain) continue;
        only = &gpu;
        ++candidates;
        if (gpu.bdf.function != wanted.function) continue;
        exact = &gpu;
        ++exact_matches;
    }
    if (candidates == 1) return only;
    return exact_matches == 1 ? exact : nullptr;
}

bool same_unique_id(const Fact<std::uint64_t>& left, const Fact<std::uint64_t>& right) {
    return left.known() && left.value() != 0 && right.is(left.value());
}

// Partitions share the id of their GPU: the owner of any sibling is the owner, unless siblings disagree.
Device* owner_by_siblings(const KfdNode& node, const std::vector<KfdNode>& nodes,
                          const std::vector<Device*>& owners) {
    Device* owner = nullptr;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (owners[i] == nullptr || !same_unique_id(node.unique_id, nodes[i].unique_id)) continue;
        if (owner != nullptr && owner != owners[i]) return nullptr;
        owner = owners[i];
    }
    return owner;
}

// sysfs prints the same id in hexadecimal, without 0x (amdgpu_device.c, unique_id).
Device* owner_by_sysfs_id(const KfdNode& node, std::vector<Device>& gpus) {
    if (!node.unique_id.known() || node.unique_id.value() == 0) return nullptr;
    Device* owner = nullptr;
    for (Device& gpu : gpus) {
        if (gpu.vendor != Vendor::amd || !gpu.amd.unique_id.known()) continue;
        const std::string& text = gpu.amd.unique_id.value();
        std::uint64_t id = 0;
        const char* end = text.data() + text.size();
        const auto result = std::from_chars(text.data(), end, id, 16);
        if (result.ec != std::errc{} || result.ptr != end || id != node.unique_id.value()) continue;
        if (owner != nullptr) return nullptr;
        owner = &gpu;
    }
    return owner;
}

}  // namespace

void fold_kfd(KfdTopology&& topology, std::vector<Device>& gpus, Kfd& summary) {
    std::vector<KfdNode>& nodes = topology.gpu_nodes;
    std::vector<Device*> owners;
    for (const KfdNode& node : nodes) owners.push_back(owner_by_address(node, gpus));
    const std::vector<Device*> by_address = owners;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (owners[i] == nullptr) owners[i] = owner_by_siblings(nodes[i], nodes, by_address);
        if (owners[i] == nullptr) owners[i] = owner_by_sysfs_id(nodes[i], gpus);
    }
    summary = std::move(topology.summary);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (owners[i] != nullptr) {
            owners[i]->amd.kfd_nodes.push_back(std::move(nodes[i]));
        } else {
            summary.orphans.push_back(std::move(nodes[i]));
        }
    }
}

}  // namespace gpucheck::host
