// What the wait at boot asks of NVML: a handle of each GPU and its fabric, and nothing that would take
// longer.
#include <gtest/gtest.h>

#include "fake_machine.h"

namespace gpucheck {
namespace {

Snapshot presence_of(FakeMachine& machine) {
    machine.read();  // lays the scenario down
    Snapshot snapshot = machine.machine();
    vendor::TelemetryOptions options;
    options.libraries.driver_dir = machine.folder;
    options.deadline = machine.deadline;
    vendor::read_nvml_presence(options, snapshot);
    return snapshot;
}

TEST(NvmlPresence, AHandleAndTheFabricAlone) {
    FakeMachine machine("h100-sxm", 2);
    machine.scenario["gpus"][1]["hidden"] = true;
    const Snapshot read = presence_of(machine);
    const NvidiaTelemetry& there = first_of(read, kAddresses[0]);
    EXPECT_TRUE(there.identity.handle.is(true));
    EXPECT_TRUE(there.fabric.state.known());
    EXPECT_EQ(there.identity.name.why(), "not told");
    EXPECT_EQ(first_of(read, kAddresses[1]).identity.handle.why(), "NOT_FOUND");
    EXPECT_EQ(read.host.nvml.library.why(), "not looked at");
}

TEST(NvmlPresence, AGpuThatDoesNotReturnIsNoAnswer) {
    FakeMachine machine("h100-sxm", 2);
    machine.deadline = short_deadline(machine);
    machine.fault("nvmlDeviceGetHandleByPciBusId_v2", "hang", kAddresses[1]);
    const Snapshot read = presence_of(machine);
    EXPECT_TRUE(first_of(read, kAddresses[0]).identity.handle.is(true));
    EXPECT_FALSE(first_of(read, kAddresses[1]).identity.handle.known());
}

}  // namespace
}  // namespace gpucheck
