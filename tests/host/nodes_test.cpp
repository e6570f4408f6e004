// Device nodes: what is listed, what is expected of them, and that an open that never returns does not hold
// us.
#include "agent/host/nodes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "agent/host/kfd.h"
#include "agent/host/node_probe.h"
#include "agent/host/nvidia.h"
#include "tests/host/drivers_examples.h"

namespace gpucheck::host {
namespace {

Device gpu_at(const std::string& address, Vendor vendor, const std::string& driver) {
    Device gpu;
    gpu.bdf = Bdf::parse(address).value();
    gpu.vendor = vendor;
    gpu.pci.driver = Fact<std::string>(driver, "driver");
    return gpu;
}

const DeviceNode* node_at(const std::vector<DeviceNode>& nodes, std::string_view path) {
    for (const DeviceNode& node : nodes) {
        if (node.path == path) return &node;
    }
    return nullptr;
}

std::vector<std::string> paths_of(const std::vector<DeviceNode>& nodes) {
    std::vector<std::string> paths;
    for (const DeviceNode& node : nodes) paths.push_back(node.path);
    return paths;
}

bool numbers_match(const DeviceNode& node) {
    return node.stat.known() && node.expected_major.is(node.stat->major) &&
           node.expected_minor.is(node.stat->minor);
}

TEST(Nodes, ExampleVirtualFunction) {
    GPUCHECK_EXAMPLE_OR_SKIP(root, "machine-mi300x-vf");
    Snapshot snapshot;
    snapshot.gpus.push_back(gpu_at("0000:83:00.0", Vendor::amd, "amdgpu"));
    fold_kfd(read_kfd(*root), snapshot.gpus, snapshot.host.kfd);
    read_nodes(*root, snapshot);
    EXPECT_EQ(paths_of(snapshot.host.nodes), (std::vector<std::string>{"/dev/kfd"}));
    EXPECT_EQ(paths_of(snapshot.gpus[0].nodes),
              (std::vector<std::string>{"/dev/dri/renderD128", "/dev/dri/card1"}));
    EXPECT_TRUE(numbers_match(snapshot.host.nodes[0]));
    EXPECT_EQ(snapshot.host.nodes[0].expected_major.source(), "/sys/class/kfd/kfd/dev");
    for (const DeviceNode& node : snapshot.gpus[0].nodes) {
        EXPECT_TRUE(numbers_match(node)) << node.path;
        EXPECT_TRUE(node.open_rw.is("ok")) << node.path;
    }
    EXPECT_EQ(snapshot.host.groups, (std::vector<GroupEntry>{{"video", 44}, {"render", 109}}));
}

TEST(Nodes, ExampleWithEightNvidiaGpus) {
    GPUCHECK_EXAMPLE_OR_SKIP(root, "machine-h100-sxm-x8");
    Snapshot snapshot;
    snapshot.host.nvidia = read_nvidia_driver(*root);
    for (const char* address : {"0000:19:00.0", "0000:db:00.0"}) {
        snapshot.gpus.push_back(gpu_at(address, Vendor::nvidia, "nvidia"));
        read_nvidia_gpu(*root, snapshot.gpus.back());
    }
    read_nodes(*root, snapshot);
    for (const char* path :
         {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset",
          "/dev/nvidia-caps/nvidia-cap1", "/dev/nvidia-nvswitch3", "/dev/nvidia-nvswitchctl"}) {
        const DeviceNode* node = node_at(snapshot.host.nodes, path);
        ASSERT_NE(node, nullptr) << path;
        EXPECT_TRUE(numbers_match(*node)) << path;
        EXPECT_TRUE(node->open_rw.is("ok")) << path;
    }
    EXPECT_EQ(node_at(snapshot.host.nodes, "/dev/kfd"), nullptr);
    EXPECT_EQ(paths_of(snapshot.gpus[1].nodes),
              (std::vector<std::string>{"/dev/nvidia7", "/dev/dri/renderD135", "/dev/dri/card8"}));
    EXPECT_TRUE(numbers_match(snapshot.gpus[1].nodes[0]));
}

TEST(Nodes, EveryPartitionHasItsRenderNode) {
    GPUCHECK_FIELD_OR_SKIP(dump, "kfd_topology_mi300x_cpx_63nodes.txt");
    TempMachine machine;
    unpack(machine, *dump, "/sys/class/kfd/kfd/topology");
    machine.file("/proc/devices", "Character devices:\n226 drm\n236 kfd\n\nBlock devices:\n225 drm\n");
    const Sysroot root = machine.open();
    Snapshot snapshot;
    snapshot.gpus.push_back(gpu_at("0000:05:00.0", Vendor::amd, "amdgpu"));
    fold_kfd(read_kfd(root), snapshot.gpus, snapshot.host.kfd);
    read_nodes(root, snapshot);
    ASSERT_EQ(snapshot.gpus[0].nodes.size(), 8U);
    EXPECT_EQ(snapshot.gpus[0].nodes[7].path, "/dev/dri/renderD135");
    EXPECT_TRUE(snapshot.gpus[0].nodes[7].expected_major.is(226U));
    EXPECT_TRUE(snapshot.gpus[0].nodes[7].expected_minor.is(135U));
}

TEST(Nodes, WhatShouldExistIsListedWhenAbsent) {
    TempMachine machine;
    machine.file("/proc/driver/nvidia/version",
                 "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.06  Wed\n");
    machine.file("/proc/devices", "Character devices:\n195 nvidia-frontend\n511 nvidia-uvm\n");
    const Sysroot root = machine.open();
    Snapshot snapshot;
    snapshot.host.nvidia = read_nvidia_driver(root);
    snapshot.gpus.push_back(gpu_at("0000:01:00.0", Vendor::nvidia, "nvidia"));
    snapshot.gpus[0].nvidia.minor = Fact<unsigned>(0, "information");
    snapshot.gpus.push_back(gpu_at("0000:02:00.0", Vendor::amd, "amdgpu"));
    read_nodes(root, snapshot);
    EXPECT_EQ(paths_of(snapshot.host.nodes),
              (std::vector<std::string>{"/dev/kfd", "/dev/nvidiactl", "/dev/nvidia-uvm"}));
    for (const DeviceNode& node : snapshot.host.nodes) {
        EXPECT_TRUE(node.stat.absent());
        EXPECT_TRUE(node.open_rw.is("ENOENT"));
    }
    EXPECT_TRUE(snapshot.host.nodes[1].expected_major.is(195U));
    EXPECT_TRUE(snapshot.host.nodes[0].expected_major.absent());  // no kfd in /proc/devices
    EXPECT_TRUE(snapshot.gpus[0].nodes[0].open_rw.is("ENOENT"));
}

TEST(Nodes, NothingIsExpectedWithoutADriver) {
    TempMachine machine;
    machine.file("/proc/devices", "Character devices:\n  1 mem\n");
    Snapshot snapshot;
    snapshot.gpus.push_back(gpu_at("0000:01:00.0", Vendor::nvidia, "vfio-pci"));
    snapshot.gpus.push_back(gpu_at("0000:02:00.0", Vendor::amd, "vfio-pci"));
    read_nodes(machine.open(), snapshot);
    EXPECT_TRUE(snapshot.host.nodes.empty());
    EXPECT_TRUE(snapshot.gpus[0].nodes.empty());  // its minor is unknown: left out, not guessed
}

TEST(Nodes, NodesLeftWithoutADriverAreShown) {
    TempMachine machine;
    machine.file("/sys/x", "1\n").beside("nodes.json", R"([
        {"path":"/dev/kfd","type":"char","major":236,"minor":0,"mode":"0600","uid":0,"gid":0,"open":"ENODEV"},
        {"path":"/dev/nvidia-uvm-tools","type":"char","major":510,"minor":1,"mode":"0666","uid":0,"gid":0,"open":"EIO"}])");
    Snapshot snapshot;
    read_nodes(machine.open(), snapshot);
    ASSERT_EQ(paths_of(snapshot.host.nodes), (std::vector<std::string>{"/dev/kfd", "/dev/nvidia-uvm-tools"}));
    EXPECT_TRUE(snapshot.host.nodes[0].open_rw.is("ENODEV"));
    EXPECT_TRUE(snapshot.host.nodes[1].open_rw.is("EIO"));
    EXPECT_FALSE(snapshot.host.nodes[0].expected_major.known());
}

TEST(Nodes, DeniedByGroupAndByCgroupAreToldApart) {
    TempMachine machine;
    machine.file("/sys/class/kfd/kfd/dev", "238:0\n")
        .beside("process.json", R"({"uid":1000,"gids":[1000,44],"env":{}})");
    machine.beside("nodes.json", R"([
        {"path":"/dev/kfd","type":"char","major":238,"minor":0,"mode":"0660","uid":0,"gid":109},
        {"path":"/dev/dri/renderD128","type":"char","major":226,"minor":128,"mode":"0666","uid":0,"gid":109,"open":"EPERM"}])");
    Snapshot snapshot;
    snapshot.gpus.push_back(gpu_at("0000:02:00.0", Vendor::amd, "amdgpu"));
    KfdNode node;
    node.drm_render_minor = Fact<std::uint64_t>(128, "properties");
    snapshot.gpus[0].amd.kfd_nodes.push_back(node);
    read_nodes(machine.open(), snapshot);
    EXPECT_TRUE(snapshot.host.nodes[0].open_rw.is("EACCES"));
    ASSERT_EQ(snapshot.gpus[0].nodes.size(), 1U);
    EXPECT_TRUE(snapshot.gpus[0].nodes[0].open_rw.is("EPERM"));
}

