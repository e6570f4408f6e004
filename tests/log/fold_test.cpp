// Folding: one event for a burst, a repeat, a multi-line report or one incident with several codes; the final
// state decides.
#include <gtest/gtest.h>

#include "agent/host/kernel_log/scan.h"
#include "tests/log/wrap.h"

namespace gpucheck::host {
namespace {

LogSummary scan(const std::string& log, ScanOptions options = {}) {
    LogScanner scanner(options);
    scanner.feed(log);
    return scanner.finish();
}

// "code bdf verdict xCOUNT" of each event, in order.
std::string said(const LogSummary& summary) {
    std::string out;
    for (const LogEvent& event : summary.events) {
        out += event.code + " " + (event.bdf.empty() ? "-" : event.bdf) + " " +
               std::string(name_of(event.verdict)) + " x" + std::to_string(event.count) + "\n";
    }
    return out;
}

std::string said(const std::vector<std::string>& messages, long step_us = 1000) {
    return said(scan(wrap("dmesg", messages, step_us)));
}

constexpr long kHour = 3600L * 1000000;

std::string xid(int number, const std::string& words, const std::string& bdf = "0000:5d:00") {
    return "NVRM: Xid (PCI:" + bdf + "): " + std::to_string(number) + ", " + words;
}

TEST(Folding, AddressesInEverySpellingAreOneGpu) {
    EXPECT_EQ(
        said({"NVRM: Xid (PCI:0000:27:00): 79, GPU has fallen off the bus.",
              "NVRM: Xid (0000:27:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
              "NVRM: GPU 0000:27:00.0: GPU has fallen off the bus.",
              "NVRM: Xid (PCI:0000:27:00 GPU-I:05): 79"}),
        "xid.79 0000:27:00.0 fail x3\n");
}

TEST(Folding, AContainedMemoryErrorIsOneEventThatAResetCompletes) {
    const std::vector<std::string> burst{
        xid(48, "pid='<unknown>', name=<unknown>, An uncorrectable double bit error"),
        xid(63, "Row Remapper: New row (0x10) marked for remapping, reset gpu to activate."),
        xid(94, "pid=71, name=x, Contained: SM (0x1). RST: No, D-RST: No")};
    const LogSummary one = scan(wrap("dmesg", burst));
    EXPECT_EQ(said(one), "xid.48 0000:5d:00.0 warn x1\n");
    EXPECT_EQ(one.events.at(0).also, (std::vector<std::string>{"xid.63", "xid.94"}));
    EXPECT_EQ(one.events.at(0).action, Action::reset_gpu);

    std::vector<std::string> twice = burst;
    twice.insert(twice.end(), burst.begin(), burst.end());
    const LogSummary returned = scan(wrap("dmesg", twice, kHour));
    EXPECT_EQ(said(returned), "xid.48 0000:5d:00.0 fail x2\n") << "it came back";
    EXPECT_EQ(returned.events.at(0).action, Action::drain_and_replace);
}

TEST(Folding, ADoubleBitErrorThatWasNotContainedOrNotRepairedFails) {
    EXPECT_EQ(
        said({xid(48, "DBE"), xid(63, "Row Remapper: New row marked for remapping, reset gpu to activate")}),
        "xid.48 0000:5d:00.0 fail x1\n");
    EXPECT_EQ(said({xid(48, "DBE"), xid(95, "Uncontained: LTC TAG (0x2,0x0)"),
                    xid(63, "Row Remapper: marked for remapping")}),
              "xid.95 0000:5d:00.0 fail x1\n");
    EXPECT_EQ(said({xid(48, "DBE"), xid(94, "Contained"), xid(64, "Row Remapper: Failed to record row")}),
              "xid.64 0000:5d:00.0 fail x1\n");
}

TEST(Folding, RepairPendingIsNotRepairFailed) {
    EXPECT_EQ(said({xid(63, "Row Remapper: New row marked for remapping, reset gpu to activate")}),
              "xid.63 0000:5d:00.0 warn x1\n");
    EXPECT_EQ(said({xid(63, "Row Remapper: Remapping failure, no spare row")}),
              "xid.63 0000:5d:00.0 fail x1\n");
    const LogSummary pending = scan(wrap("dmesg", {xid(64,
                                                       "Dynamic Page Retirement: Page is already pending "
                                                       "retirement, reboot to retire page (0x19d4b8).")}));
    EXPECT_EQ(said(pending), "xid.64 0000:5d:00.0 warn x1\n");
    EXPECT_EQ(pending.events.at(0).action, Action::reboot);
}

TEST(Folding, CleanUpAfterAnErrorIsNotCounted) {
    EXPECT_EQ(
        said({xid(62, "2023c1f8 20239a04"), xid(45, "pid=1, Ch 00000008"), xid(45, "pid=1, Ch 00000009")}),
        "xid.62 0000:5d:00.0 fail x1\n");
    EXPECT_EQ(said({xid(45, "pid=1, Ch 00000008"), xid(45, "pid=1, Ch 00000009")}),
              "xid.45 0000:5d:00.0 pass x2\n");
    EXPECT_EQ(said({xid(13, "pid=1, Graphics Exception: ESR 0x50dfb0=0x11f000e"),
                    xid(43, "pid=1, name=x, Ch 00000008")}),
              "xid.13 0000:5d:00.0 warn x1\n");
    EXPECT_EQ(
        said({xid(13, "pid=1, Graphics Exception", "0000:3b:00"), xid(43, "pid=1, name=x, Ch 00000008")}),
        "xid.13 0000:3b:00.0 warn x1\nxid.43 0000:5d:00.0 warn x1\n")
        << "another GPU's clean-up stays its own";
}

TEST(Folding, ApplicationFaultsThatRepeatOnOneUnitAreSuspicious) {
    const std::string same =
        xid(13, "pid=7, name=a, Graphics SM Warp Exception on (GPC 2, TPC 5, SM 1): Illegal Instruction");
    const std::string other =
        xid(13, "pid=8, name=b, Graphics SM Warp Exception on (GPC 4, TPC 0, SM 0): Out Of Range Address");
    const LogSummary burst = scan(wrap("dmesg", {same, same, same}));
    EXPECT_EQ(burst.events.at(0).scope, Scope::guest);
    const LogSummary again = scan(wrap("dmesg", {same, same}, kHour));
    EXPECT_EQ(said(again), "xid.13 0000:5d:00.0 warn x2\n");
    EXPECT_EQ(again.events.at(0).scope, Scope::host);
    EXPECT_EQ(scan(wrap("dmesg", {same, other}, kHour)).events.at(0).scope, Scope::guest);
    // 109 with different jobs on one GPU fails, with the same job it warns.
    EXPECT_EQ(said({xid(109, "pid=7, name=a, Ch 8, errorString CTX SWITCH TIMEOUT"),
                    xid(109, "pid=7, name=a, Ch 9")}),
              "xid.109 0000:5d:00.0 warn x2\n");
    EXPECT_EQ(said({xid(109, "pid=7, name=a, Ch 8, errorString CTX SWITCH TIMEOUT"),
                    xid(109, "pid=8, name=b, Ch 9")},
                   kHour),
              "xid.109 0000:5d:00.0 fail x2\n");
}

TEST(Folding, TheLastRecoveryActionCounts) {
    const std::string wants =
        xid(154, "GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)");
    const std::string reboot =
        xid(154, "GPU recovery action changed from 0x4 (Drain and Reset) to 0x2 (Node Reboot Required)");
    const std::string none =
        xid(154, "GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)");
    EXPECT_EQ(said({wants}), "xid.154 0000:5d:00.0 fail x1\n");
    EXPECT_EQ(scan(wrap("dmesg", {wants, reboot})).events.at(0).action, Action::reboot);
    EXPECT_EQ(said({wants, none}), "xid.154 0000:5d:00.0 pass x2\n");
    EXPECT_EQ(said({none, wants}), "xid.154 0000:5d:00.0 fail x2\n");
    EXPECT_EQ(said({xid(154, "GPU recovery action changed from 0x0 (None) to 0x9 (Dance)")}),
              "xid.154 0000:5d:00.0 unknown x1\n");
    // With the error that caused it: one incident, and the action is the driver's.
    const LogSummary both = scan(wrap("dmesg", {xid(119, "pid=1, Timeout after 6s"), wants, reboot}));
    EXPECT_EQ(said(both), "xid.119 0000:5d:00.0 fail x1\n");
    EXPECT_EQ(both.events.at(0).action, Action::reboot);
    EXPECT_EQ(said({xid(119, "pid=1, Timeout after 6s"), wants, none}), "xid.119 0000:5d:00.0 warn x1\n");
    EXPECT_EQ(said({wants, none, xid(119, "pid=1, Timeout after 6s")}), "xid.119 0000:5d:00.0 fail x1\n");
    EXPECT_EQ(said({xid(79, "GPU has fallen off the bus"), wants, none}), "xid.79 0000:5d:00.0 fail x1\n");
}

TEST(Folding, NvLinkSeverityIsAWord) {
    EXPECT_EQ(said({xid(149, "NETIR_LINK_EVT  Fatal   XC0 i0 Link 04 (0x02)")}),
              "xid.149 0000:5d:00.0 fail x1\n");
    EXPECT_EQ(said({xid(145, "pid=5, name=ray::Fatality, RLW_RXPIPE Nonfatal XC0 i0 Link -1 (0x04)")}),
              "xid.145 0000:5d:00.0 warn x1\n");
    EXPECT_EQ(said({xid(145, "RLW_RXPIPE (Fatal) XC0 i0 Link 07 (0x04)")}), "xid.145 0000:5d:00.0 fail x1\n");
    EXPECT_EQ(said({xid(145, "RLW_RXPIPE XC0 i0 Li")}), "xid.145 0000:5d:00.0 unknown x1\n");
    EXPECT_EQ(said({xid(145, "Nonfatal"), xid(145, "Fatal"), xid(145, "Nonfatal")}),
              "xid.145 0000:5d:00.0 fail x3\n");
}

TEST(Folding, AResetThatSucceedsEndsAHang) {
    const std::string amd = "amdgpu 0000:1b:00.0: amdgpu: ";
    const std::vector<std::string> hang{amd + "ring gfx_0.0.0 timeout, signaled seq=4, emitted seq=5",
                                        amd + "MES failed to respond to msg=RESET",
                                        amd + "Ring gfx_0.0.0 reset failed", amd + "GPU reset begin!"};
    const auto with = [&](std::vector<std::string> more) {
        std::vector<std::string> all = hang;
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    EXPECT_EQ(said(hang), "amdgpu.ring.timeout 0000:1b:00.0 fail x1\n");
    EXPECT_EQ(said(with({amd + "GPU reset(3) succeeded!"})), "amdgpu.ring.timeout 0000:1b:00.0 warn x1\n");
    EXPECT_EQ(said(with({amd + "GPU reset(3) failed"})), "amdgpu.reset.failed 0000:1b:00.0 fail x1\n");
    EXPECT_EQ(said(with({"amdgpu 0000:6a:00.0: amdgpu: GPU reset(3) succeeded!"})),
              "amdgpu.ring.timeout 0000:1b:00.0 fail x1\namdgpu.reset 0000:6a:00.0 warn x1\n")
        << "another GPU's success";
    EXPECT_EQ(said(with({amd + "GPU reset(3) succeeded!",
                         amd + "ring sdma0 timeout, signaled seq=4, emitted seq=5"})),
              "amdgpu.ring.timeout 0000:1b:00.0 fail x2\n");
    std::vector<std::string> again;
    for (int i = 0; i < 3; ++i) {
        again.insert(again.end(), hang.begin(), hang.end());
        again.push_back(amd + "GPU reset(" + std::to_string(i + 1) + ") succeeded!");
    }
    EXPECT_EQ(said(again, 60 * 1000000L), "amdgpu.ring.timeout 0000:1b:00.0 fail x3\n") << "it keeps hanging";
    EXPECT_EQ(said({amd + "GPU reset begin!", amd + "GPU reset(1) succeeded!"}),
              "amdgpu.reset 0000:1b:00.0 warn x1\n");
}

TEST(Folding, AnUncorrectableErrorIsNotForgivenByAReset) {
    const std::string amd = "amdgpu 0000:1b:00.0: amdgpu: ";
    EXPECT_EQ(said({amd + "2 uncorrectable hardware errors detected in umc block", amd + "GPU reset begin!",
                    amd + "GPU reset(1) succeeded!"}),
              "amdgpu.ras.uncorrectable 0000:1b:00.0 fail x1\namdgpu.reset 0000:1b:00.0 warn x1\n");
}

TEST(Folding, CauseOfAFailedProbe) {
    const std::string amd = "amdgpu 0000:c1:00.0: ";
    // An optional file that is missing is no fault, also not with a fatal line of another device.
    EXPECT_EQ(said({amd + "Direct firmware load for amdgpu/isp_4_1_1.bin failed with error -2"}), "");
    EXPECT_EQ(said({amd + "Direct firmware load for amdgpu/isp_4_1_1.bin failed with error -2",
                    "amdgpu 0000:c2:00.0: amdgpu: Fatal error during GPU init"}),
              "amdgpu.init.failed 0000:c2:00.0 fail x1\n");
    EXPECT_EQ(said({amd + "Direct firmware load for amdgpu/isp_4_1_1.bin failed with error -2",
                    amd + "amdgpu: Fatal error during GPU init",
                    "amdgpu: probe of 0000:c1:00.0 failed with error -12"}),
              "amdgpu.init.bar 0000:c1:00.0 fail x1\n");
    EXPECT_EQ(said({amd + "amdgpu: Fatal error during GPU init",
                    amd + "probe with driver amdgpu failed with error -125"}),
              "amdgpu.init.failed 0000:c1:00.0 fail x1\n")
        << "-125 is not -12";
    // Lines without an address go to the device that fails next.
    const LogSummary two = scan(
        wrap("dmesg",
             {"[drm:amdgpu_device_ip_early_init [amdgpu]] *ERROR* early_init of IP block <psp> failed -22",
              "amdgpu 0000:83:00.0: amdgpu: Fatal error during GPU init",
              "amdgpu 0000:84:00.0: amdgpu: get invalid ip discovery binary signature",
              "[drm:amdgpu_discovery_set_ip_blocks [amdgpu]] *ERROR* amdgpu_discovery_init failed",
              "amdgpu 0000:84:00.0: amdgpu: Fatal error during GPU init"}));
    EXPECT_EQ(said(two),
              "amdgpu.psp.failed 0000:83:00.0 fail x1\namdgpu.init.discovery 0000:84:00.0 fail x1\n");
}

TEST(Folding, ADriverThatComesUpLaterRecovers) {
    const std::vector<std::string> nvidia{
        "NVRM: GPU 0000:4a:00.0: RmInitAdapter failed! (0x62:0x65:1802)",
        "NVRM: GPU 0000:4a:00.0: rm_init_adapter failed, device minor number 0",
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.172.08  Tue Jul 15 18:52:43 UTC 2025"};
    EXPECT_EQ(said(nvidia), "nvidia.init.failed 0000:4a:00.0 warn x1\n");
    EXPECT_EQ(said({nvidia[2], nvidia[0]}), "nvidia.init.failed 0000:4a:00.0 fail x1\n");
    EXPECT_EQ(said({xid(79, "GPU has fallen off the bus"), nvidia[2]}), "xid.79 0000:5d:00.0 fail x1\n")
        << "loading a driver does not put a GPU back on the bus";
    EXPECT_EQ(said({"nvidia: Unknown symbol drm_gem_object_put (err -2)", nvidia[2]}),
              "driver.module.symbol - warn x1\n");
    EXPECT_EQ(said({"amdgpu: Unknown symbol drm_gem_object_put (err -2)", nvidia[2]}),
              "driver.module.symbol - fail x1\n")
        << "the other vendor's driver";
    const std::vector<std::string> amd{
        "amdgpu 0000:83:00.0: amdgpu: Fatal error during GPU init",
        "[drm] Initialized amdgpu 3.60.0 20150101 for 0000:83:00.0 on minor 1"};
    EXPECT_EQ(said(amd), "amdgpu.init.failed 0000:83:00.0 warn x1\n");
    EXPECT_EQ(said({amd[0], "[drm] Initialized amdgpu 3.60.0 20150101 for 0000:84:00.0 on minor 1"}),
              "amdgpu.init.failed 0000:83:00.0 fail x1\n");
}

TEST(Folding, ALostGpuOverSeveralLinesAndLevels) {
    EXPECT_EQ(
        said({"NVRM: The NVIDIA GPU 0000:c1:00.0", "NVRM: (PCI ID: 10de:2330) installed in this system has",
              "NVRM: fallen off the bus and is not responding to commands.",
              "nvidia: probe of 0000:c1:00.0 failed with error -1"}),
        "nvidia.bus.lost 0000:c1:00.0 fail x1\n");
    // /dev/kmsg keeps the lines of one report in one record.
    EXPECT_EQ(said(scan("3,1,100,-;NVRM: The NVIDIA GPU 0000:c1:00.0\\x0aNVRM: (PCI ID: 10de:2330) installed "
                        "in this system "
                        "has\\x0aNVRM: fallen off the bus and is not responding to commands.\n")),
              "nvidia.bus.lost 0000:c1:00.0 fail x1\n");
    EXPECT_EQ(said({"pcieport 0000:17:00.0: AER: Uncorrected (Fatal) error received: 0000:17:00.0",
                    "pcieport 0000:17:00.0:    [ 5] SDES                   (First)",
                    "nvidia 0000:18:00.0: AER: can't recover (no error_detected callback)",
                    "snd_hda_intel 0000:18:00.1: AER: can't recover (no error_detected callback)",
                    "pcieport 0000:17:00.0: AER: device recovery failed",
                    "NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus."}),
              "xid.79 0000:18:00.0 fail x1\n");
    EXPECT_EQ(said({"pcieport 0000:17:00.0: AER: Uncorrected (Fatal) error received: 0000:17:00.0",
                    "pcieport 0000:17:00.0: AER: device recovery successful"}),
              "pcie.error.fatal 0000:17:00.0 warn x1\n");
    EXPECT_EQ(said({"nvme 0000:05:00.0: AER: can't recover (no error_detected callback)"}), "") << "a disk";
}

TEST(Folding, ThePortNamesWhoItHeardTheErrorFrom) {
    const std::string fatal = "pcieport 0000:40:01.1: AER: Uncorrected (Fatal) error received: 0000:41:00.0";
    EXPECT_EQ(said({"pci 0000:41:00.0: [10de:2330] type 00 class 0x030200", fatal}),
              "pcie.error.fatal 0000:41:00.0 fail x1\n");
    EXPECT_EQ(said({"pci 0000:41:00.0: [144d:a80a] type 00 class 0x010802", fatal}), "") << "a disk";
    EXPECT_EQ(said({fatal}), "pcie.error.fatal 0000:40:01.1 fail x1\n");
}

TEST(Folding, DetailLinesOfAnSxidAreNotCounted) {
    const std::string sxid = "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 24007, ";
    EXPECT_EQ(said({sxid + "Fatal, Link 27 sourcetrack timeout error (First)",
                    sxid + "Severity 1 Engine instance 27 Sub-engine instance 00",
                    sxid + "Data {0x00000001, 0x00000001}"}),
              "sxid.fatal 0000:c1:00.0 fail x1\n");
}

TEST(Folding, CorrectedErrorsByRate) {
    const std::string corrected = "pcieport 0000:40:01.1: AER: Corrected error received: 0000:41:00.0";
    EXPECT_EQ(said(std::vector<std::string>(10, corrected)), "pcie.aer.corrected 0000:40:01.1 pass x10\n");
    EXPECT_EQ(said(std::vector<std::string>(11, corrected)), "pcie.aer.corrected 0000:40:01.1 warn x11\n");
    EXPECT_EQ(said(std::vector<std::string>(40, corrected), 60L * 1000000),
              "pcie.aer.corrected 0000:40:01.1 pass x40\n");
}

TEST(Folding, LinkLimitsOfGpusOnBareMetalOnly) {
    const std::string limited =
        "pci 0000:21:00.0: 126.016 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x16 link at "
        "0000:20:01.1 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)";
    EXPECT_EQ(said({"pci 0000:21:00.0: [10de:2330] type 00 class 0x030200", limited}),
              "pcie.bandwidth.limited 0000:21:00.0 warn x1\n");
    EXPECT_EQ(said({"pci 0000:21:00.0: [15b3:1021] type 00 class 0x020000", limited}), "") << "a NIC";
    EXPECT_EQ(
        said({"Hypervisor detected: KVM", "pci 0000:21:00.0: [10de:2330] type 00 class 0x030200", limited}),
        "")
        << "a guest";
    const std::string bar = "pci 0000:21:00.0: BAR 1: no space for [mem size 0x2000000000 64bit pref]";
    EXPECT_EQ(said({"pci 0000:21:00.0: [1002:74a1] type 00 class 0x120000", bar}),
              "pcie.bar.refused 0000:21:00.0 fail x1\n");
    EXPECT_EQ(said({"pci 0000:21:00.0: [1002:74a1] type 00 class 0x120000", bar,
                    "pci 0000:21:00.0: BAR 1: assigned [mem 0x4000000000-0x5fffffffff 64bit pref]"}),
              "pcie.bar.refused 0000:21:00.0 warn x1\n");
    EXPECT_EQ(said({"pci 0000:21:00.0: [1002:74a1] type 00 class 0x120000",
                    "pci 0000:21:00.0: BAR 7: no space for [mem size 0x2000000000 64bit pref]",
                    "pci 0000:20:01.1: BAR 13: no space for [io  size 0x1000]",
                    "pci 0000:20:01.1: bridge window [io  size 0x1000]: can't assign; no space"}),
              "");
}

TEST(Folding, SinceBootForgetsEarlierBoots) {
    const std::string lost = "[  900.000001] NVRM: Xid (PCI:0000:27:00): 79, GPU has fallen off the bus.\n";
    const std::string quiet = "[   30.000000] EXT4-fs (vda1): mounted filesystem\n";
    const ScanOptions since{.since_boot = true, .every_line = false};
    for (const std::string& mark :
         {std::string("[    0.000000] Linux version 6.8.0-55-generic (buildd@builder)\n"),
          std::string("-- Reboot --\n"), std::string("-- Boot 0a1b2c3d4e5f60718293a4b5c6d7e8f9 --\n"),
          std::string()}) {
        const std::string log = lost + mark + quiet;
        EXPECT_EQ(scan(log).verdict(), Verdict::fail) << mark;
        EXPECT_EQ(scan(log, since).verdict(), Verdict::pass) << mark;
        EXPECT_GE(scan(log, since).lines, 1U) << mark;
        EXPECT_EQ(scan(quiet + mark + lost, since).verdict(), Verdict::fail) << mark;
    }
    EXPECT_TRUE(scan(lost + "[    0.000000] Linux version 6.8.0\n" + quiet).events.at(0).earlier_boot);
    EXPECT_FALSE(scan("[    0.000000] Linux version 6.8.0\n" + lost + quiet).events.at(0).earlier_boot);
    // printk stamps of several processors may be out of order by a little.
    EXPECT_EQ(scan(lost + "[  899.999000] EXT4-fs: x\n", since).verdict(), Verdict::fail);
}

TEST(Folding, ALogWithoutALineIsUnknown) {
    for (const std::string& log :
         {std::string(), std::string("\n\n\n"), std::string("   \r\n\t\n"), std::string(4096, '\0')}) {
        EXPECT_EQ(scan(log).verdict(), Verdict::unknown);
        EXPECT_EQ(scan(log).lines, 0U);
    }
    EXPECT_EQ(scan("[    1.000000] random: crng init done").verdict(), Verdict::pass);
    EXPECT_EQ(scan("[    1.000000] random: crng init done").lines, 1U);
    // A program or UTF-16 text has "lines" too.
    std::string binary;
    for (int i = 0; i < 50; ++i)
        binary += std::string(
                      "\x01\0\x7f"
                      "ELF",
                      6) +
                  "\n" + (i % 5 == 0 ? "text\n" : "");
    EXPECT_EQ(scan(binary).verdict(), Verdict::unknown);
}

TEST(Folding, ManyDistinctEventsAreBoundedAndSaid) {
    std::string log;
    for (unsigned i = 0; i < 20000; ++i) {
        char line[96];
        std::snprintf(line, sizeof line, "NVRM: Xid (PCI:%04x:%02x:00): 79, gone\n", i / 256, i % 256);
        log += line;
    }
    const LogSummary summary = scan(log);
    EXPECT_EQ(summary.events.size(), Folder::kMostRecords + 1);
    EXPECT_EQ(summary.overflow, 20000 - Folder::kMostRecords);
    EXPECT_EQ(summary.verdict(), Verdict::fail);
}

}  // namespace
}  // namespace gpucheck::host
