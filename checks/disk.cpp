// Finds full file systems before they break the next boot: with no room on /boot the initramfs with the GPU
// driver is cut off, and the machine comes up without one (ROCm/rocm-install-on-linux#629).
#include <algorithm>

#include "checks/all.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "disk.space";
// One initramfs of a distribution kernel with firmware is about this large.
constexpr std::uint64_t kBootBytes = 100'000'000;
// Room for logs, reports and a package upgrade.
constexpr std::uint64_t kSystemBytes = 1ULL << 30;
// /tmp is often a small tmpfs; compilers of kernels need some room there.
constexpr std::uint64_t kTmpBytes = 100'000'000;

std::string mb(std::uint64_t bytes) {
    return std::to_string(bytes / 1'000'000) + " MB";
}

/// /var on the root file system is the same room again, not a second finding.
bool same_as_root(const Snapshot& snapshot, const Filesystem& filesystem) {
    if (filesystem.path == "/") return false;
    return std::any_of(
        snapshot.host.filesystems.begin(), snapshot.host.filesystems.end(), [&](const Filesystem& other) {
            return other.path == "/" && other.total_bytes.known() && filesystem.total_bytes.known() &&
                   *other.total_bytes == *filesystem.total_bytes && other.free_bytes.known() &&
                   filesystem.free_bytes.known() && *other.free_bytes == *filesystem.free_bytes;
        });
}

Finding judge_filesystem(const Snapshot& snapshot, const Filesystem& filesystem) {
    const bool boot = filesystem.path == "/boot";
    const std::uint64_t floor = boot ? kBootBytes : filesystem.path == "/tmp" ? kTmpBytes : kSystemBytes;
    const std::string expected = "at least " + mb(floor) + " free";
    const Fact<std::uint64_t>& free = filesystem.free_bytes;
    if (boot && snapshot.host.in_container()) {
        return finding(kId, Verdict::not_applicable, filesystem.path, expected, "a container boots no kernel",
                       free.source());
    }
    if (!free.known() || !filesystem.total_bytes.known()) {
        const Fact<std::uint64_t>& missing = free.known() ? filesystem.total_bytes : free;
        return finding("disk.unread", Verdict::unknown, filesystem.path, expected, missing.why(),
                       missing.source());
    }
    if (*filesystem.total_bytes == 0 || *free > *filesystem.total_bytes) {
        return finding("disk.unread", Verdict::unknown, filesystem.path, expected,
                       mb(*free) + " of " + mb(*filesystem.total_bytes), free.source());
    }
    const std::string observed = mb(*free) + " of " + mb(*filesystem.total_bytes) + " free";
    if (*free >= floor)
        return finding(kId, Verdict::pass, filesystem.path, expected, observed, free.source());
    return boot ? finding("disk.boot.full", Verdict::fail, filesystem.path, expected, observed, free.source())
                : finding("disk.low", Verdict::warn, filesystem.path, expected, observed, free.source());
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Filesystem& filesystem : snapshot.host.filesystems) {
        if (filesystem.path != "/boot" && same_as_root(snapshot, filesystem)) continue;
        findings.push_back(judge_filesystem(snapshot, filesystem));
    }
    if (findings.empty()) {
        findings.push_back(finding("disk.unread", Verdict::unknown, {}, "free space of /, /boot and /var",
                                   "not looked at", "statvfs"));
    }
}

}  // namespace

const Check kDiskCheck{.id = kId,
                       .title = "Free disk space",
                       .impact = Impact::passive,
                       .required_from = Profile::acceptance,
                       .applies = nullptr,
                       .judge = judge};

}  // namespace gpucheck
