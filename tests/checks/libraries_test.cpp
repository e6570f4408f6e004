// Libraries against the module: prefixes are equal, stubs and empty files are not libraries.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

constexpr const char* kCuda = "/usr/lib/x86_64-linux-gnu/libcuda.so.570.133.20";

Library cuda(const char* path, const char* version) {
    Library library = healthy_h100_x8().host.libraries[0];
    library.path = path;
    library.version = fact(version);
    return library;
}

std::string says(const char* code, const char* path, const char* verdict) {
    return std::string(code) + " " + path + " " + verdict;
}

TEST(LibraryMatch, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kLibraryCheck, healthy_h100_x8()), "");
    EXPECT_EQ(said(kLibraryCheck, healthy_mi300x_vf()), "");
}

TEST(LibraryMatch, AnotherVersionFailsATruncatedOneDoesNot) {
    Snapshot machine = healthy_h100_x8();
    machine.host.nvidia.version = fact("570.195.03");
    machine.host.libraries = {cuda("/a", "570.195"), cuda("/b", "570.19")};
    machine.host.libraries[1].soname = "libnvidia-ml.so.1";
    EXPECT_EQ(said(kLibraryCheck, machine), says("driver.library.mismatch", "/b", "fail"));
    machine.host.nvidia.version = fact("570.172.08");
    EXPECT_EQ(said(kLibraryCheck, machine), says("driver.library.mismatch", "/a", "fail") + "\n" +
                                                says("driver.library.mismatch", "/b", "fail"));
}

TEST(LibraryMatch, OnlyTheFirstInSearchOrderCounts) {
    Snapshot machine = healthy_h100_x8();
    machine.host.libraries.push_back(cuda("/old/libcuda.so.1", "470.1"));
    machine.host.libraries.push_back(cuda("/empty/libcuda.so.1", "570.133.20"));
    machine.host.libraries.back().size_bytes = fact(std::uint64_t{0});
    Library runtime = cuda("/usr/local/cuda/libcudart.so.12", "12.4");
    runtime.soname = "libcudart.so.12";
    machine.host.libraries.insert(machine.host.libraries.begin(), runtime);
    EXPECT_EQ(said(kLibraryCheck, machine), "");
}

TEST(LibraryMatch, AStubInFrontFailsBehindItDoesNot) {
    Library stub = cuda("/usr/local/cuda/lib64/stubs/libcuda.so", "12.4");
    stub.stub = true;
    stub.found_by = "LD_LIBRARY_PATH";
    Snapshot machine = healthy_h100_x8();
    machine.host.libraries.push_back(stub);
    EXPECT_EQ(said(kLibraryCheck, machine), "");
    machine.host.libraries.insert(machine.host.libraries.begin(), stub);
    EXPECT_EQ(said(kLibraryCheck, machine), says("library.stub", stub.path.c_str(), "fail"));
}

TEST(LibraryMatch, CompatLibrariesMayBeNewerNeverOlder) {
    Library compat = cuda("/usr/local/cuda/compat/libcuda.so.1", "560.35.05");
    compat.compat = true;
    Snapshot machine = healthy_h100_x8();
    machine.host.libraries.insert(machine.host.libraries.begin(), compat);
    EXPECT_EQ(said(kLibraryCheck, machine), says("library.compat", compat.path.c_str(), "fail"));
    machine.host.libraries[0].version = fact("580.65.06");
    EXPECT_EQ(said(kLibraryCheck, machine), says("library.compat", compat.path.c_str(), "warn"));
    machine.host.libraries[0].version = fact("570.133.20");
    EXPECT_EQ(said(kLibraryCheck, machine), "");
}

TEST(LibraryMatch, EmptyFilesFailForBothVendors) {
    Snapshot machine = healthy_h100_x8();
    machine.host.libraries[0].size_bytes = fact(std::uint64_t{0});
    EXPECT_EQ(said(kLibraryCheck, machine), says("library.empty", kCuda, "fail"));
    machine.host.libraries[0].size_bytes = fact(std::uint64_t{40});  // small is not empty
    EXPECT_EQ(said(kLibraryCheck, machine), "");
    Snapshot amd = healthy_mi300x_vf();
    amd.host.libraries[0].size_bytes = fact(std::uint64_t{0});
    EXPECT_EQ(said(kLibraryCheck, amd), says("library.empty", amd.host.libraries[0].path.c_str(), "fail"));
}

TEST(LibraryMatch, AbsentLibrariesWarnOnlyUnderADriver) {
    Snapshot machine = healthy_h100_x8();
    machine.host.libraries.clear();
    EXPECT_EQ(said(kLibraryCheck, machine), "library.absent host warn");
    for (Device& gpu : machine.gpus) gpu.pci.driver = fact("vfio-pci");
    EXPECT_EQ(said(kLibraryCheck, machine), "");
    Snapshot amd = healthy_mi300x_vf();
    amd.host.libraries.clear();
    EXPECT_EQ(said(kLibraryCheck, amd), "");
}

TEST(LibraryMatch, UnreadVersionsAreUnknown) {
    Snapshot machine = healthy_h100_x8();
    machine.host.libraries[0].version = Missing{"readlink", "EACCES"};
    EXPECT_EQ(said(kLibraryCheck, machine), says("library.unread", kCuda, "unknown"));
    machine = healthy_h100_x8();
    machine.host.libraries.pop_back();
    machine.host.libraries.push_back(cuda("/nvml", "570.133.20"));
    machine.host.nvidia.version = Missing{"/proc/driver/nvidia/version", "EIO"};
    machine.host.modules.clear();
    EXPECT_NE(said(kLibraryCheck, machine).find(says("library.unread", kCuda, "unknown")), std::string::npos);
}

}  // namespace
}  // namespace gpucheck