TEST(Nodes, NotCapturedWasNotTried) {
    TempMachine machine;
    machine.file("/sys/class/kfd/kfd/dev", "238:0\n").beside("captured.txt", "/sys/**\n");
    Snapshot snapshot;
    snapshot.gpus.push_back(gpu_at("0000:02:00.0", Vendor::amd, "amdgpu"));
    read_nodes(machine.open(), snapshot);
    ASSERT_EQ(snapshot.host.nodes.size(), 1U);
    EXPECT_EQ(snapshot.host.nodes[0].stat.why(), "not captured");
    EXPECT_EQ(snapshot.host.nodes[0].open_rw.why(), "not captured");
}

TEST(Nodes, HostileMinorsMakeNoNode) {
    using namespace std::string_literals;
    TempMachine machine;
    machine.file("/proc/devices", "Character devices:\n\0 nvidia\n99999999999 kfd\n-1 drm\n"s);
    Snapshot snapshot;
    snapshot.gpus.push_back(gpu_at("0000:02:00.0", Vendor::amd, "amdgpu"));
    for (const std::uint64_t minor : {std::uint64_t{0}, std::uint64_t{0xffffffff}, ~std::uint64_t{0}}) {
        KfdNode node;
        node.drm_render_minor = Fact<std::uint64_t>(minor, "properties");
        snapshot.gpus[0].amd.kfd_nodes.push_back(node);
    }
    read_nodes(machine.open(), snapshot);
    EXPECT_TRUE(snapshot.gpus[0].nodes.empty());
    EXPECT_TRUE(snapshot.host.nodes[0].expected_major.absent());
}

