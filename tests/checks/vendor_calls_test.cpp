// Every way in which a vendor call can end badly has its code and names its GPU; calls that came back, and
// machines without a vendor library, are no trouble.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

Snapshot with_troubles(std::vector<VendorTrouble> troubles) {
    Snapshot machine = healthy_h100_x8();
    machine.host.vendor_troubles = fact(std::move(troubles));
    return machine;
}

VendorTrouble trouble(const char* outcome, const char* detail, const char* device = "0000:19:00.0") {
    return {"libnvidia-ml.so.1", "nvmlDeviceGetEccMode", device, outcome, detail};
}

TEST(VendorCalls, ThatCameBackAreNoTrouble) {
    EXPECT_EQ(said(kVendorCallsCheck, with_troubles({})), "");
    EXPECT_EQ(run_check(kVendorCallsCheck, with_troubles({}), Profile::quick).verdict, Verdict::pass);
}

TEST(VendorCalls, ThatWereNotMadeAreNotJudged) {
    Snapshot machine = healthy_h100_x8();
    machine.host.vendor_troubles = Missing{"vendor.json", "not captured"};
    const CheckResult result = run_check(kVendorCallsCheck, machine, Profile::boot);
    EXPECT_EQ(result.verdict, Verdict::not_applicable);
    EXPECT_EQ(result.reason, "no vendor library was asked: not captured");
}

TEST(VendorCalls, EveryOutcomeHasItsCode) {
    const std::vector<std::pair<const char*, const char*>> codes{
        {"hangs", "vendor.call.hangs"},
        {"unkillable", "vendor.call.unkillable"},
        {"crashed", "vendor.call.crashes"},
        {"exited", "vendor.call.exits"},
        {"flooded", "vendor.call.floods"},
        {"garbage", "vendor.call.garbage"},
        {"out_of_memory", "vendor.call.out_of_memory"},
        {"not_started", "vendor.call.not_started"}};
    for (const auto& [outcome, code] : codes) {
        EXPECT_EQ(said(kVendorCallsCheck, with_troubles({trouble(outcome, "x")})),
                  std::string(code) + " 0000:19:00.0 unknown");
        for (const auto& [other, its] : codes) {
            if (other != outcome) {
                EXPECT_NE(said(kVendorCallsCheck, with_troubles({trouble(other, "x")})),
                          std::string(code) + " 0000:19:00.0 unknown");
            }
        }
    }
    EXPECT_EQ(said(kVendorCallsCheck, with_troubles({trouble("melted", "x")})),
              "vendor.call.garbage 0000:19:00.0 unknown");
}

TEST(VendorCalls, NameLibraryCallAndDevice) {
    const Findings findings =
        complaints(kVendorCallsCheck,
                   with_troubles({trouble("crashed", "SIGSEGV"), trouble("exited", "exit status 3", "")}));
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_EQ(findings[0].subject.id, "0000:19:00.0");
    EXPECT_EQ(findings[0].expected, "libnvidia-ml.so.1: nvmlDeviceGetEccMode returns");
    EXPECT_EQ(findings[0].observed, "SIGSEGV");
    EXPECT_EQ(findings[1].subject.id, "host");
}

TEST(VendorCalls, CountInEveryProfileExceptASlowStart) {
    const Snapshot hung = with_troubles({trouble("hangs", "no answer within 1000 ms")});
    EXPECT_TRUE(run_check(kVendorCallsCheck, hung, Profile::quick).required);
    EXPECT_EQ(run_check(kVendorCallsCheck, hung, Profile::quick).verdict, Verdict::unknown);
    Snapshot starting = hung;
    for (const char* call : {"nvmlInitWithFlags", "nvmlInit_v2", "nvmlDeviceGetHandleByPciBusId_v2",
                             "dlopen libnvidia-ml.so.1", ""}) {
        starting.host.vendor_troubles =
            fact(std::vector<VendorTrouble>{{"libnvidia-ml.so.1", call, "0000:19:00.0", "hangs", "x"}});
        EXPECT_EQ(said(kVendorCallsCheck, starting), "") << call;
        starting.host.vendor_troubles =
            fact(std::vector<VendorTrouble>{{"libnvidia-ml.so.1", call, "0000:19:00.0", "unkillable", "x"}});
        EXPECT_EQ(said(kVendorCallsCheck, starting), "vendor.call.unkillable 0000:19:00.0 unknown") << call;
    }
}

}  // namespace
}  // namespace gpucheck
