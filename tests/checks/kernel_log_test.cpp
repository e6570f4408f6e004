// The kernel-log check: events of this machine's GPUs, ports and switches count, others do not, and an unread
// log is unknown.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

LogEvent event(std::string code, Verdict verdict, std::string bdf) {
    LogEvent event;
    event.code = std::move(code);
    event.verdict = verdict;
    event.bdf = std::move(bdf);
    event.scope = Scope::host;
    event.count = 1;
    event.evidence = "the line";
    return event;
}

Snapshot with_events(Snapshot machine, std::vector<LogEvent> events) {
    LogSummary log;
    log.lines = 100;
    log.events = std::move(events);
    machine.host.kernel_log = fact(std::move(log));
    return machine;
}

std::string said_of(const Snapshot& machine) {
    return said(kKernelLogCheck, machine);
}

TEST(KernelLogCheck, UnreadEmptyAndCutOffAreUnknown) {
    Snapshot machine = healthy_h100_x8();
    machine.host.kernel_log = Missing{"/dev/kmsg", "EPERM"};
    EXPECT_EQ(said_of(machine), "kernel.log.unread host unknown");
    machine.host.kernel_log = fact(LogSummary{});
    EXPECT_EQ(said_of(machine), "kernel.log.empty host unknown");
    machine = with_events(healthy_h100_x8(), {});
    EXPECT_EQ(said_of(machine), "");
    LogSummary cut = machine.host.kernel_log.value();
    cut.incomplete = "cut off";
    machine.host.kernel_log = fact(cut);
    EXPECT_EQ(said_of(machine), "kernel.log.incomplete host unknown");
    // Not required of the quick profile, required of boot.
    EXPECT_FALSE(run_check(kKernelLogCheck, machine, Profile::quick).required);
    EXPECT_TRUE(run_check(kKernelLogCheck, machine, Profile::boot).required);
}

TEST(KernelLogCheck, PassesForEverySubject) {
    const Snapshot machine = with_events(healthy_h100_x8(), {});
    const CheckResult result = run_check(kKernelLogCheck, machine, Profile::quick);
    EXPECT_EQ(result.verdict, Verdict::pass);
    EXPECT_EQ(result.findings.size(), machine.gpus.size() + 1);
}

TEST(KernelLogCheck, PinsAnEventOnItsGpu) {
    const Snapshot healthy = healthy_h100_x8();
    const std::string gpu = healthy.gpus.at(2).bdf.str();
    EXPECT_EQ(said_of(with_events(healthy, {event("xid.79", Verdict::fail, gpu)})),
              "xid.79 " + gpu + " fail");
    const std::string gone = "0000:fe:00.0";
    EXPECT_EQ(said_of(with_events(healthy, {event("xid.79", Verdict::fail, gone)})),
              "xid.79 " + gone + " fail")
        << "it left the bus";
    EXPECT_EQ(said_of(with_events(healthy, {event("pcie.error.fatal", Verdict::fail, gone)})), "")
        << "some other device";
    EXPECT_EQ(said_of(with_events(healthy, {event("xid.45", Verdict::pass, gpu)})), "");
    EXPECT_EQ(said_of(with_events(healthy, {event("host.oom", Verdict::warn, "")})), "host.oom host warn");
}

TEST(KernelLogCheck, MapsAPortToTheGpuBelowIt) {
    Snapshot machine = healthy_h100_x8();
    ASSERT_FALSE(machine.gpus.at(1).pci.path.empty());
    const std::string port = machine.gpus.at(1).pci.path.front().bdf.str();
    const std::string said = said_of(with_events(machine, {event("pcie.error.fatal", Verdict::fail, port)}));
    EXPECT_NE(said.find("pcie.error.fatal " + machine.gpus.at(1).bdf.str() + " fail"), std::string::npos)
        << said;
}

TEST(KernelLogCheck, NvSwitchErrorsCountAtTheirAddress) {
    Snapshot machine = healthy_h100_x8();
    machine.host.nvswitches = {*Bdf::parse("0000:85:00.0")};
    EXPECT_EQ(said_of(with_events(machine, {event("sxid.fatal", Verdict::fail, "0000:85:00.0")})),
              "sxid.fatal 0000:85:00.0 fail");
}

TEST(KernelLogCheck, LinkLimitsOnBareMetalGpusOnly) {
    Snapshot metal = healthy_h100_x8(), guest = healthy_mi300x_vf();
    const LogEvent limited = event("pcie.bandwidth.limited", Verdict::warn, metal.gpus.at(0).bdf.str());
    EXPECT_EQ(said_of(with_events(metal, {limited})), "pcie.bandwidth.limited " + limited.bdf + " warn");
    EXPECT_EQ(said_of(with_events(metal, {event("pcie.bandwidth.limited", Verdict::warn, "0000:01:00.0")})),
              "");
    EXPECT_EQ(said_of(with_events(
                  guest, {event("pcie.bandwidth.limited", Verdict::warn, guest.gpus.at(0).bdf.str())})),
              "");
}

TEST(KernelLogCheck, HistoryAndPresentOwnersSoften) {
    const Snapshot machine = healthy_h100_x8();
    LogEvent old = event("xid.79", Verdict::fail, machine.gpus.at(0).bdf.str());
    old.earlier_boot = true;
    EXPECT_EQ(said_of(with_events(machine, {old})), "xid.79 " + old.bdf + " warn");
    EXPECT_EQ(said_of(with_events(machine, {event("nvidia.driver.not_probed", Verdict::fail, "")})), "")
        << "nvidia owns them all";
    Snapshot taken = machine;
    taken.gpus.at(3).pci.driver = fact("nouveau");
    EXPECT_EQ(said_of(with_events(taken, {event("nvidia.driver.not_probed", Verdict::fail, "")})),
              "nvidia.driver.not_probed host fail");
}

TEST(KernelLogCheck, CodesOutliveTheSnapshotAndHostileOnesAreReplaced) {
    Findings findings;
    {
        const Snapshot machine = with_events(
            healthy_h100_x8(),
            {event("xid.79", Verdict::fail, "0000:fe:00.0"), event("a\x1b[31m", Verdict::fail, "")});
        findings = run_check(kKernelLogCheck, machine, Profile::quick).findings;
    }
    ASSERT_GE(findings.size(), 2U);
    EXPECT_EQ(findings.at(0).code, "xid.79");
    EXPECT_EQ(findings.at(1).code, "kernel.log.overflow");
}

}  // namespace
}  // namespace gpucheck
