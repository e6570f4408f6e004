// The list of NVML's functions: complete in the fake, harmless to a customer's GPU, and each of them
// dispensable unless the reading is impossible without it.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "agent/vendor/nvml_calls.h"
#include "fake_machine.h"

namespace gpucheck {
namespace {

using vendor::nvml::call_names;
using vendor::nvml::Need;

/// "Set" is a word of nvmlDeviceSetPowerLimit, and none of nvmlSystemGetConfComputeSettings.
bool has_word(const std::string& name, const std::string& word) {
    const std::size_t at = name.find(word);
    if (at == std::string::npos) return false;
    const std::size_t end = at + word.size();
    return end == name.size() || name[end] < 'a' || name[end] > 'z';
}

TEST(NvmlCalls, NothingPerturbs) {
    EXPECT_TRUE(has_word("nvmlDeviceSetPersistenceMode", "Set"));
    EXPECT_FALSE(has_word("nvmlSystemGetConfComputeSettings", "Set"));
    EXPECT_GT(call_names().size(), 60U);
    for (const auto& call : call_names()) {
        for (const std::string& name : call.names) {
            EXPECT_TRUE(name.starts_with("nvml")) << name;
            for (const char* verb : {"Set", "Clear", "Reset", "Remove", "Drain", "Freeze", "Modify", "Create",
                                     "Destroy", "Discover", "Register", "Update", "Activate"})
                EXPECT_FALSE(has_word(name, verb)) << name;
            const bool reads = name.starts_with("nvmlDeviceGet") || name.starts_with("nvmlSystemGet") ||
                               name.starts_with("nvmlGet") || name.starts_with("nvmlInit") ||
                               name == "nvmlDeviceValidateInforom";
            EXPECT_TRUE(reads) << name;
        }
    }
}

TEST(NvmlCalls, TheFakeExportsEveryName) {
    void* fake =
        ::dlopen((std::string(GPUCHECK_FAKE_DRIVER) + "/libnvidia-ml.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(fake, nullptr) << ::dlerror();
    for (const auto& call : call_names()) {
        for (const std::string& name : call.names) EXPECT_NE(::dlsym(fake, name.c_str()), nullptr) << name;
    }
    EXPECT_EQ(::dlsym(fake, "nvmlDeviceSetPersistenceMode"), nullptr);
}

TEST(NvmlCalls, AnAbsentOptionalSymbolCostsItsOwnFactsOnly) {
    FakeMachine whole("h100-sxm", 1);
    const NvidiaTelemetry well = first_of(whole.read(), kAddresses[0]);
    for (const auto& call : call_names()) {
        if (call.need == Need::required) continue;
        FakeMachine machine("h100-sxm", 1);
        machine.hide(call.names);
        const Snapshot read = machine.read();
        EXPECT_TRUE(read.host.vendor_troubles->empty()) << call.member;
        const NvidiaTelemetry& gpu = first_of(read, kAddresses[0]);
        EXPECT_TRUE(gpu.identity.handle.is(true)) << call.member;
        const std::vector<std::string> other = contradicting(gpu, well);
        EXPECT_TRUE(other.empty()) << call.member << ": " << other.front();
    }
}

TEST(NvmlCalls, AnAbsentSymbolIsNamed) {
    FakeMachine machine("h100-sxm", 1);
    machine.hide({"nvmlDeviceGetDefaultEccMode", "nvmlDeviceGetFieldValues"});
    const Snapshot read = machine.read();
    const NvidiaTelemetry& gpu = first_of(read, kAddresses[0]);
    EXPECT_EQ(gpu.ecc.is_default.missing(), (Missing{"nvmlDeviceGetDefaultEccMode", "symbol absent"}));
    EXPECT_EQ(gpu.state.recovery_action.why(), "symbol absent");
    EXPECT_EQ(gpu.nvlinks.why(), "symbol absent");
    EXPECT_TRUE(gpu.ecc.current.is(true));
}

TEST(NvmlCalls, AnOlderNameServes) {
    for (const auto& call : call_names()) {
        if (call.names.size() < 2) continue;
        FakeMachine machine("h100-sxm", 1);
        machine.hide({call.names.front()});
        const Snapshot read = machine.read();
        EXPECT_TRUE(first_of(read, kAddresses[0]).identity.handle.is(true)) << call.member;
        EXPECT_TRUE(read.host.nvml.gpu_count.is(1U)) << call.member;
    }
    FakeMachine machine("h100-sxm", 1);
    machine.hide({"nvmlDeviceGetCurrentClocksEventReasons", "nvmlInitWithFlags"});
    const Snapshot read = machine.read();
    EXPECT_EQ(first_of(read, kAddresses[0]).clocks.event_reasons.source(),
              "nvmlDeviceGetCurrentClocksThrottleReasons");
}

TEST(NvmlCalls, FiveReasonsAreFive) {
    FakeMachine machine("h100-sxm", 1);
    Snapshot snapshot = machine.machine();
    vendor::TelemetryOptions options;
    options.libraries.allowed = false;
    vendor::read_nvml(options, snapshot, false);
    EXPECT_EQ(snapshot.gpus[0].telemetry.first.nvidia.ecc.current.why(), "not looked at");

    options.libraries.allowed = true;
    options.libraries.driver_dir = machine.folder + "/boards";
    vendor::read_nvml(options, snapshot, false);
    EXPECT_EQ(snapshot.host.nvml.library.why(), "ENOENT");
    EXPECT_EQ(snapshot.gpus[0].telemetry.first.nvidia.identity.handle.why(), "ENOENT");
    EXPECT_TRUE(snapshot.host.vendor_troubles->empty());

    machine.hide({"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
    Snapshot read = machine.read();
    EXPECT_EQ(read.host.nvml.library.missing(), (Missing{"nvmlDeviceGetCount_v2", "required symbol absent"}));
    EXPECT_EQ(first_of(read, kAddresses[0]).ecc.current.why(), "required symbol absent");

    FakeMachine mismatched("h100-sxm", 1);
    mismatched.fault("nvmlInitWithFlags", "error", "", "LIB_RM_VERSION_MISMATCH");
    read = mismatched.read();
    EXPECT_EQ(read.host.nvml.library.missing(), (Missing{"nvmlInitWithFlags", "LIB_RM_VERSION_MISMATCH"}));
    EXPECT_EQ(first_of(read, kAddresses[0]).power.power_mw.why(), "LIB_RM_VERSION_MISMATCH");

    FakeMachine refused("h100-sxm", 1);
    refused.fault("nvmlDeviceGetEccMode", "error", "", "NO_PERMISSION");
    read = refused.read();
    EXPECT_EQ(first_of(read, kAddresses[0]).ecc.current.missing(),
              (Missing{"nvmlDeviceGetEccMode", "NO_PERMISSION"}));
}

TEST(NvmlCalls, ABrokenLibraryIsNotAnAbsentOne) {
    FakeMachine machine("h100-sxm", 1);
    machine.hide({"nvmlInit_v2", "nvmlInit"});
    Snapshot read = machine.read();
    EXPECT_EQ(read.host.nvml.library.why(), "required symbol absent");
    EXPECT_NE(read.host.nvml.library.why(), "ENOENT");
}

}  // namespace
}  // namespace gpucheck
