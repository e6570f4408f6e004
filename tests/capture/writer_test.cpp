// A capture is complete under its name or not there at all, and never overwrites.
#include "agent/capture/writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/capture/captured_machine.h"

namespace gpucheck::capture {
namespace {

using host::Sysroot;
using host::TempMachine;

void read_one(const Sysroot& root) {
    root.read("/etc/x");
}

std::string capture_to(const std::string& folder,
                       const std::function<void(const Sysroot&)>& collect = read_one) {
    TempMachine machine;
    machine.file("/etc/x", std::string(200000, 'x'));
    Sysroot source = machine.open();
    const auto result = capture(source, folder, [&](const Sysroot& root) {
        root.read("/etc/x", host::kLargeFile);
        collect(root);
    });
    const auto* error = std::get_if<std::string>(&result);
    return error != nullptr ? *error : "";
}

bool contains(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

TEST(Writer, NewAndEmptyFoldersAreFilled) {
    TempMachine place;
    const std::string fresh = (place.path() / "fresh").string(), empty = (place.path() / "empty").string();
    std::filesystem::create_directory(empty);
    EXPECT_EQ(capture_to(fresh + "/"), "");
    EXPECT_EQ(capture_to(empty), "");
    EXPECT_TRUE(std::filesystem::exists(fresh + "/sysroot/etc/x"));
    EXPECT_TRUE(std::filesystem::exists(empty + "/README.md"));
    EXPECT_FALSE(std::filesystem::exists(fresh + ".partial"));
}

TEST(Writer, NothingIsOverwritten) {
    TempMachine place;
    place.beside("file", "mine").beside("note", "mine");
    std::filesystem::create_directory(place.path() / "full");
    std::ofstream(place.path() / "full" / "keep") << "mine";
    std::filesystem::create_symlink("nowhere", place.path() / "dangling");
    EXPECT_TRUE(contains(capture_to((place.path() / "full").string()),
                         "is not empty, and a capture never overwrites"));
    EXPECT_TRUE(contains(capture_to((place.path() / "file").string()), "exists and is no folder"));
    EXPECT_TRUE(contains(capture_to((place.path() / "dangling").string()), "is a link that leads nowhere"));
    EXPECT_TRUE(contains(capture_to("/"), "is not empty"));
    EXPECT_NE(capture_to(""), "");
    EXPECT_TRUE(std::filesystem::exists(place.path() / "full" / "keep"));
    std::filesystem::create_directory(place.path() / "x.partial");
    EXPECT_TRUE(contains(capture_to((place.path() / "x").string()), "interrupted capture; remove it first"));
    EXPECT_TRUE(std::filesystem::exists(place.path() / "x.partial"));
}

TEST(Writer, ImpossiblePlacesAreSaid) {
    TempMachine place;
    place.beside("file", "x");
    EXPECT_TRUE(contains(capture_to((place.path() / "none" / "deep").string()), "No such file or directory"));
    EXPECT_TRUE(contains(capture_to((place.path() / "file" / "deep").string()), "Not a directory"));
    EXPECT_NE(capture_to("/proc/gpucheck-capture"), "");
    EXPECT_NE(capture_to("/sys/gpucheck-capture"), "");
}

TEST(Writer, SomebodyElsesFileAtTheLastMomentIsKept) {
    TempMachine place;
    const std::string folder = (place.path() / "race").string();
    const std::string error = capture_to(folder, [&](const Sysroot&) {
        std::filesystem::create_directory(folder);
        std::ofstream(folder + "/theirs") << "x";
    });
    EXPECT_TRUE(contains(error, "is not empty any more")) << error;
    EXPECT_TRUE(std::filesystem::exists(folder + "/theirs"));
    EXPECT_FALSE(std::filesystem::exists(folder + ".partial"));
}

// In a child of its own: limits and mounts must not reach the other tests. Exit status 0: as expected.
int in_child(const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(Writer, AWriteThatFailsLeavesNothing) {
    TempMachine place;
    const std::string folder = (place.path() / "limited").string();
    EXPECT_EQ(in_child([&] {
                  TempMachine machine;
                  machine.file("/etc/x", std::string(200000, 'x'));
                  Sysroot source = machine.open();
                  ::signal(SIGXFSZ, SIG_IGN);
                  const rlimit limit{1000, 1000};
                  ::setrlimit(RLIMIT_FSIZE, &limit);
                  const auto result = capture(
                      source, folder, [](const Sysroot& root) { root.read("/etc/x", host::kLargeFile); });
                  const auto* error = std::get_if<std::string>(&result);
                  return error != nullptr && contains(*error, "File too large") ? 0 : 1;
              }),
              0);
    EXPECT_FALSE(std::filesystem::exists(folder));
    EXPECT_FALSE(std::filesystem::exists(folder + ".partial"));
}

TEST(Writer, AFullDiskIsSaid) {
    TempMachine place;
    const std::string disk = (place.path() / "disk").string();
    std::filesystem::create_directory(disk);
    constexpr int kNotPermitted = 77;
    const int status = in_child([&] {
        if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
            return kNotPermitted;
        if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0) return kNotPermitted;
        const std::string full = capture_to(disk + "/x");
        if (!contains(full, "No space left on device") || std::filesystem::exists(disk + "/x.partial"))
            return 1;
        if (::mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) != 0)
            return kNotPermitted;
        return contains(capture_to(disk + "/x"), "Read-only file system") ? 0 : 2;
    });
    if (status == kNotPermitted) GTEST_SKIP() << "mounts are not permitted here";
    EXPECT_EQ(status, 0);
}

TEST(Writer, AKilledCaptureLeavesNoFolder) {
    TempMachine place;
    const std::string folder = (place.path() / "killed").string();
    EXPECT_EQ(in_child([&] {
                  capture_to(folder, [](const Sysroot&) { ::raise(SIGKILL); });
                  return 0;
              }),
              128 + SIGKILL);
    EXPECT_FALSE(std::filesystem::exists(folder));
    EXPECT_TRUE(std::filesystem::exists(folder + ".partial"));
}

}  // namespace
}  // namespace gpucheck::capture
