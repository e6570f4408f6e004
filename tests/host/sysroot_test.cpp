// The root descriptor: what it reads, what it refuses, and that nothing leads out of it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "agent/host/confined.h"
#include "tests/host/temp_machine.h"

namespace gpucheck::host {
namespace {

TEST(Sysroot, ReadsAndTellsWhyNot) {
    TempMachine machine;
    machine.file("/sys/a/value", "0x10de\n")
        .file("/sys/a/empty", "")
        .file("/sys/a/binary", std::string("\0\1\2", 3));
    const Sysroot root = machine.open();
    EXPECT_EQ(root.read_hex16("/sys/a/value").value(), 0x10de);
    EXPECT_EQ(root.read_line("/sys/a/empty").why(), "empty");
    EXPECT_EQ(root.read_line("/sys/a/binary").why(), "malformed: not text");
    EXPECT_EQ(root.read("/sys/a/none").why(), "ENOENT");
    EXPECT_EQ(root.read("/sys/a/value/below").why(), "ENOENT");
    EXPECT_EQ(root.read("/sys/a").why(), "EISDIR");
    EXPECT_EQ(root.read("/sys/a/value", 3).why(), "larger than 3 bytes");
    EXPECT_EQ(root.read_prefix("/sys/a/value", 3).value(), "0x1");
    EXPECT_EQ(root.read_prefix("/sys/a/value", 4096).value(), "0x10de\n");
    EXPECT_EQ(root.read_prefix("/sys/a/none", 3).why(), "ENOENT");
}

TEST(Sysroot, LinksNeverLeaveTheRoot) {
    TempMachine machine;
    machine.file("/sys/devices/x/value", "1\n")
        .link("/sys/bus/x", "../devices/x")
        .link("/sys/escape", "../../../../../../../../etc/hostname")
        .link("/sys/absolute", "/etc/hostname")
        .link("/sys/loop", "loop");
    const Sysroot root = machine.open();
    EXPECT_EQ(root.read_u64("/sys/bus/x/value").value(), 1U);
    EXPECT_EQ(root.real_path("/sys/bus/x/value").value(), "/sys/devices/x/value");
    EXPECT_EQ(root.read("/sys/escape").why(), "EXDEV");
    EXPECT_EQ(root.read("/sys/absolute").why(), "EXDEV");
    EXPECT_EQ(root.read("/sys/loop").why(), "ELOOP");
    EXPECT_EQ(root.link_name("/sys/bus/x").value(), "x");
}

TEST(Sysroot, LinksLaidDownAsTextFilesAreLinks) {
    TempMachine machine;
    machine.file("/sys/devices/x/value", "1\n")
        .file("/sys/devices/x/driver", "../../bus/drivers/amdgpu")  // its target need not exist
        .file("/sys/bus/x", "../devices/x")
        .file("/opt/rocm", "rocm-6.3.2")
        .file("/opt/rocm-6.3.2/version", "6.3.2\n")
        .file("/opt/word", "hello")  // no neighbour of that name: a file without a newline
        .file("/opt/newline", "rocm\n")
        .file("/opt/out", "../../../../etc/hostname")
        .file("/opt/loop", "loop");
    const Sysroot root = machine.open();
    EXPECT_EQ(root.read_u64("/sys/bus/x/value").value(), 1U);
    EXPECT_EQ(root.real_path("/sys/bus/x").value(), "/sys/devices/x");
    EXPECT_EQ(root.link_name("/sys/bus/x/driver").value(), "amdgpu");
    EXPECT_EQ(root.read_line("/opt/rocm/version").value(), "6.3.2");
    EXPECT_TRUE(root.list("/opt/rocm").known());
    EXPECT_EQ(root.read_line("/opt/word").value(), "hello");
    EXPECT_EQ(root.link_target("/opt/word").why(), "EINVAL");
    EXPECT_EQ(root.read_line("/opt/newline").value(), "rocm");
    EXPECT_EQ(root.read("/opt/out").why(), "EXDEV");
    EXPECT_EQ(root.read("/opt/loop").why(), "ELOOP");
}

TEST(Sysroot, TheWalkAgreesWithOpenat2) {
    TempMachine machine;
    machine.file("/sys/devices/x/value", "1\n")
        .link("/sys/bus/x", "../devices/x")
        .link("/sys/out", "../../..");
    const Descriptor root(::open((machine.path() / "sysroot").c_str(), O_PATH | O_DIRECTORY));
    for (const char* path :
         {"/sys/bus/x/value", "/sys/bus/x/../x/value", "/sys/out", "/sys/nothing", "/", "/sys/bus/x/.."}) {
        int by_kernel = 0, by_walk = 0;
        const bool kernel =
            open_confined(root.get(), path, O_RDONLY, Confinement::beneath, by_kernel).valid();
        const bool walk =
            walk_confined(root.get(), path, O_RDONLY, Confinement::beneath, by_walk, nullptr).valid();
        EXPECT_EQ(kernel, walk) << path;
        EXPECT_EQ(by_kernel, by_walk) << path;
    }
}

// What a kept folder answers the third time must be what a search from the root answers.
TEST(Sysroot, KeptFoldersAgreeWithASearch) {
    TempMachine machine;
    machine.file("/sys/devices/x/value", "1\n")
        .file("/sys/devices/x/word", "value")  // a link laid down as text
        .file("/sys/devices/x/binary", std::string("a\0b", 3))
        .folder("/sys/devices/x/power")
        .link("/sys/devices/x/same", "value")
        .link("/sys/devices/x/folder", "power")
        .link("/sys/devices/x/out", "../../../../../etc/hostname")
        .link("/sys/devices/x/loop", "loop")
        .link("/sys/bus/x", "../devices/x");
    const Descriptor root(::open((machine.path() / "sysroot").c_str(), O_PATH | O_DIRECTORY));
    for (const Confinement confinement : {Confinement::beneath, Confinement::beneath_with_text_links}) {
        RecordedFolders folders;
        for (const char* folder :
             {"/sys/devices/x/", "/sys/bus/x/", "/sys/nothing/", "/sys/devices/x/value/", "/"}) {
            for (const char* name :
                 {"value", "word", "binary", "power", "same", "folder", "out", "loop", "none", "..", "."}) {
                for (const int flags :
                     {O_RDONLY, O_PATH, O_PATH | O_DIRECTORY, O_RDONLY | O_DIRECTORY, O_PATH | O_NOFOLLOW}) {
                    const std::string path = std::string(folder) + name;
                    struct stat expected {
                    }, kept{};
                    int by_search = 0, by_folder = 0;
                    const Descriptor a = open_confined(root.get(), path, flags, confinement, by_search);
                    if (a.valid()) {
                        ASSERT_EQ(::fstat(a.get(), &expected), 0);
                    }
                    for (int i = 0; i < 3; ++i) {
                        const Descriptor b = folders.open(root.get(), path, flags, confinement, by_folder);
                        EXPECT_EQ(a.valid(), b.valid()) << path << " " << flags;
                        EXPECT_EQ(by_search, by_folder) << path << " " << flags;
                        if (b.valid()) {
                            ASSERT_EQ(::fstat(b.get(), &kept), 0);
                        }
                        EXPECT_EQ(expected.st_ino, kept.st_ino) << path << " " << flags;
                    }
                }
            }
        }
    }
}

TEST(Sysroot, FifosAndDevicesAreRefusedAtOnce) {
    TempMachine machine;
    machine.folder("/sys");
    ASSERT_EQ(::mkfifo(machine.at("/sys/fifo").c_str(), 0600), 0);
    EXPECT_EQ(machine.open().read("/sys/fifo").why(), "not a regular file");
}

TEST(Sysroot, SizesAreThoseOfTheFileBehindTheLink) {
    TempMachine machine;
    machine.file("/usr/lib/libx.so.1.2", "12345")
        .link("/usr/lib/libx.so.1", "libx.so.1.2")
        .file("/usr/lib/empty", "");
    const Sysroot root = machine.open();
    EXPECT_EQ(root.file_size("/usr/lib/libx.so.1").value(), 5U);
    EXPECT_EQ(root.file_size("/usr/lib/empty").value(), 0U);
    EXPECT_EQ(root.file_size("/usr/lib").why(), "not a regular file");
    EXPECT_TRUE(root.file_size("/usr/lib/none").absent());
}

TEST(Sysroot, NodesJsonIsFoundBehindLinks) {
    TempMachine machine;
    machine.file("/sys/devices/x/value", "7\n").link("/sys/bus/x", "../devices/x").beside("nodes.json", R"([
        {"path":"/sys/devices/x/value","type":"file","mode":"0444","uid":0,"gid":0,"open":"EACCES"}])");
    EXPECT_EQ(machine.open().read("/sys/bus/x/value").why(), "EACCES");
}

TEST(Sysroot, NodesJsonWins) {
    TempMachine machine;
    machine.file("/sys/x", "7\n").folder("/dev/dri").beside("nodes.json", R"([
        {"path":"/dev/kfd","type":"char","major":236,"minor":0,"mode":"0660","uid":0,"gid":109},
        {"path":"/dev/dri/renderD128","type":"char","major":226,"minor":128,"mode":"0660","uid":0,"gid":109,"open":"EPERM"},
        {"path":"/sys/x","type":"file","mode":"0444","uid":0,"gid":0,"open":"ok","read":"EINVAL"}])");
    machine.beside("process.json", R"({"uid":1000,"gids":[1000,109],"env":{}})");
    const Sysroot root = machine.open();
    EXPECT_EQ(root.try_open("/dev/kfd").value(), "ok");  // a member of group 109
    EXPECT_EQ(root.try_open("/dev/dri/renderD128").value(), "EPERM");
    EXPECT_EQ(root.stat("/dev/kfd")->major, 236U);
    EXPECT_EQ(root.read("/sys/x").why(), "EINVAL");
    EXPECT_EQ(root.list("/dev").value(), (std::vector<std::string>{"dri", "kfd"}));
    EXPECT_EQ(root.list("/dev/dri").value(), (std::vector<std::string>{"renderD128"}));
    machine.beside("process.json", R"({"uid":1000,"gids":[1000],"env":{}})");
    EXPECT_EQ(machine.open().try_open("/dev/kfd").value(), "EACCES");
}

