// KFD topologies of real machines and the near-misses of every folding rule.
#include "agent/host/kfd.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/host/drivers_examples.h"

namespace gpucheck::host {
namespace {

const std::string kTopology = "/sys/class/kfd/kfd/topology";
const std::string kNodes = kTopology + "/nodes";

Device amd_gpu(const std::string& address) {
    Device gpu;
    gpu.bdf = Bdf::parse(address).value();
    gpu.vendor = Vendor::amd;
    return gpu;
}

// A GPU node with the keys that folding looks at; `extra` are more lines.
void add_node(TempMachine& machine, unsigned node, unsigned gpu_id, std::uint64_t location,
              const std::string& extra = "domain 0\nunique_id 0\n") {
    const std::string folder = kNodes + "/" + std::to_string(node);
    machine.file(folder + "/gpu_id", std::to_string(gpu_id) + "\n");
    machine.file(folder + "/properties",
                 "cpu_cores_count 0\nsimd_count 1216\nmem_banks_count 0\nio_links_count 0\n" +
                     std::string("location_id ") + std::to_string(location) + "\n" + extra);
}

struct Folded {
    std::vector<Device> gpus;
    Kfd summary;
};

Folded fold(const TempMachine& machine, const std::vector<std::string>& addresses) {
    Folded result;
    for (const std::string& address : addresses) result.gpus.push_back(amd_gpu(address));
    fold_kfd(read_kfd(machine.open()), result.gpus, result.summary);
    return result;
}

TEST(Kfd, SixtyThreeLogicalNodesAreEightGpus) {
    GPUCHECK_FIELD_OR_SKIP(dump, "kfd_topology_mi300x_cpx_63nodes.txt");
    TempMachine machine;
    unpack(machine, *dump, kTopology);
    const Folded folded = fold(machine, {"0000:05:00.0", "0000:27:00.0", "0000:47:00.0", "0000:65:00.0",
                                         "0000:85:00.0", "0000:a7:00.0", "0000:c7:00.0", "0000:e5:00.0"});
    EXPECT_TRUE(folded.summary.nodes_total.is(65U));
    EXPECT_TRUE(folded.summary.gpu_nodes.is(63U));
    EXPECT_TRUE(folded.summary.unreadable.empty());
    EXPECT_TRUE(folded.summary.orphans.empty());
    for (const Device& gpu : folded.gpus) {
        const bool short_one = gpu.bdf.bus == 0xe5;
        EXPECT_EQ(gpu.amd.kfd_nodes.size(), short_one ? 7U : 8U) << gpu.bdf.str();
        std::set<std::uint64_t> ids;
        for (const KfdNode& node : gpu.amd.kfd_nodes) {
            ids.insert(node.unique_id.value());
            EXPECT_TRUE(node.num_xcc.is(1U));
            EXPECT_TRUE(node.gfx_target_version.is(90402U));
            EXPECT_TRUE(node.vram_bytes.absent());  // the dump holds no mem_banks
            EXPECT_EQ(node.xgmi_links.why(), "not read: 3969 links on 63 nodes");
            EXPECT_EQ(node.pcie_links.why(), node.xgmi_links.why());
        }
        EXPECT_EQ(ids.size(), 1U);
    }
}

TEST(Kfd, Mi210InTwoHivesIsEightGpus) {
    GPUCHECK_FIELD_OR_SKIP(dump, "kfd_topology_mi210_8gpu_two_hives.txt");
    TempMachine machine;
    unpack(machine, *dump, kTopology);
    const Folded folded = fold(machine, {"0000:03:00.0", "0000:26:00.0", "0000:43:00.0", "0000:63:00.0",
                                         "0000:83:00.0", "0000:a3:00.0", "0000:c3:00.0", "0000:e3:00.0"});
    EXPECT_TRUE(folded.summary.gpu_nodes.is(8U));
    EXPECT_TRUE(folded.summary.orphans.empty());
    std::map<std::uint64_t, int> hives;
    for (const Device& gpu : folded.gpus) {
        ASSERT_EQ(gpu.amd.kfd_nodes.size(), 1U) << gpu.bdf.str();
        const KfdNode& node = gpu.amd.kfd_nodes.front();
        ++hives[node.hive_id.value()];
        EXPECT_TRUE(node.xgmi_links.is(3U)) << node.xgmi_links.why();
        EXPECT_TRUE(node.pcie_links.is(1U)) << node.pcie_links.why();
    }
    ASSERT_EQ(hives.size(), 2U);
    EXPECT_EQ(hives.begin()->second, 4);
}

TEST(Kfd, LinksAreCountedByTypeWhenTheyAreFew) {
    GPUCHECK_FIELD_OR_SKIP(topology, "kfd_topology_mi300x_cpx_63nodes.txt");
    GPUCHECK_FIELD_OR_SKIP(links, "kfd_io_links_mi300x_cpx_node2.txt");
    TempMachine machine;
    unpack(machine, *topology, kTopology, "nodes/2/");
    unpack(machine, *links, kTopology);
    const KfdTopology read = read_kfd(machine.open());
    ASSERT_EQ(read.gpu_nodes.size(), 1U);
    EXPECT_TRUE(read.gpu_nodes[0].xgmi_links.is(62U)) << read.gpu_nodes[0].xgmi_links.why();
    EXPECT_TRUE(read.gpu_nodes[0].pcie_links.is(1U));
    std::filesystem::remove(machine.at(kNodes + "/2/io_links/9/properties"));
    EXPECT_TRUE(read_kfd(machine.open()).gpu_nodes[0].xgmi_links.absent());  // 61 would be a lie
}

TEST(Kfd, ExampleVirtualFunction) {
    GPUCHECK_EXAMPLE_OR_SKIP(root, "machine-mi300x-vf");
    std::vector<Device> gpus{amd_gpu("0000:83:00.0")};
    Kfd summary;
    fold_kfd(read_kfd(*root), gpus, summary);
    EXPECT_TRUE(summary.nodes_total.is(2U));
    EXPECT_TRUE(summary.gpu_nodes.is(1U));
    ASSERT_EQ(gpus[0].amd.kfd_nodes.size(), 1U);
    const KfdNode& node = gpus[0].amd.kfd_nodes[0];
    EXPECT_EQ(node.node, 1U);
    EXPECT_TRUE(node.gpu_id.is(28851U));
    EXPECT_TRUE(node.vram_bytes.is(205822885888U));
    EXPECT_TRUE(node.drm_render_minor.is(128U));
    EXPECT_TRUE(node.name.is("ip discovery"));
    EXPECT_TRUE(node.pcie_links.is(1U));
    EXPECT_TRUE(node.xgmi_links.is(0U));
}

TEST(Kfd, ExampleWithoutAmdHasNoTopology) {
    GPUCHECK_EXAMPLE_OR_SKIP(root, "machine-h100-sxm-x8");
    const KfdTopology read = read_kfd(*root);
    EXPECT_TRUE(read.summary.nodes_total.absent());
    EXPECT_TRUE(read.summary.gpu_nodes.absent());
}

TEST(Kfd, FoldersAreNeverCountedAsGpus) {
    TempMachine machine;
    machine.file(kNodes + "/0/gpu_id", "0\n")
        .file(kNodes + "/0/properties", "cpu_cores_count 96\nsimd_count 0\n");
    machine.file(kNodes + "/1/gpu_id", "0\n")
        .file(kNodes + "/1/properties", "cpu_cores_count 96\nsimd_count 0\n");
    machine.file(kNodes + "/notes", "not a node\n");
    const KfdTopology read = read_kfd(machine.open());
    EXPECT_TRUE(read.summary.nodes_total.is(2U));
    EXPECT_TRUE(read.summary.gpu_nodes.is(0U));
    EXPECT_TRUE(read.summary.unreadable.empty());
}

TEST(Kfd, AnAcceleratedProcessorIsCpuAndGpuInOneNode) {
    TempMachine machine;
    machine.file(kNodes + "/0/gpu_id", "4711\n")
        .file(kNodes + "/0/properties",
              "cpu_cores_count 24\nsimd_count 912\nmem_banks_count 1\nlocation_id 256\ndomain 0\n")
        .file(kNodes + "/0/mem_banks/0/properties", "heap_type 0\nsize_in_bytes 1000\n");
    const Folded folded = fold(machine, {"0000:01:00.0"});
    ASSERT_EQ(folded.gpus[0].amd.kfd_nodes.size(), 1U);
    EXPECT_EQ(folded.gpus[0].amd.kfd_nodes[0].vram_bytes.why(), "no frame-buffer bank");
}

TEST(Kfd, NodesOutsideTheDeviceCgroupAreNoFault) {
    TempMachine machine;
    add_node(machine, 1, 100, 0x500);
    add_node(machine, 2, 200, 0x2700);
    add_node(machine, 10, 300, 0x4700);
    machine.beside("nodes.json", R"([
        {"path":"/sys/class/kfd/kfd/topology/nodes/2/gpu_id","type":"file","mode":"0444","uid":0,"gid":0,"open":"ok","read":"EPERM"},
        {"path":"/sys/class/kfd/kfd/topology/nodes/10/properties","type":"file","mode":"0444","uid":0,"gid":0,"open":"ok","read":"EPERM"}])");
    const Folded folded = fold(machine, {"0000:05:00.0", "0000:27:00.0"});
    EXPECT_TRUE(folded.summary.gpu_nodes.is(1U));
    EXPECT_EQ(folded.summary.unreadable, (std::vector<std::string>{"2: EPERM", "10: EPERM"}));
    EXPECT_EQ(folded.gpus[0].amd.kfd_nodes.size(), 1U);
    EXPECT_TRUE(folded.gpus[1].amd.kfd_nodes.empty());
    EXPECT_TRUE(folded.summary.orphans.empty());
}

TEST(Kfd, NotCapturedIsUnreadable) {
    TempMachine machine;
    machine.folder(kNodes + "/0").beside("captured.txt", "/sys/class/kfd/kfd/topology/nodes/*\n");
    machine.file(kNodes + "/0/properties", "simd_count 1216\nlocation_id 1280\n");
    EXPECT_EQ(read_kfd(machine.open()).summary.unreadable, (std::vector<std::string>{"0: not captured"}));
}

TEST(Kfd, OldKernelsLackKeys) {
    TempMachine machine;
    add_node(machine, 1, 100, 0x500, "");
    const Folded folded = fold(machine, {"0000:05:00.0"});
    ASSERT_EQ(folded.gpus[0].amd.kfd_nodes.size(), 1U);  // no domain, but only one GPU has this bus
    const KfdNode& node = folded.gpus[0].amd.kfd_nodes[0];
    EXPECT_TRUE(node.unique_id.absent());
    EXPECT_EQ(node.hive_id.source(), kNodes + "/1/properties hive_id");
    EXPECT_TRUE(node.num_xcc.absent());
    const Folded ambiguous = fold(machine, {"0000:05:00.0", "0001:05:00.0"});
    EXPECT_EQ(ambiguous.summary.orphans.size(), 1U);
}

TEST(Kfd, DomainsAreToldApart) {
    TempMachine machine;
    add_node(machine, 1, 100, 0x100, "domain 2\nunique_id 0\n");
    const Folded folded = fold(machine, {"0001:01:00.0", "0002:01:00.0"});
    EXPECT_TRUE(folded.gpus[0].amd.kfd_nodes.empty());
    EXPECT_EQ(folded.gpus[1].amd.kfd_nodes.size(), 1U);
}

TEST(Kfd, PartitionsFollowTheirUniqueId) {
    TempMachine machine;
    add_node(machine, 1, 100, 0x500, "domain 0\nunique_id 77\n");
    add_node(machine, 2, 101, 0xf00, "domain 0\nunique_id 77\n");  // same GPU, foreign location
    add_node(machine, 3, 102, 0xe00, "domain 0\nunique_id 0\n");   // zero is no id
    add_node(machine, 4, 103, 0xd00, "domain 0\nunique_id 78\n");
    const Folded folded = fold(machine, {"0000:05:00.0"});
    EXPECT_EQ(folded.gpus[0].amd.kfd_nodes.size(), 2U);
    ASSERT_EQ(folded.summary.orphans.size(), 2U);
    EXPECT_EQ(folded.summary.orphans[0].node, 3U);
    EXPECT_EQ(folded.summary.orphans[1].node, 4U);
}

TEST(Kfd, AddressesWinOverEqualIds) {
    TempMachine machine;
    add_node(machine, 1, 100, 0x500, "domain 0\nunique_id 77\n");
    add_node(machine, 2, 101, 0x600, "domain 0\nunique_id 77\n");
    add_node(machine, 3, 102, 0x700, "domain 0\nunique_id 77\n");  // siblings disagree: nobody's
    const Folded folded = fold(machine, {"0000:05:00.0", "0000:06:00.0"});
    EXPECT_EQ(folded.gpus[0].amd.kfd_nodes.size(), 1U);
    EXPECT_EQ(folded.gpus[1].amd.kfd_nodes.size(), 1U);
    EXPECT_EQ(folded.summary.orphans.size(), 1U);
}

TEST(Kfd, TheHexadecimalIdOfSysfsDecidesLast) {
    TempMachine machine;
    add_node(machine, 1, 100, 0xf00, "domain 0\nunique_id 255\n");
    std::vector<Device> gpus{amd_gpu("0000:05:00.0"), amd_gpu("0000:06:00.0")};
    gpus[1].amd.unique_id = Fact<std::string>("00000000000000ff", "unique_id");
    Kfd summary;
    fold_kfd(read_kfd(machine.open()), gpus, summary);
    EXPECT_EQ(gpus[1].amd.kfd_nodes.size(), 1U);
    EXPECT_TRUE(summary.orphans.empty());
}

TEST(Kfd, FunctionBitsDecideOnlyBetweenFunctionsOfOneDevice) {
    TempMachine machine;
    add_node(machine, 1, 100, 0x500);
    add_node(machine, 2, 101, 0x501);
    const Folded two = fold(machine, {"0000:05:00.0", "0000:05:00.1"});  // two virtual functions
    EXPECT_EQ(two.gpus[0].amd.kfd_nodes.size(), 1U);
    EXPECT_EQ(two.gpus[1].amd.kfd_nodes.size(), 1U);
    const Folded one = fold(machine, {"0000:05:00.0"});  // two partitions
    EXPECT_EQ(one.gpus[0].amd.kfd_nodes.size(), 2U);
}

TEST(Kfd, GpusOfOtherVendorsOwnNothing) {
    TempMachine machine;
    add_node(machine, 1, 100, 0x500);
    std::vector<Device> gpus{amd_gpu("0000:05:00.0")};
    gpus[0].vendor = Vendor::nvidia;
    Kfd summary;
    fold_kfd(read_kfd(machine.open()), gpus, summary);
    EXPECT_EQ(summary.orphans.size(), 1U);
}

TEST(Kfd, FrameBufferBanksAreSummed) {
    TempMachine machine;
    machine.file(kNodes + "/1/gpu_id", "5\n")
        .file(kNodes + "/1/properties", "simd_count 4\nmem_banks_count 3\nlocation_id 256\ndomain 0\n")
        .file(kNodes + "/1/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 1000\n")
        .file(kNodes + "/1/mem_banks/1/properties", "heap_type 2\nsize_in_bytes 500\n")
        .file(kNodes + "/1/mem_banks/2/properties", "heap_type 4\nsize_in_bytes 7\n");
    EXPECT_TRUE(read_kfd(machine.open()).gpu_nodes[0].vram_bytes.is(1500U));
    machine.file(kNodes + "/1/mem_banks/1/properties", "heap_type 2\nsize_in_bytes 18446744073709551615\n");
    EXPECT_EQ(read_kfd(machine.open()).gpu_nodes[0].vram_bytes.why(), "malformed: sizes overflow");
    std::filesystem::remove(machine.at(kNodes + "/1/mem_banks/1/properties"));
    EXPECT_TRUE(read_kfd(machine.open()).gpu_nodes[0].vram_bytes.absent());  // half the memory would be a lie
}

TEST(Kfd, HostileFilesGiveMissing) {
    TempMachine machine;
    machine.file(kNodes + "/1/gpu_id", "garbage\n").file(kNodes + "/1/properties", "simd_count 4\n");
    machine.file(kNodes + "/2/gpu_id", "2\n").file(kNodes + "/2/properties", "");
    machine.file(kNodes + "/3/gpu_id", "3\n").file(kNodes + "/3/properties", std::string("\0\1\2\3", 4));
    machine.file(kNodes + "/4/gpu_id", "4\n")
        .file(kNodes + "/4/properties",
              "location_id -1\ndomain 99999999999999999999\nio_links_count 18446744073709551615\n"
              "mem_banks_count 4294967296\nunique_id 0x12\nname\n");
    machine.file(kNodes + "/99999999999999999999/gpu_id", "1\n");
    const KfdTopology read = read_kfd(machine.open());
    EXPECT_EQ(read.summary.unreadable,
              (std::vector<std::string>{"1: malformed: 'garbage'", "2: empty", "3: malformed"}));
    ASSERT_EQ(read.gpu_nodes.size(), 1U);
    EXPECT_EQ(read.gpu_nodes[0].location_id.why(), "malformed: '-1'");
    EXPECT_EQ(read.gpu_nodes[0].unique_id.why(), "malformed: '0x12'");
    EXPECT_EQ(read.gpu_nodes[0].vram_bytes.why(), "more than 32 banks");
    EXPECT_FALSE(read.gpu_nodes[0].xgmi_links.known());
    EXPECT_TRUE(read.summary.nodes_total.is(4U));
}

}  // namespace
}  // namespace gpucheck::host
