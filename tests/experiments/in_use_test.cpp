// GPUs that somebody computes on are left alone; ones that nobody does are not taken for it.
#include "agent/host/kfd_processes.h"
#include "tests/experiments/fake_burn_in.h"
#include "tests/host/temp_machine.h"

namespace gpucheck {
namespace {

using host::read_kfd_processes;
using test::device_at;

const std::string kList = "/sys/class/kfd/kfd/proc/";

Device gpu_with_ids(std::initializer_list<std::uint64_t> ids) {
    Device gpu = device_at("0000:05:00.0", Vendor::amd);
    for (const std::uint64_t id : ids) {
        KfdNode node;
        node.gpu_id = Fact<std::uint64_t>(id, "gpu_id");
        gpu.amd.kfd_nodes.push_back(node);
    }
    return gpu;
}

void process(host::TempMachine& machine, const std::string& pid, std::uint64_t gpu,
             const std::string& bytes) {
    machine.folder("/proc/" + pid);
    machine.file(kList + pid + "/vram_" + std::to_string(gpu), bytes + "\n");
    machine.file(kList + pid + "/pasid", "32770\n");
    machine.folder(kList + pid + "/queues");
}

TEST(InUse, MemoryOfAnyPartitionCounts) {
    host::TempMachine machine;
    process(machine, "4711", 111, "0");
    process(machine, "4712", 112, "4096");
    EXPECT_TRUE(read_kfd_processes(machine.open(), gpu_with_ids({111, 112}), {}).is(1U));
    // Opening KFD makes a file for every GPU of the machine; zero bytes are no use.
    EXPECT_TRUE(read_kfd_processes(machine.open(), gpu_with_ids({111}), {}).is(0U));
    EXPECT_TRUE(read_kfd_processes(machine.open(), gpu_with_ids({11, 12}), {}).is(0U));
}

TEST(InUse, AQueueCountsWithoutMemory) {
    host::TempMachine machine;
    process(machine, "4711", 111, "0");
    machine.file(kList + "4711/queues/0/gpuid", "111\n");
    EXPECT_TRUE(read_kfd_processes(machine.open(), gpu_with_ids({111}), {}).is(1U));
    EXPECT_TRUE(read_kfd_processes(machine.open(), gpu_with_ids({112}), {}).is(0U));
}

TEST(InUse, OurselvesAndWhatHasEndedDoNotCount) {
    host::TempMachine machine;
    process(machine, "4711", 111, "4096");
    process(machine, "4712", 111, "4096");
    std::filesystem::remove_all(machine.at("/proc/4712"));  // it ended, the driver is still cleaning up
    const Device gpu = gpu_with_ids({111});
    // In a container the same numbers mean other processes: all count.
    EXPECT_TRUE(read_kfd_processes(machine.open(), gpu, {4711}).is(2U));
    machine.link("/proc/self/ns/pid", "pid:[4026532000]");
    EXPECT_TRUE(read_kfd_processes(machine.open(), gpu, {4711}).is(2U));
    std::filesystem::remove_all(machine.at("/proc/self"));
    machine.link("/proc/self/ns/pid", "pid:[4026531836]");
    EXPECT_TRUE(read_kfd_processes(machine.open(), gpu, {}).is(1U));
    EXPECT_TRUE(read_kfd_processes(machine.open(), gpu, {4711}).is(0U));
}

TEST(InUse, WhatCannotBeReadIsNotNobody) {
    host::TempMachine machine;
    EXPECT_TRUE(read_kfd_processes(machine.open(), gpu_with_ids({111}), {}).absent());
    process(machine, "4711", 111, "many");
    EXPECT_FALSE(read_kfd_processes(machine.open(), gpu_with_ids({111}), {}).known());
    process(machine, "4712", 111, "1");  // one is certain, whatever the other does
    EXPECT_TRUE(read_kfd_processes(machine.open(), gpu_with_ids({111}), {}).is(1U));
    EXPECT_FALSE(read_kfd_processes(machine.open(), gpu_with_ids({}), {}).known());
    Device unread = gpu_with_ids({111});
    unread.amd.kfd_nodes[0].gpu_id = Missing{"gpu_id", "EPERM"};
    EXPECT_EQ(read_kfd_processes(machine.open(), unread, {}).why(), "EPERM");
}

TEST(InUse, GpuIsLeftAloneUnlessForced) {
    host::TempMachine machine;
    process(machine, "4711", 111, "4096");
    const host::Sysroot root = machine.open();
    test::ComputeScenario scenario;
    scenario.gpu("0000:05:00.0", "gfx942").write();
    BurnInOptions options = test::small_burn_in("launch");
    Snapshot busy;
    busy.gpus.push_back(gpu_with_ids({111}));
    options.kfd_processes = {read_kfd_processes(root, busy.gpus[0], {})};
    run_burn_in(options, busy);
    EXPECT_EQ(busy.gpus[0].burn_in.results.why(), "in use by 1 process");
    EXPECT_EQ(busy.measurements.experiments.why(), "in use by 1 process");
    options.forced = true;
    run_burn_in(options, busy);
    EXPECT_TRUE(busy.gpus[0].burn_in.results.known());
    options.forced = false;
    Snapshot idle;
    idle.gpus.push_back(gpu_with_ids({112}));
    options.kfd_processes = {read_kfd_processes(root, idle.gpus[0], {})};
    run_burn_in(options, idle);
    EXPECT_TRUE(idle.gpus[0].burn_in.results.known());
}

}  // namespace
}  // namespace gpucheck