TEST(Nodes, MalformedGroupLinesAreSkipped) {
    TempMachine machine;
    machine.file(
        "/etc/group",
        "root:x:0:\nrender:x:abc:\n:x:5:\nvideo\nvideo:x\nvideo:x:-1:\nvideo:x:44\nrender:x:993:a,b\n"
        "docker:x:998:\nowner:x:77:\n");
    machine.beside("nodes.json", R"([
        {"path":"/dev/kfd","type":"char","major":238,"minor":0,"mode":"0660","uid":0,"gid":77}])");
    Snapshot snapshot;
    read_nodes(machine.open(), snapshot);
    EXPECT_EQ(snapshot.host.groups, (std::vector<GroupEntry>{{"video", 44}, {"render", 993}, {"owner", 77}}));
}

// ---- node_probe: children that do not come back ----

int open_nothing(const char* path) {
    return std::string_view(path) == "denied" ? EACCES : 0;
}

// What a sick driver does: "hang" waits for a writer that never comes, as open(2) of a FIFO does.
int open_or_hang(const char* path) {
    if (std::string_view(path).find("hang") == std::string_view::npos) return 0;
    return ::open(path, O_RDONLY | O_CLOEXEC) >= 0 ? 0 : errno;
}

int die(const char* path) {
    if (std::string_view(path) == "dies") ::raise(SIGKILL);
    return 0;
}

