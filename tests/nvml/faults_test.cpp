// Whatever one call does to the process that makes it: the reading ends in time and names library, call and
// device, the other GPUs are read whole, and of the sick one nothing is known that was not read.
#include <gtest/gtest.h>

#include "agent/vendor/nvml_calls.h"
#include "fake_machine.h"

namespace gpucheck {
namespace {

using vendor::nvml::call_names;
using vendor::nvml::CallNames;
const std::string kSick = "0000:59:00.0";
constexpr std::chrono::seconds kNotForEver{30};

/// Makes a reading reach calls that a healthy H100 does not need.
void lead_to(const std::string& member, FakeMachine& machine) {
    const nlohmann::json refused = {{"error", "NOT_SUPPORTED"}};
    if (member == "memory") machine.value(kSick, "nvmlDeviceGetMemoryInfo_v2", refused);
    if (member == "temperature") machine.value(kSick, "nvmlDeviceGetTemperatureV", refused);
    if (member == "fabric") machine.hide({"nvmlDeviceGetGpuFabricInfoV"});
    if (member.starts_with("mig_")) {
        machine.value(kSick, "nvmlDeviceGetMigMode", {1, 1});
        machine.value(kSick, "nvmlDeviceGetMaxMigDeviceCount", 2);
        machine.value(kSick, "nvmlDeviceGetMigDeviceHandleByIndex", 0);
    }
}

/// The calls made with a handle, except those that every GPU's child and the system's child both make.
std::vector<CallNames> gpu_calls() {
    std::vector<CallNames> found;
    for (const CallNames& call : call_names()) {
        const std::string& name = call.names.front();
        const bool shared = call.member == "device_count" || call.member == "handle_by_index";
        if (name.starts_with("nvmlDevice") && !shared) found.push_back(call);
    }
    return found;
}

/// All of them; under sanitizers, where a process takes ten times as long, each sixth.
std::vector<CallNames> calls_to_drive() {
    const std::vector<CallNames> all = gpu_calls();
#if defined(__SANITIZE_ADDRESS__)
    std::vector<CallNames> some;
    for (std::size_t i = 0; i < all.size(); i += 6) some.push_back(all[i]);
    return some;
#else
    return all;
#endif
}

struct Case {
    std::string what, outcome;     ///< outcome: of the trouble; empty: the call came back
    std::string code;              ///< for "error"
    unsigned part = 0, parts = 1;  ///< of the calls: each hanging one costs a deadline
};

void drive(const CallNames& call, const Case& fault, const Snapshot& well,
           std::chrono::milliseconds deadline) {
    SCOPED_TRACE(call.names.front() + " " + fault.what);
    FakeMachine machine;
    lead_to(call.member, machine);
    NvidiaTelemetry expected = first_of(well, kSick);
    if (machine.scenario["gpus"][4].contains("values") || call.member == "fabric")
        expected = first_of(machine.read(), kSick);
    // An error of the whole call is what a value can say, too; the fabric's fallback shares the newer call's
    // value.
    const std::string name = call.member == "fabric" ? "nvmlDeviceGetGpuFabricInfoV" : call.names.front();
    machine.deadline = deadline;
    machine.fault(name, fault.what, kSick, fault.code);
    const auto start = std::chrono::steady_clock::now();
    const Snapshot read = machine.read();
    EXPECT_LT(std::chrono::steady_clock::now() - start, kNotForEver);

    // Bytes that look like an answer cannot be told from one; only the facts of that very call may be such.
    const bool rubbish = fault.what == "random" || fault.what == "unterminated";
    // Where an older call answers instead, the fact is the same and its source another.
    const auto wrong = rubbish ? invented(first_of(read, kSick), expected, call.names.front())
                               : contradicting(first_of(read, kSick), expected);
    EXPECT_TRUE(wrong.empty()) << wrong.front();
    for (const std::string& address : kAddresses) {
        if (address == kSick) continue;
        const auto& other = first_of(read, address);
        EXPECT_GT(known_facts(other), 200U) << address;
        if (call.member != "fabric") {
            EXPECT_EQ(other, first_of(well, address)) << address;
        }
    }
    bool named = fault.outcome.empty();
    for (const VendorTrouble& trouble : *read.host.vendor_troubles) {
        EXPECT_EQ(trouble.library, "libnvidia-ml.so.1");
        EXPECT_EQ(trouble.outcome, fault.outcome);
        EXPECT_FALSE(trouble.detail.empty());
        EXPECT_TRUE(trouble.call.starts_with(call.names.front())) << trouble.call;
        named |= trouble.device == kSick;
        EXPECT_TRUE(trouble.device == kSick || trouble.device.empty()) << trouble.device;
    }
    EXPECT_TRUE(named);
    if (fault.outcome.empty()) {
        EXPECT_TRUE(read.host.vendor_troubles->empty());
    }
}

class NvmlFault : public testing::TestWithParam<Case> {};

TEST_P(NvmlFault, EveryCallOfOneGpuInTurn) {
    FakeMachine healthy;
    const Snapshot well = healthy.read();
    ASSERT_GT(known_facts(first_of(well, kSick)), 200U);
    ASSERT_GT(gpu_calls().size(), 50U);
    const bool hangs = GetParam().outcome == "hangs";
    const auto deadline = hangs ? short_deadline(healthy) : std::chrono::milliseconds(20000);
    const std::vector<CallNames> calls = calls_to_drive();
    for (std::size_t i = GetParam().part; i < calls.size(); i += GetParam().parts)
        drive(calls[i], GetParam(), well, deadline);
}

// Under a sanitizer only the faults that bring foreign bytes: it makes nothing of a child that ends, and
// these take minutes there.
#ifdef __SANITIZE_ADDRESS__
INSTANTIATE_TEST_SUITE_P(Each, NvmlFault,
                         testing::Values(Case{"flood", "flooded", ""}, Case{"noise", "", ""},
                                         Case{"ones", "", ""}, Case{"random", "", ""},
                                         Case{"unterminated", "", ""}),
                         [](const testing::TestParamInfo<Case>& one) { return one.param.what; });
#else
INSTANTIATE_TEST_SUITE_P(Each, NvmlFault,
                         testing::Values(Case{"hang", "hangs", "", 0, 8}, Case{"hang", "hangs", "", 1, 8},
                                         Case{"hang", "hangs", "", 2, 8}, Case{"hang", "hangs", "", 3, 8},
                                         Case{"hang", "hangs", "", 4, 8}, Case{"hang", "hangs", "", 5, 8},
                                         Case{"hang", "hangs", "", 6, 8}, Case{"hang", "hangs", "", 7, 8},
                                         Case{"segv", "crashed", ""}, Case{"abort", "crashed", ""},
                                         Case{"exit0", "exited", ""}, Case{"exit3", "exited", ""},
                                         Case{"flood", "flooded", ""}, Case{"noise", "", ""},
                                         Case{"ones", "", ""}, Case{"random", "", ""},
                                         Case{"unterminated", "", ""}, Case{"error", "", "RESET_REQUIRED"}),
                         [](const testing::TestParamInfo<Case>& one) {
                             return one.param.what +
                                    (one.param.parts > 1 ? std::to_string(one.param.part) : "");
                         });
#endif

TEST(NvmlFaults, TheFactsOfAHangingCallSayWhy) {
    FakeMachine machine;
    machine.deadline = short_deadline(machine);
    const std::string late = "within " + std::to_string(machine.deadline.count()) + " ms";
    machine.fault("nvmlDeviceGetEccMode", "hang", kSick);
    const Snapshot read = machine.read();
    const NvidiaTelemetry& sick = first_of(read, kSick);
    EXPECT_TRUE(sick.identity.name.known());  // said before
    EXPECT_EQ(sick.ecc.current.missing(), (Missing{"nvmlDeviceGetEccMode", "did not return " + late}));
    EXPECT_EQ(sick.power.power_mw.why(), "did not return " + late);
    ASSERT_EQ(read.host.vendor_troubles->size(), 1U);
    EXPECT_EQ(read.host.vendor_troubles.value()[0].detail, "no answer " + late);
}

TEST(NvmlFaults, TheFactsOfACrashSayWhich) {
    FakeMachine machine;
    machine.fault("FI 230", "segv", kSick);
    const Snapshot read = machine.read();
    const NvidiaTelemetry& sick = first_of(read, kSick);
    EXPECT_EQ(sick.state.recovery_action.missing(),
              (Missing{"nvmlDeviceGetFieldValues FI 230", "crashed: SIGSEGV"}));
    EXPECT_TRUE(sick.ecc.current.is(true));
}

TEST(NvmlFaults, OnesAreNoAnswer) {
    FakeMachine machine;
    machine.fault("nvmlDeviceGetTotalEccErrors", "ones", kSick);
    machine.fault("nvmlDeviceGetName", "unterminated", kSick);
    machine.fault("nvmlDeviceGetUtilizationRates", "random", kSick);
    const Snapshot read = machine.read();
    const NvidiaTelemetry& sick = first_of(read, kSick);
    EXPECT_EQ(sick.ecc.volatile_uncorrectable.why(), "malformed");
    EXPECT_EQ(sick.identity.name.why(), "malformed");
    EXPECT_EQ(sick.power.gpu_busy_percent.why(), "malformed");
}

}  // namespace
}  // namespace gpucheck
