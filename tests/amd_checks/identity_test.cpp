// unique_id and the distance between ROCm and its driver.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"
#include "tests/checks/healthy_amd_telemetry.h"

namespace gpucheck {
namespace {

TEST(AmdIdentity, SharedAndZero) {
    Snapshot machine = telling_mi300x_x8();
    machine.gpus[1].amd.unique_id = machine.gpus[0].amd.unique_id;
    EXPECT_EQ(said(kAmdIdentityCheck, machine), "amd.identity.shared host warn");
    machine.gpus[1].amd.unique_id = fact("0x0000000000000000");
    EXPECT_EQ(said(kAmdIdentityCheck, machine), "amd.identity.zero 0000:25:00.0 warn");
    machine.gpus[1].amd.unique_id = fact("0x0000000000000001");
    EXPECT_EQ(said(kAmdIdentityCheck, machine), "");
    machine.gpus[1].amd.unique_id = Missing{"unique_id", "ENOENT"};  // old kernels
    EXPECT_EQ(said(kAmdIdentityCheck, machine), "");
    machine.gpus[1].amd.unique_id = Missing{"unique_id", "EIO"};
    EXPECT_EQ(said(kAmdIdentityCheck, machine), "telemetry.unread 0000:25:00.0 unknown");
}

TEST(AmdIdentity, FunctionsOfAGuestMayShareOne) {
    Snapshot machine = telling_mi300x_vf();
    machine.gpus.push_back(machine.gpus[0]);
    EXPECT_EQ(said(kAmdIdentityCheck, machine), "");
}

Snapshot with_versions(const char* rocm, const char* driver) {
    Snapshot machine = telling_mi300x_x8();
    machine.host.rocm_version = fact(rocm);
    machine.host.modules.front().version = fact(driver);
    return machine;
}

TEST(RocmVersion, DistanceFromTheDriver) {
    EXPECT_EQ(said(kRocmVersionCheck, with_versions("6.3.2-66", "6.10.5")), "");
    EXPECT_EQ(said(kRocmVersionCheck, with_versions("6.3.2-66", "6.16.13")), "");  // AMD says so of 30.30
    EXPECT_EQ(said(kRocmVersionCheck, with_versions("6.2.0-66", "6.16.13")), "driver.rocm.distant host warn");
    EXPECT_EQ(said(kRocmVersionCheck, with_versions("7.0.1-20", "6.3.6")), "driver.rocm.distant host warn");
    EXPECT_EQ(said(kRocmVersionCheck, with_versions("7.0.1-20", "6.10.5")), "");
    EXPECT_EQ(said(kRocmVersionCheck, with_versions("6.4.1", "6.8.5")), "");
    // Newer than the list: the distance is at least that of its last entry.
    EXPECT_EQ(said(kRocmVersionCheck, with_versions("10.0.0", "6.18.1")), "");
}

TEST(RocmVersion, InTreeDriverHasNoVersion) {
    Snapshot machine = with_versions("7.2.0", "6.3.6");
    machine.host.modules.front().version = Missing{"version", "ENOENT"};
    EXPECT_EQ(said(kRocmVersionCheck, machine), "");
}

TEST(RocmVersion, OlderThanTheBoard) {
    Snapshot machine = telling_mi350x_x8();
    machine.host.rocm_version = fact("6.4.1-83");
    EXPECT_EQ(said(kRocmVersionCheck, machine), "driver.rocm.old host warn");
    machine.host.rocm_version = fact("7.0.0-38");
    EXPECT_EQ(said(kRocmVersionCheck, machine), "");
}

TEST(RocmVersion, AbsentUnreadableAndNoVersion) {
    Snapshot machine = telling_mi300x_x8();
    machine.host.rocm_version = Missing{"/opt/rocm/.info/version", "ENOENT"};
    EXPECT_EQ(run_check(kRocmVersionCheck, machine, Profile::boot).verdict, Verdict::not_applicable);
    machine.host.rocm_version = Missing{"/opt/rocm/.info/version", "EACCES"};
    EXPECT_EQ(said(kRocmVersionCheck, machine), "telemetry.unread host unknown");
    machine.host.rocm_version = fact("<html>");
    EXPECT_EQ(said(kRocmVersionCheck, machine), "telemetry.unread host unknown");
}

}  // namespace
}  // namespace gpucheck
