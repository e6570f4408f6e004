// A label that is wrong places jobs across sockets for weeks; one that is missing costs nothing.
#include <gtest/gtest.h>

#include "agent/list_labels.h"

namespace gpucheck {
namespace {

using Labels = std::map<std::string, std::string>;

Labels of(const Snapshot& snapshot) {
    Labels labels;
    constexpr std::size_t kPrefix = std::string_view("gpucheck.io/gpu.").size();
    for (const auto& [name, value] : listing::labels_of(snapshot)) labels[name.substr(kPrefix)] = value;
    return labels;
}

Snapshot machine(Vendor vendor, std::size_t count) {
    Snapshot snapshot;
    snapshot.host.pci_functions = Fact<unsigned>(40, "test");
    for (std::size_t i = 0; i < count; ++i) {
        Device gpu;
        gpu.bdf = *Bdf::parse("0000:" + std::to_string(10 + i) + ":00.0");
        gpu.vendor = vendor;
        gpu.pci.bdf = gpu.bdf;
        gpu.pci.driver = Fact<std::string>(vendor == Vendor::amd ? "amdgpu" : "nvidia", "test");
        gpu.pci.numa_node = Fact<int>(i < count / 2 ? 0 : 1, "test");
        Board board;
        board.key = vendor == Vendor::amd ? "mi300x" : "h100-sxm-80gb";
        gpu.board = Fact<Board>(board, "test");
        snapshot.gpus.push_back(gpu);
    }
    return snapshot;
}

Snapshot nvlinked(std::size_t count) {
    Snapshot snapshot = machine(Vendor::nvidia, count);
    for (Device& gpu : snapshot.gpus) {
        NvLink link;
        link.active = Fact<bool>(true, "test");
        link.remote_type = Fact<std::string>("switch", "test");
        NvidiaTelemetry& telemetry = gpu.telemetry.first.nvidia;
        telemetry.nvlinks = Fact<std::vector<NvLink>>({link, link}, "test");
        telemetry.fabric.state = Fact<std::string>("completed", "test");
    }
    return snapshot;
}

TEST(Labels, WhatIsKnown) {
    const Labels labels = of(nvlinked(8));
    EXPECT_EQ(labels, (Labels{{"count", "8"},
                              {"driven", "8"},
                              {"vendor", "nvidia"},
                              {"board", "h100-sxm-80gb"},
                              {"numa-nodes", "2"},
                              {"per-numa-node", "4"},
                              {"numa-0", "4"},
                              {"numa-1", "4"},
                              {"islands", "1"},
                              {"per-island", "8"},
                              {"largest-island", "8"},
                              {"link", "nvlink"}}));
    EXPECT_NE(listing::labels_text(nvlinked(8)).find("gpucheck.io/gpu.link=nvlink\n"), std::string::npos);
}

TEST(Labels, WhatOneGpuDoesNotTellIsNotSaidOfAll) {
    Snapshot snapshot = nvlinked(8);
    snapshot.gpus[3].pci.numa_node = Fact<int>(-1, "test");
    EXPECT_EQ(of(snapshot).count("numa-nodes"), 0U);
    snapshot.gpus[3].pci.numa_node = Fact<int>(1, "test");
    EXPECT_EQ(of(snapshot).count("per-numa-node"), 0U) << "three and five";
    EXPECT_EQ(of(snapshot).at("numa-1"), "5");
    snapshot.gpus[3].board = Missing{"gpus.json", "10de:ffff"};
    EXPECT_EQ(of(snapshot).count("board"), 0U);
    snapshot.gpus[3].pci.driver = Missing{"sysfs", "EACCES"};
    EXPECT_EQ(of(snapshot).count("driven"), 0U);
    EXPECT_EQ(of(snapshot).at("count"), "8");
    snapshot.gpus[3].telemetry.first.nvidia.nvlinks = Missing{"NVML", "GPU_IS_LOST"};
    EXPECT_EQ(of(snapshot).count("islands"), 0U);
    EXPECT_EQ(of(snapshot).count("link"), 0U);
    snapshot.host.unreadable_functions.emplace_back();
    EXPECT_EQ(of(snapshot).count("count"), 0U) << "it may be the ninth";
    snapshot.host.unreadable_functions.clear();
    snapshot.host.pci_functions = Missing{"sysfs", "EACCES"};
    EXPECT_EQ(of(snapshot).count("count"), 0U);
    snapshot.gpus.clear();
    EXPECT_TRUE(of(snapshot).empty()) << "no GPU was seen, and nobody could look";
    snapshot.host.pci_functions = Fact<unsigned>(12, "test");
    EXPECT_EQ(of(snapshot).at("count"), "0");
}

TEST(Labels, LinksThatCarryNothingMakeNoIsland) {
    Snapshot snapshot = nvlinked(4);
    snapshot.gpus[2].telemetry.first.nvidia.fabric.state = Fact<std::string>("in_progress", "test");
    EXPECT_EQ(of(snapshot).count("islands"), 0U) << "not registered with the fabric yet";
    snapshot.gpus[2].telemetry.first.nvidia.fabric.state = Missing{"NVML", "NOT_SUPPORTED"};
    EXPECT_EQ(of(snapshot).at("islands"), "1") << "before Hopper there is no registration";
    for (std::size_t i = 0; i < 4; ++i) {
        snapshot.gpus[i].telemetry.first.nvidia.fabric.clique_id = Fact<unsigned>(i < 2 ? 1U : 2U, "test");
    }
    EXPECT_EQ(of(snapshot).at("islands"), "2") << "two cliques of one fabric do not reach each other";
    EXPECT_EQ(of(snapshot).at("per-island"), "2");
    snapshot.gpus[0].telemetry.first.nvidia.state.mig_current = Fact<bool>(true, "test");
    EXPECT_EQ(of(snapshot).count("islands"), 0U);
    EXPECT_EQ(of(snapshot).count("mig"), 0U) << "of the others it is not known";
    Snapshot alone = machine(Vendor::nvidia, 2);
    for (Device& gpu : alone.gpus) gpu.telemetry.first.nvidia.nvlinks = Missing{"NVML", "NOT_SUPPORTED"};
    EXPECT_EQ(of(alone).at("link"), "pcie");
    EXPECT_EQ(of(alone).at("islands"), "2");
}

TEST(Labels, Xgmi) {
    Snapshot snapshot = machine(Vendor::amd, 4);
    EXPECT_EQ(of(snapshot).count("islands"), 0U) << "KFD was not read";
    for (unsigned i = 0; i < 4; ++i) {
        KfdNode node;
        node.node = i + 2;
        node.xgmi_peers = Fact<std::vector<KfdPeer>>({{(i ^ 1U) + 2, 15}}, "test");
        snapshot.gpus[i].amd.kfd_nodes = {node};
        snapshot.gpus[i].amd.compute_partition = Fact<std::string>("SPX", "test");
    }
    Labels labels = of(snapshot);
    EXPECT_EQ(labels.at("islands"), "2");
    EXPECT_EQ(labels.at("link"), "xgmi");
    EXPECT_EQ(labels.at("compute-partition"), "SPX");
    snapshot.gpus[1].amd.compute_partition = Fact<std::string>("CPX", "test");
    snapshot.gpus[1].telemetry.first.amd.metrics.links.xgmi_link_up =
        Fact<std::vector<unsigned>>({1, 0}, "test");
    labels = of(snapshot);
    EXPECT_EQ(labels.count("compute-partition"), 0U);
    EXPECT_EQ(labels.count("islands"), 0U) << "a link is down: KFD lists it all the same";
}

TEST(Labels, HostileValuesGiveNone) {
    Snapshot snapshot = machine(Vendor::amd, 1);
    for (const char* bad : {"", "-SPX", "SPX\nfoo=bar", "SPX,", "a b", "SP\xc3\xa4"}) {
        snapshot.gpus[0].amd.compute_partition = Fact<std::string>(bad, "test");
        EXPECT_EQ(of(snapshot).count("compute-partition"), 0U) << bad;
    }
    snapshot.gpus[0].amd.compute_partition = Fact<std::string>(std::string(64, 'x'), "test");
    EXPECT_EQ(of(snapshot).count("compute-partition"), 0U);
    snapshot.gpus[0].pci.numa_node = Fact<int>(2147483647, "test");
    EXPECT_EQ(of(snapshot).at("numa-2147483647"), "1");
    Snapshot many = machine(Vendor::amd, 60);
    for (std::size_t i = 0; i < many.gpus.size(); ++i)
        many.gpus[i].pci.numa_node = Fact<int>(static_cast<int>(i), "test");
    EXPECT_LE(of(many).size(), 32U);
    EXPECT_EQ(of(many).at("numa-nodes"), "60");
    Snapshot mixed = machine(Vendor::amd, 2);
    mixed.gpus[1].vendor = Vendor::nvidia;
    EXPECT_EQ(of(mixed).count("vendor"), 0U);
}

}  // namespace
}  // namespace gpucheck
