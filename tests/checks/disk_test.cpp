// Full file systems, and those that only look full.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

std::string with_filesystems(std::vector<Filesystem> filesystems) {
    Snapshot machine = healthy_h100_x8();
    machine.host.filesystems = std::move(filesystems);
    return said(kDiskCheck, machine);
}

Fact<std::uint64_t> bytes(std::uint64_t value) {
    return fact(value);
}

TEST(DiskSpace, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kDiskCheck, healthy_h100_x8()), "");
    EXPECT_EQ(said(kDiskCheck, healthy_mi300x_vf()), "");
}

TEST(DiskSpace, AFullBootFails) {
    EXPECT_EQ(with_filesystems({{"/boot", bytes(1000000000), bytes(99999999)}}), "disk.boot.full /boot fail");
    EXPECT_EQ(with_filesystems({{"/boot", bytes(1000000000), bytes(100000000)}}), "");
    EXPECT_EQ(with_filesystems(
                  {{"/", bytes(1ULL << 40), bytes(1ULL << 39)}, {"/boot", bytes(1000000000), bytes(0)}}),
              "disk.boot.full /boot fail");
    Snapshot machine = healthy_h100_x8();
    machine.host.container = fact("docker");
    machine.host.filesystems = {{"/boot", bytes(1000000000), bytes(0)}};
    EXPECT_EQ(said(kDiskCheck, machine), "");
}

TEST(DiskSpace, LowRoomWarnsOnceForOneFilesystem) {
    EXPECT_EQ(with_filesystems({{"/", bytes(1ULL << 40), bytes((1ULL << 30) - 1)},
                                {"/var", bytes(1ULL << 40), bytes((1ULL << 30) - 1)}}),
              "disk.low / warn");
    EXPECT_EQ(with_filesystems(
                  {{"/", bytes(1ULL << 40), bytes(1ULL << 30)}, {"/var", bytes(1ULL << 31), bytes(1)}}),
              "disk.low /var warn");
    EXPECT_EQ(with_filesystems({{"/tmp", bytes(1ULL << 30), bytes(200000000)}}), "");
    EXPECT_EQ(with_filesystems({{"/tmp", bytes(1ULL << 30), bytes(1000)}}), "disk.low /tmp warn");
}

TEST(DiskSpace, UnreadAndImpossibleAreUnknown) {
    EXPECT_EQ(with_filesystems({{"/", Missing{"statvfs", "EIO"}, Missing{"statvfs", "EIO"}}}),
              "disk.unread / unknown");
    EXPECT_EQ(with_filesystems({{"/", bytes(1000), bytes(2000)}}), "disk.unread / unknown");
    EXPECT_EQ(with_filesystems({{"/", bytes(0), bytes(0)}}), "disk.unread / unknown");
    EXPECT_EQ(with_filesystems({}), "disk.unread host unknown");
}

}  // namespace
}  // namespace gpucheck