long elapsed_ms(std::chrono::steady_clock::time_point since) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - since)
        .count();
}

// Killed children may need a turn on a busy machine; one that were not killed would stay for ever.
bool no_children_left() {
    for (int i = 0; i < 500; ++i) {
        const pid_t got = ::waitpid(-1, nullptr, WNOHANG);
        if (got == -1) return errno == ECHILD;
        if (got == 0) ::poll(nullptr, 0, 10);
    }
    return false;
}

TEST(NodeProbe, AnswersInOrder) {
    const auto answers = probe_nodes({"a", "denied", "b"}, 20000, open_nothing);
    ASSERT_EQ(answers.size(), 3U);
    EXPECT_TRUE(answers[0].is("ok"));
    EXPECT_TRUE(answers[1].is("EACCES"));
    EXPECT_EQ(answers[1].source(), "denied");
    EXPECT_TRUE(answers[2].is("ok"));
    EXPECT_TRUE(no_children_left());
    EXPECT_TRUE(probe_nodes({}, 20000, open_nothing).empty());
}

TEST(NodeProbe, AnOpenThatHangsCostsTheDeadlineOnce) {
    TempMachine machine;
    std::vector<std::string> paths;
    for (int i = 0; i < 4; ++i) {
        paths.push_back((machine.path() / ("hang" + std::to_string(i))).string());
        ASSERT_EQ(::mkfifo(paths.back().c_str(), 0600), 0);
    }
    paths.push_back("healthy");
    const auto start = std::chrono::steady_clock::now();
    const auto answers = probe_nodes(paths, 5000, open_or_hang);
    EXPECT_LT(elapsed_ms(start), 19500);  // four in a row would take longer
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(answers[static_cast<std::size_t>(i)].why(), "open(2) did not return within 5000 ms");
    EXPECT_TRUE(answers[4].is("ok"));
    EXPECT_TRUE(no_children_left());
}

TEST(NodeProbe, AChildThatDiesIsNoAnswer) {
    const auto start = std::chrono::steady_clock::now();
    const auto answers = probe_nodes({"lives", "dies"}, 20000, die);
    EXPECT_TRUE(answers[0].is("ok"));
    EXPECT_EQ(answers[1].why(), "child ended without an answer");
    EXPECT_LT(elapsed_ms(start), 15000);  // the end of the pipe, not the deadline, told
    EXPECT_TRUE(no_children_left());
}

// A caller that reads our output to its end must not wait for a child that a driver holds.
TEST(NodeProbe, ChildrenKeepNoDescriptorOfOurs) {
    TempMachine machine;
    const std::string fifo = (machine.path() / "hang").string();
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    static int report = -1;
    report = ends[1];
    const auto answers = probe_nodes({fifo}, 200, [](const char* path) {
        if (::fcntl(report, F_GETFD) != -1) return EEXIST;  // still ours
        return open_or_hang(path);
    });
    EXPECT_EQ(answers[0].why(), "open(2) did not return within 200 ms");
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(NodeProbe, TheRealOpenerTellsErrnos) {
    TempMachine machine;
    machine.file("/plain", "x");
    const std::string plain = machine.at("/plain").string(), folder = machine.path().string();
    const auto answers = probe_nodes({"/dev/null", plain, folder, "/nonexistent/node"}, 20000);
    EXPECT_TRUE(answers[0].is("ok"));
    EXPECT_TRUE(answers[1].is("ok"));
    EXPECT_TRUE(answers[2].is("EISDIR"));
    EXPECT_TRUE(answers[3].is("ENOENT"));
}

TEST(NodeProbe, ManyNodesAtOnce) {
    const std::vector<std::string> paths(130, "node");
    const auto answers = probe_nodes(paths, 20000, open_nothing);
    for (const auto& answer : answers) EXPECT_TRUE(answer.is("ok")) << answer.why();
    EXPECT_TRUE(no_children_left());
}

}  // namespace
}  // namespace gpucheck::host