TEST(Sysroot, WhatWasNotCapturedIsNotAbsent) {
    TempMachine machine;
    machine.file("/sys/a/b", "1\n").beside("captured.txt", "# tried\n/sys/a/*\n/sys/c/**/d\n");
    const Sysroot root = machine.open();
    EXPECT_EQ(root.read("/sys/a/x").why(), "ENOENT");
    EXPECT_EQ(root.read("/sys/z").why(), "not captured");
    EXPECT_EQ(root.read("/sys/c/1/2/d").why(), "ENOENT");
    EXPECT_TRUE(root.list("/sys/a").known());
    EXPECT_FALSE(root.exists("/sys/z").known());
}

TEST(Sysroot, RefusedPathsAreNotTouched) {
    TempMachine machine;
    machine.file("/sys/gpu/slow/value", "1\n").file("/sys/gpu/slower", "2\n");
    Sysroot root = machine.open();
    root.refuse({"/sys/gpu/slow"});
    EXPECT_EQ(root.read("/sys/gpu/slow/value").why(), "did not return");
    EXPECT_EQ(root.try_open("/sys/gpu/slow").why(), "did not return");
    EXPECT_EQ(root.read_line("/sys/gpu/slower").value(), "2");  // only whole components count
}

TEST(Sysroot, CapturedPatternsMayNameTheLinkOrTheRealPath) {
    TempMachine machine;
    machine.file("/sys/devices/pci0000:00/0000:00:01.0/class", "0x060400\n")
        .link("/sys/bus/pci/devices/0000:00:01.0", "../../../devices/pci0000:00/0000:00:01.0")
        .beside("captured.txt",
                "/sys/bus/pci/devices\n/sys/devices/*/*/vendor\n"
                "/sys/devices/*/*/power/status\n/sys/bus/pci/devices/*/device\n");
    const Sysroot root = machine.open();
    EXPECT_EQ(root.read("/sys/bus/pci/devices/0000:00:01.0/vendor").why(), "ENOENT");
    EXPECT_EQ(root.read("/sys/bus/pci/devices/0000:00:01.0/power/status").why(), "ENOENT");
    EXPECT_EQ(root.read("/sys/bus/pci/devices/0000:00:01.0/device").why(), "ENOENT");
    EXPECT_EQ(root.read("/sys/bus/pci/devices/0000:00:01.0/revision").why(), "not captured");
    EXPECT_TRUE(root.list("/sys/bus/pci/devices/0000:00:01.0").known());  // something below it was tried
    EXPECT_EQ(root.list("/sys/bus/pci/drivers").why(), "not captured");
}

