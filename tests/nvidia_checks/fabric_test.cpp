// The NVSwitch fabric: late is not broken, a dead manager is hidden by a latched state, and a guest has none.
#include <gtest/gtest.h>

#include "tests/nvidia_checks/change.h"

namespace gpucheck {
namespace {

std::string of_all(const char* code_and_verdict_of_first, const Snapshot& machine) {
    // "code SUBJECT verdict" of the first GPU, once all eight say the same.
    const Findings all = complaints(kNvidiaFabricCheck, machine);
    if (all.size() != 8) return "not eight: " + said(kNvidiaFabricCheck, machine);
    for (const Finding& finding : all) {
        if (finding.code != all.front().code) return "mixed: " + said(kNvidiaFabricCheck, machine);
    }
    const std::string text = std::string(all.front().code) + " " + std::string(name_of(all.front().verdict));
    return text == code_and_verdict_of_first ? "" : text;
}

Snapshot with_state(const char* state, double uptime_s) {
    Snapshot machine = telling_h100_x8();
    machine.host.uptime_s = fact(uptime_s);
    for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
        first(machine, i).fabric.state = last(machine, i).fabric.state = fact(state);
    }
    return machine;
}

void set_manager(Snapshot& machine, bool installed, bool runs) {
    machine.host.units =
        fact(std::vector<ServiceUnit>{{"nvidia-fabricmanager.service", fact(installed), fact(installed),
                                       runs ? fact(1U) : Fact<unsigned>(Missing{"cgroup", "ENOENT"})}});
}

TEST(NvidiaFabric, LateIsUnknownUntilTheDeadline) {
    EXPECT_EQ(of_all("nvidia.fabric.waiting unknown", with_state("in_progress", 40)), "");
    EXPECT_EQ(of_all("nvidia.fabric.stuck fail", with_state("in_progress", 301)), "");
    EXPECT_EQ(said(kNvidiaFabricCheck, with_state("completed", 40)), "");
    Snapshot machine = with_state("in_progress", 40);
    machine.host.uptime_s = Missing{"/proc/uptime", "EIO"};
    EXPECT_EQ(of_all("nvidia.fabric.waiting unknown", machine), "");
}

TEST(NvidiaFabric, NoManagerWithSwitches) {
    Snapshot machine = with_state("in_progress", 40);
    set_manager(machine, false, false);
    EXPECT_EQ(of_all("nvidia.fabric.no_manager fail", machine), "");
    set_manager(machine, true, false);  // it may be starting
    EXPECT_EQ(of_all("nvidia.fabric.waiting unknown", machine), "");
    machine.host.uptime_s = fact(1000.0);
    EXPECT_EQ(of_all("nvidia.fabric.no_manager fail", machine), "");
}

TEST(NvidiaFabric, ALatchedStateHidesADeadManager) {
    Snapshot machine = with_state("completed", 5000);
    set_manager(machine, true, false);
    EXPECT_EQ(said(kNvidiaFabricCheck, machine), "nvidia.fabric.manager_died host warn");
    set_manager(machine, false, false);  // it lives in a container
    EXPECT_EQ(said(kNvidiaFabricCheck, machine), "");
}

TEST(NvidiaFabric, A100HasNoStateAndIsJudgedByTheUnit) {
    Snapshot machine = telling_h100_x8();
    machine.host.uptime_s = fact(5000.0);
    for (std::size_t i = 0; i < 8; ++i) {
        first(machine, i).fabric = last(machine, i).fabric = NvFabric{};
        first(machine, i).fabric.state = last(machine, i).fabric.state = Missing{"NVML", "NOT_SUPPORTED"};
    }
    EXPECT_EQ(said(kNvidiaFabricCheck, machine), "");
    set_manager(machine, true, false);
    EXPECT_EQ(said(kNvidiaFabricCheck, machine), "nvidia.fabric.no_manager host fail");
    set_manager(machine, false, false);
    EXPECT_EQ(said(kNvidiaFabricCheck, machine), "nvidia.fabric.no_manager host warn");
    // Without switches nobody has to manage anything (a four-GPU board; field case C043).
    machine.host.nvswitches.clear();
    EXPECT_EQ(said(kNvidiaFabricCheck, machine), "");
    machine.host.nvswitches = {Bdf{0, 5, 0, 0}};
    machine.host.units = Missing{"units", "not captured"};
    EXPECT_EQ(said(kNvidiaFabricCheck, machine), "telemetry.unread host unknown");
}

TEST(NvidiaFabric, AGuestHasNoManagerAndNeedsItsPartition) {
    Snapshot machine = telling_h200_guest();
    EXPECT_EQ(said(kNvidiaFabricCheck, machine), "");
    machine.host.nvswitches.clear();
    machine.host.uptime_s = fact(900.0);
    first(machine).fabric.state = last(machine).fabric.state = fact("in_progress");
    EXPECT_EQ(said(kNvidiaFabricCheck, machine), "nvidia.fabric.stuck 0000:19:00.0 fail");
    EXPECT_EQ(complaints(kNvidiaFabricCheck, machine).front().scope, Scope::host);
    first(machine).fabric.state = last(machine).fabric.state = fact("not_started");
    EXPECT_EQ(said(kNvidiaFabricCheck, machine), "nvidia.fabric.stuck 0000:19:00.0 warn");
}

TEST(NvidiaFabric, CompletedWithAnError) {
    EXPECT_EQ(said_with(kNvidiaFabricCheck, [](NvidiaTelemetry& t) { t.fabric.status = fact("TIMEOUT"); }),
              "nvidia.fabric.error 0000:19:00.0 fail");
    EXPECT_EQ(said_with(kNvidiaFabricCheck, [](NvidiaTelemetry& t) { t.fabric.state = fact("0x9"); }),
              "telemetry.unread 0000:19:00.0 unknown");
}

std::string said_of_mask(std::uint64_t mask) {
    return said_with(kNvidiaFabricHealthCheck,
                     [&](NvidiaTelemetry& t) { t.fabric.health_mask = fact(mask); });
}

TEST(NvidiaFabricHealth, BitsInWords) {
    EXPECT_EQ(said_of_mask(0x11a9), "nvidia.fabric.degraded 0000:19:00.0 fail");
    EXPECT_EQ(said_of_mask(0x11a6), "nvidia.fabric.recovering 0000:19:00.0 warn");
    EXPECT_EQ(said_of_mask(0x119a), "nvidia.fabric.unhealthy 0000:19:00.0 fail");
    EXPECT_EQ(said_of_mask(0x116a), "nvidia.fabric.recovering 0000:19:00.0 warn");
    EXPECT_EQ(said_of_mask(0x15aa), "nvidia.fabric.misconfigured 0000:19:00.0 fail");
    EXPECT_EQ(said_of_mask(0x10aa), "");
    EXPECT_EQ(said_of_mask(0), "");
    const Snapshot machine =
        with([](NvidiaTelemetry& t) { t.fabric.health_mask = fact(std::uint64_t{0x15aa}); });
    EXPECT_NE(complaints(kNvidiaFabricHealthCheck, machine).front().observed.find("too few NVLinks"),
              std::string::npos);
}

TEST(NvidiaFabricHealth, TheSummaryWhereThereIsNoMask) {
    const auto summary = [](const char* text) {
        return said_with(kNvidiaFabricHealthCheck, [&](NvidiaTelemetry& t) {
            t.fabric.health_mask = Missing{"NVML", "NOT_SUPPORTED"};
            t.fabric.health_summary = fact(text);
        });
    };
    EXPECT_EQ(summary("unhealthy"), "nvidia.fabric.unhealthy 0000:19:00.0 fail");
    EXPECT_EQ(summary("limited_capacity"), "nvidia.fabric.degraded 0000:19:00.0 warn");
    EXPECT_EQ(summary("healthy"), "");
    EXPECT_EQ(summary("not_available"), "");
}

}  // namespace
}  // namespace gpucheck
