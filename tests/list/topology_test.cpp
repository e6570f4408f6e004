// The matrix must not send a job over the socket link when there is an NVLink, nor invent one.
#include <gtest/gtest.h>

#include "agent/list_topology.h"

namespace gpucheck {
namespace {

using listing::relation;
using listing::topology_text;

Fact<std::string> text(const std::string& value) {
    return Fact<std::string>(value, "test");
}

Device gpu(const std::string& bdf, Vendor vendor, const std::vector<std::string>& ports, int numa) {
    Device device;
    device.bdf = *Bdf::parse(bdf);
    device.vendor = vendor;
    device.pci.bdf = device.bdf;
    device.pci.numa_node = Fact<int>(numa, "test");
    for (const std::string& port : ports) {
        PciPort above;
        above.bdf = *Bdf::parse(port);
        device.pci.path.push_back(above);
    }
    return device;
}

NvLink link(unsigned number, bool active, const std::string& type, const std::string& remote) {
    NvLink result;
    result.link = number;
    result.active = Fact<bool>(active, "test");
    result.remote_type = text(type);
    result.remote = text(remote);
    return result;
}

Snapshot pair(Vendor vendor, const std::vector<std::string>& first, const std::vector<std::string>& second,
              int first_numa = 0, int second_numa = 0) {
    Snapshot snapshot;
    snapshot.gpus = {gpu("0000:19:00.0", vendor, first, first_numa),
                     gpu("0000:29:00.0", vendor, second, second_numa)};
    return snapshot;
}

std::string between(const Snapshot& snapshot) {
    EXPECT_EQ(relation(snapshot, snapshot.gpus[0], snapshot.gpus[1]),
              relation(snapshot, snapshot.gpus[1], snapshot.gpus[0]));
    return relation(snapshot, snapshot.gpus[0], snapshot.gpus[1]);
}

TEST(Topology, PciePathsAsNvidiaSmiWordsThem) {
    const auto of = [](const std::vector<std::string>& a, const std::vector<std::string>& b, int left = 0,
                       int right = 0) { return between(pair(Vendor::amd, a, b, left, right)); };
    // Downstream ports of one switch, whose upstream port is 16:00.0.
    EXPECT_EQ(of({"0000:17:00.0", "0000:16:00.0", "0000:15:01.0"},
                 {"0000:17:01.0", "0000:16:00.0", "0000:15:01.0"}),
              "PIX");
    // A switch below a switch.
    EXPECT_EQ(of({"0000:1a:00.0", "0000:18:00.0", "0000:16:00.0", "0000:15:01.0"},
                 {"0000:17:01.0", "0000:16:00.0", "0000:15:01.0"}),
              "PXB");
    EXPECT_EQ(of({"0000:15:01.0"}, {"0000:15:02.0"}), "PHB");
    EXPECT_EQ(of({"0000:15:01.0"}, {"0000:25:01.0"}), "NODE");
    EXPECT_EQ(of({"0000:15:01.0"}, {"0000:25:01.0"}, 0, 1), "SYS");
    EXPECT_EQ(of({"0000:15:01.0"}, {"0001:15:01.0"}, -1, -1), "?") << "a guest without NUMA does not tell";
}

TEST(Topology, NvlinkDirectAndThroughSwitches) {
    Snapshot snapshot = pair(Vendor::nvidia, {"0000:15:01.0"}, {"0000:25:01.0"}, 0, 1);
    EXPECT_EQ(between(snapshot), "SYS");
    std::vector<NvLink> all;
    for (unsigned i = 0; i < 18; ++i) all.push_back(link(i, true, "switch", "0000:83:00.0"));
    for (Device& each : snapshot.gpus)
        each.telemetry.first.nvidia.nvlinks = Fact<std::vector<NvLink>>(all, "test");
    EXPECT_EQ(between(snapshot), "NV18");
    all[3].active = Fact<bool>(false, "test");
    snapshot.gpus[1].telemetry.first.nvidia.nvlinks = Fact<std::vector<NvLink>>(all, "test");
    EXPECT_EQ(between(snapshot), "NV17") << "the narrower end counts";
    snapshot.gpus[0].telemetry.first.nvidia.nvlinks = Fact<std::vector<NvLink>>(
        {link(0, true, "gpu", "0000:29:00.0"), link(1, true, "gpu", "0000:39:00.0")}, "test");
    snapshot.gpus[1].telemetry.first.nvidia.nvlinks = Fact<std::vector<NvLink>>(
        {link(0, true, "gpu", "0000:19:00.0"), link(1, false, "gpu", "0000:19:00.0")}, "test");
    EXPECT_EQ(between(snapshot), "NV1");
}

TEST(Topology, NvlinkThatWasNotReadIsSaid) {
    Snapshot snapshot = pair(Vendor::nvidia, {"0000:15:01.0"}, {"0000:25:01.0"}, 0, 1);
    for (Device& each : snapshot.gpus) each.telemetry.first.nvidia.nvlinks = Missing{"NVML", "GPU_IS_LOST"};
    EXPECT_NE(topology_text(snapshot, 140).find("was not read: GPU_IS_LOST"), std::string::npos);
    for (Device& each : snapshot.gpus) each.telemetry.first.nvidia.nvlinks = Missing{"NVML", "NOT_SUPPORTED"};
    EXPECT_EQ(topology_text(snapshot, 140).find("was not read"), std::string::npos);
}

void kfd(Device& device, unsigned number, std::uint64_t hive, Fact<std::vector<KfdPeer>> peers) {
    KfdNode node;
    node.node = number;
    node.hive_id = Fact<std::uint64_t>(hive, "test");
    node.xgmi_peers = std::move(peers);
    device.amd.kfd_nodes.push_back(node);
}

TEST(Topology, XgmiByLinkAndHops) {
    const auto with = [](unsigned weight) {
        Snapshot snapshot = pair(Vendor::amd, {"0000:15:01.0"}, {"0000:25:01.0"}, 0, 1);
        kfd(snapshot.gpus[0], 2, 7, Fact<std::vector<KfdPeer>>({{3, weight}}, "test"));
        kfd(snapshot.gpus[1], 3, 7, Fact<std::vector<KfdPeer>>({{2, weight}}, "test"));
        return between(snapshot);
    };
    EXPECT_EQ(with(15), "XGMI");
    EXPECT_EQ(with(30), "XGMI2");
    EXPECT_EQ(with(41), "XGMI") << "between partitions of two packages";
}

TEST(Topology, AMissingXgmiLinkIsSeenAlthoughTheHiveIsOne) {
    Snapshot snapshot = pair(Vendor::amd, {"0000:15:01.0"}, {"0000:25:01.0"}, 0, 1);
    kfd(snapshot.gpus[0], 2, 7, Fact<std::vector<KfdPeer>>(std::vector<KfdPeer>{{4, 15}}, "test"));
    kfd(snapshot.gpus[1], 3, 7, Fact<std::vector<KfdPeer>>(std::vector<KfdPeer>{{4, 15}}, "test"));
    EXPECT_EQ(between(snapshot), "SYS");
}

TEST(Topology, WithoutLinksTheHiveTells) {
    const auto hives = [](std::uint64_t left, std::uint64_t right) {
        Snapshot snapshot = pair(Vendor::amd, {"0000:15:01.0"}, {"0000:25:01.0"}, 0, 1);
        kfd(snapshot.gpus[0], 2, left, Missing{"test", "not read: 3969 links on 63 nodes"});
        kfd(snapshot.gpus[1], 3, right, Missing{"test", "not read: 3969 links on 63 nodes"});
        return between(snapshot);
    };
    EXPECT_EQ(hives(7, 7), "XGMI");
    EXPECT_EQ(hives(7, 8), "SYS");
    EXPECT_EQ(hives(0, 0), "SYS") << "0 is no hive";
}

TEST(Topology, JsonHasTheMatrix) {
    const Snapshot snapshot = pair(Vendor::amd, {"0000:15:01.0"}, {"0000:25:01.0"}, 0, 1);
    const Json json = listing::topology_json(snapshot);
    EXPECT_EQ(json["relations"], Json::parse(R"([["X","SYS"],["SYS","X"]])"));
    EXPECT_EQ(json["gpus"][1]["bdf"], "0000:29:00.0");
    EXPECT_EQ(json["gpus"][1]["numa_node"], 1);
    EXPECT_TRUE(json["gpus"][1]["cpus"].is_null());
}

}  // namespace
}  // namespace gpucheck