TEST(Sysroot, WhatIsKnownToExistButWasNotReadSaysSo) {
    TempMachine machine;
    machine.link("/usr/lib/libx.so.1", "libx.so.1.2")
        .link("/dev/char/226:128", "../dri/renderD128")
        .beside("nodes.json", R"([
        {"path":"/usr/lib/libx.so.1.2","type":"file","mode":"0644","open":"ok","read":"not captured","size":77},
        {"path":"/dev/dri/renderD128","type":"char","major":226,"minor":128,"mode":"0660","open":"not captured"}])");
    const Sysroot root = machine.open();
    EXPECT_EQ(root.exists("/usr/lib/libx.so.1").value(), true);
    EXPECT_EQ(root.read("/usr/lib/libx.so.1").why(), "not captured");
    EXPECT_EQ(root.real_path("/usr/lib/libx.so.1").value(), "/usr/lib/libx.so.1.2");
    EXPECT_EQ(root.file_size("/usr/lib/libx.so.1").value(), 77U);
    EXPECT_EQ(root.file_size("/usr/lib/libx.so.1.2").value(), 77U);
    EXPECT_EQ(root.list("/usr/lib").value(), (std::vector<std::string>{"libx.so.1", "libx.so.1.2"}));
    EXPECT_EQ(root.stat("/dev/char/226:128")->minor, 128U);
    EXPECT_EQ(root.try_open("/dev/char/226:128").why(), "not captured");
    EXPECT_TRUE(root.exists("/usr/lib/liby.so").is(false));
}

