// Faults in the library as a whole: they cost what the library says of the machine, and no GPU that still
// answers.
#include <gtest/gtest.h>

#include "agent/vendor/nvml_calls.h"
#include "fake_machine.h"

namespace gpucheck {
namespace {

using vendor::nvml::call_names;
using vendor::nvml::CallNames;

bool of_the_system(const CallNames& call) {
    const std::string& name = call.names.front();
    return name.starts_with("nvmlSystem") || name.starts_with("nvmlGet") || call.member == "device_count" ||
           call.member == "handle_by_index";
}

void lead_system_to(const std::string& member, FakeMachine& machine) {
    if (member == "excluded_info") machine.scenario["excluded"] = {"0000:a9:00.0"};
    if (member == "cc_ready") {
        machine.value("", "nvmlSystemGetConfComputeState", {2, 1, 0});
        machine.value("", "nvmlSystemGetConfComputeGpusReadyState", 1);
    }
}

class NvmlSystemFault : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(NvmlSystemFault, EveryCallInTurn) {
    const auto [what, outcome] = GetParam();
    for (const CallNames& call : call_names()) {
        if (!of_the_system(call)) continue;
        SCOPED_TRACE(call.names.front() + " " + what);
        FakeMachine machine("h100-sxm", 3);
        lead_system_to(call.member, machine);
        const Snapshot well = machine.read();
        if (std::string(outcome) == "hangs") machine.deadline = short_deadline(machine);
        machine.fault(call.names.front(), what, "", "RESET_REQUIRED");
        const Snapshot read = machine.read();
        const bool rubbish = std::string(what) == "random";
        const auto wrong = invented(read.host.nvml, well.host.nvml, rubbish ? call.names.front() : "");
        // How many GPUs there are is believed when it can be true: 7 of 8 is a finding, not rubbish.
        EXPECT_TRUE(wrong.empty()) << wrong.front();
        for (std::size_t i = 0; i < 3; ++i)
            EXPECT_EQ(first_of(read, kAddresses[i]), first_of(well, kAddresses[i])) << i;
        if (*outcome == '\0') {
            EXPECT_TRUE(read.host.vendor_troubles->empty());
            continue;
        }
        ASSERT_EQ(read.host.vendor_troubles->size(), 1U);
        const VendorTrouble& trouble = read.host.vendor_troubles.value()[0];
        EXPECT_EQ(trouble.outcome, outcome);
        EXPECT_EQ(trouble.device, "");
        EXPECT_TRUE(trouble.call.starts_with(call.names.front())) << trouble.call;
        EXPECT_EQ(trouble.library, "libnvidia-ml.so.1");
    }
}

using Pair = std::pair<const char*, const char*>;
#ifdef __SANITIZE_ADDRESS__  // as in faults_test.cpp
const auto kFaults = testing::Values(Pair{"flood", "flooded"}, Pair{"ones", ""}, Pair{"random", ""});
#else
const auto kFaults =
    testing::Values(Pair{"hang", "hangs"}, Pair{"segv", "crashed"}, Pair{"exit3", "exited"},
                    Pair{"flood", "flooded"}, Pair{"ones", ""}, Pair{"random", ""}, Pair{"error", ""});
#endif
INSTANTIATE_TEST_SUITE_P(Each, NvmlSystemFault, kFaults, [](const testing::TestParamInfo<Pair>& one) {
    return std::string(one.param.first);
});

TEST(NvmlSystemFaults, InitThatHangsHangsEveryChildAndNoLonger) {
    for (const char* what : {"hang", "abort", "exit0", "flood"}) {
        FakeMachine machine("h100-sxm", 2);
        machine.deadline = short_deadline(machine);
        machine.fault("nvmlInitWithFlags", what);
        const Snapshot read = machine.read();
        ASSERT_EQ(read.host.vendor_troubles->size(), 3U) << what;
        EXPECT_EQ(read.host.vendor_troubles.value()[0].call, "nvmlInitWithFlags");
        EXPECT_FALSE(read.host.nvml.library.known());
        EXPECT_EQ(known_facts(first_of(read, kAddresses[0])), 0U);
        EXPECT_EQ(first_of(read, kAddresses[0]).identity.handle.source(), "nvmlInitWithFlags");
    }
}

TEST(NvmlSystemFaults, AnOldLibraryIsInitialisedTheOldWay) {
    FakeMachine machine("h100-sxm", 1);
    machine.fault("nvmlInitWithFlags", "error", "", "INVALID_ARGUMENT");
    EXPECT_TRUE(first_of(machine.read(), kAddresses[0]).identity.handle.is(true));
    machine.fault("nvmlInit_v2", "error", "", "DRIVER_NOT_LOADED");
    EXPECT_EQ(machine.read().host.nvml.library.missing(), (Missing{"nvmlInit_v2", "DRIVER_NOT_LOADED"}));
}

TEST(NvmlSystemFaults, AHandleOfAnotherGpuIsRefused) {
    FakeMachine machine("h100-sxm", 2);
    machine.fault("nvmlDeviceGetHandleByPciBusId_v2", "unterminated", kAddresses[1]);
    const Snapshot read = machine.read();
    EXPECT_EQ(known_facts(first_of(read, kAddresses[1])), 0U);
    EXPECT_GT(known_facts(first_of(read, kAddresses[0])), 200U);
}

}  // namespace
}  // namespace gpucheck