TEST(Sysroot, FoldersInNodesJson) {
    TempMachine machine;
    machine.file("/sys/module/amdgpu/version", "6\n")
        .link("/sys/bus/m", "../module")
        .beside("nodes.json", R"([
        {"path":"/sys/module","type":"dir","mode":"0755","open":"ok","read":"not captured"},
        {"path":"/sys/empty","type":"dir","mode":"0755","open":"ok"},
        {"path":"/sys/listed/file","type":"file","mode":"0444","open":"ok"},
        {"path":"/root/x","type":"dir","mode":"0700","open":"EACCES"},
        {"path":"/root/y","type":"dir","mode":"0711","open":"ok","read":"EACCES"}])");
    const Sysroot root = machine.open();
    EXPECT_EQ(root.list("/sys/module").why(), "not captured");
    EXPECT_EQ(root.list("/sys/bus/m").why(), "not captured");
    EXPECT_EQ(root.read("/sys/module/amdgpu/version").value(), "6\n");
    EXPECT_TRUE(root.list("/sys/empty").value().empty());
    EXPECT_EQ(root.exists("/sys/empty").value(), true);
    EXPECT_EQ(root.read("/sys/empty").why(), "EISDIR");
    EXPECT_EQ(root.list("/sys").value(), (std::vector<std::string>{"bus", "empty", "listed", "module"}));
    EXPECT_EQ(root.list("/root/x").why(), "EACCES");
    EXPECT_EQ(root.read("/root/x/below").why(), "EACCES");
    EXPECT_EQ(root.exists("/root/x/below/more").why(), "EACCES");
    EXPECT_EQ(root.list("/root/y").why(), "EACCES");
    EXPECT_TRUE(root.read("/root/y/below").absent());
}

TEST(Sysroot, CapturedPatternsAreFastEvenWhenHostile) {
    TempMachine machine;
    std::string lines =
        "/" + std::string("a/**/").append("a/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/b") + "\n";
    for (int i = 0; i < 20000; ++i)
        lines += "/sys/" + std::to_string(i) + "/x\n/sys/" + std::to_string(i) + "/l/*\n";
    machine.beside("captured.txt", lines);
    const Sysroot root = machine.open();
    std::string deep;
    for (int i = 0; i < 60; ++i) deep += "/a";
    EXPECT_EQ(root.read(deep).why(), "not captured");
    for (int i = 0; i < 3000; ++i) ASSERT_TRUE(root.read("/sys/" + std::to_string(i) + "/x").absent());
    EXPECT_TRUE(root.list("/sys/7/l").absent());
    EXPECT_TRUE(root.read("/sys/7/l/any").absent());
    EXPECT_EQ(root.read("/sys/7/l/any/more").why(), "not captured");
    EXPECT_EQ(root.read("/sys/7/y").why(), "not captured");
}

TEST(Sysroot, BadMachineFoldersAreErrors) {
    TempMachine machine;
    EXPECT_TRUE(std::holds_alternative<std::string>(Sysroot::recorded("/nonexistent/machine")));
    for (const char* nodes :
         {"{", "{}", R"([{"path":"dev/kfd"}])", R"([{"path":"/dev/kfd","type":"char","mode":"9"}])",
          R"([{"path":"/dev/kfd","type":"char","mode":"0660","open":"EWHAT"}])"}) {
        machine.beside("nodes.json", nodes);
        EXPECT_TRUE(std::holds_alternative<std::string>(Sysroot::recorded(machine.path().string()))) << nodes;
    }
    machine.beside("nodes.json", std::string(100000, '['));
    EXPECT_TRUE(std::holds_alternative<std::string>(Sysroot::recorded(machine.path().string())));
}

}  // namespace
}  // namespace gpucheck::host
