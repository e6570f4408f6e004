// A captured machine must be judged as the machine was: what is there, what is absent, what failed, and what
// nobody looked at.
#include "agent/capture/capture.h"

#include <sys/stat.h>

#include "agent/host/system.h"
#include "tests/capture/captured_machine.h"
#include "tests/source_dir.h"

namespace gpucheck::capture {
namespace {

using host::Sysroot;
using host::TempMachine;

void read_host(const Sysroot& root) {
    Host host;
    host::read_system(root, host);
}

Host host_of(const Sysroot& root) {
    Host host;
    host::read_system(root, host);
    return host;
}

std::string example(const char* name) {
    return std::string(GPUCHECK_SHARED_DIR) + "/examples/" + name;
}

TEST(Capture, ExampleMachinesAreJudgedTheSame) {
    for (const char* name : {"machine-h100-sxm-x8", "machine-mi300x-vf"}) {
        if (!std::filesystem::exists(example(name))) GTEST_SKIP() << "no example machines here";
        const Captured captured(std::get<Sysroot>(Sysroot::recorded(example(name))), read_host);
        ASSERT_EQ(captured.error, "");
        Host before = host_of(std::get<Sysroot>(Sysroot::recorded(example(name))));
        Host after = host_of(captured.open());
        EXPECT_EQ(after.hostname.value(), "host-1");
        EXPECT_NE(after.boot_id, before.boot_id);
        EXPECT_NE(after.dmi.product_serial, before.dmi.product_serial);
        EXPECT_EQ(after.dmi.product_serial->size(),
                  after.dmi.product_serial->starts_with("9") ? before.dmi.product_serial->size() : 12U);
        for (Host* host : {&before, &after})
            host->hostname = host->boot_id = host->dmi.product_serial = Missing{};
        EXPECT_EQ(before, after) << name;
    }
}

TEST(Capture, EveryAnswerOfTheExampleMachinesIsTheSame) {
    for (const char* name : {"machine-h100-sxm-x8", "machine-mi300x-vf"}) {
        if (!std::filesystem::exists(example(name))) GTEST_SKIP() << "no example machines here";
        const auto collect = [](const Sysroot& root) {
            ask_for_all(root, "/");
            root.list("/dev");
            ask_for_all(root, "/dev/dri");
        };
        const Captured captured(std::get<Sysroot>(Sysroot::recorded(example(name))), collect);
        ASSERT_EQ(captured.error, "");
        std::string before, after;
        ask_for_all(std::get<Sysroot>(Sysroot::recorded(example(name))), "/", &before);
        ask_for_all(captured.open(), "/", &after);
        EXPECT_EQ(before, after) << name;
        EXPECT_GT(captured.summary.files, 100U);
    }
}

TEST(Capture, ACaptureOfACaptureAgrees) {
    TempMachine machine;
    machine.file("/etc/hostname", "gpu-7\n")
        .file("/sys/devices/x/value", "1\n")
        .link("/sys/bus/x", "../devices/x");
    const auto collect = [](const Sysroot& root) {
        read_host(root);
        ask_for_all(root, "/sys");
    };
    const Captured first(machine.open(), collect);
    const Captured second(first.open(), collect);
    ASSERT_EQ(second.error, "");
    EXPECT_EQ(host_of(first.open()), host_of(second.open()));
    EXPECT_EQ(first.beside("captured.txt"), second.beside("captured.txt"));
    EXPECT_EQ(first.beside("nodes.json"), second.beside("nodes.json"));
}

TEST(Capture, AbsentFailedAndNeverAskedStayApart) {
    TempMachine machine;
    machine.file("/sys/a/read", "1\n")
        .file("/sys/a/listed", "2\n")
        .file("/sys/a/sized", "12345")
        .folder("/sys/a/sub/deep");
    machine.file("/sys/b/value", "3\n")
        .file("/sys/b/other", "4\n")
        .link("/sys/l", "a")
        .beside("nodes.json", R"([
        {"path":"/sys/a/broken","type":"file","mode":"0444","open":"ok","read":"EIO"},
        {"path":"/sys/a/denied","type":"file","mode":"0400","open":"EACCES"},
        {"path":"/sys/locked","type":"dir","mode":"0700","open":"EACCES"}])");
    const auto collect = [](const Sysroot& root) {
        root.list("/sys/l");
        for (const char* path : {"/sys/a/read", "/sys/a/broken", "/sys/a/denied", "/sys/a/absent",
                                 "/sys/b/value", "/sys/locked/x", "/sys/none/deep/er", "/dangling"}) {
            root.read(path);
        }
        root.file_size("/sys/l/sized");
        root.list("/sys/nofolder");
    };
    const Captured captured(machine.open(), collect);
    ASSERT_EQ(captured.error, "");
    const Sysroot root = captured.open();
    EXPECT_EQ(root.read("/sys/l/read").value(), "1\n");
    EXPECT_EQ(root.read("/sys/a/broken").why(), "EIO");
    EXPECT_EQ(root.read("/sys/a/denied").why(), "EACCES");
    EXPECT_EQ(root.read("/sys/locked/x").why(), "EACCES");
    EXPECT_TRUE(root.read("/sys/a/absent").absent());
    EXPECT_TRUE(root.read("/sys/a/never_asked_but_listed").absent());
    EXPECT_EQ(root.list("/sys/a").value(),
              (std::vector<std::string>{"broken", "denied", "listed", "read", "sized", "sub"}));
    EXPECT_EQ(root.read("/sys/a/listed").why(), "not captured");  // not "": nobody read it
    EXPECT_EQ(root.file_size("/sys/a/sized").value(), 5U);
    EXPECT_EQ(root.exists("/sys/a/sub").value(), true);
    EXPECT_EQ(root.list("/sys/a/sub").why(), "not captured");
    EXPECT_EQ(root.list("/sys/b").why(), "not captured");  // not {"value"}: half a listing is a lie
    EXPECT_EQ(root.list("/sys").why(), "not captured");
    EXPECT_EQ(root.read("/sys/b/other").why(), "not captured");
    EXPECT_TRUE(root.exists("/sys/none").is(false));
    EXPECT_TRUE(root.read("/sys/none/what/ever").absent());
    EXPECT_TRUE(root.list("/sys/nofolder").absent());
    EXPECT_EQ(root.link_target("/sys/l").value(), "a");
}

TEST(Capture, ADanglingLinkStaysOne) {
    TempMachine machine;
    machine.link("/sys/x/driver", "../bus/none").link("/sys/x/loop", "loop");
    const auto collect = [](const Sysroot& root) {
        root.link_name("/sys/x/driver");
        root.read("/sys/x/driver");
        root.read("/sys/x/loop");
    };
    const Captured captured(machine.open(), collect);
    const Sysroot root = captured.open();
    EXPECT_EQ(root.link_name("/sys/x/driver").value(), "none");
    EXPECT_TRUE(root.read("/sys/x/driver").absent());
    EXPECT_EQ(root.read("/sys/x/loop").why(), "ELOOP");
}

TEST(Capture, LinksOfALiveMachineBecomeRelative) {
    EXPECT_EQ(relative_target("/etc/alternatives/x", "/usr/bin/y"), "../../usr/bin/y");
    EXPECT_EQ(relative_target("/lib", "usr/lib"), "usr/lib");
    EXPECT_EQ(relative_target("/run/x", "/"), "..");
    EXPECT_EQ(relative_target("/x", "/"), ".");
    EXPECT_EQ(relative_target("/a/b/c", "../../../../etc/x"), "../../etc/x");  // ".." stops at the root
    EXPECT_EQ(relative_target("/a/b/c", "../../d/../e"), "../../d/../e");
    EXPECT_EQ(relative_target("/a/b", "/c/./d/../e"), "../c/e");
    EXPECT_EQ(relative_target("/proc/7/fd/3", "pipe:[123]"), "pipe:[123]");
}

TEST(Capture, DeviceNodesAreAskedThroughTheProbe) {
    TempMachine machine;
    machine.beside("nodes.json", R"([
        {"path":"/dev/kfd","type":"char","major":236,"minor":0,"mode":"0660","uid":0,"gid":109,"open":"ok"},
        {"path":"/dev/watchdog","type":"char","major":10,"minor":130,"mode":"0600","uid":0,"gid":0,"open":"ok"}])");
    std::vector<std::string> probed;
    Options options;
    options.probe = [&](const std::vector<std::string>& paths) {
        probed = paths;
        return std::vector<Fact<std::string>>(paths.size(), Fact<std::string>("EPERM", "test"));
    };
    const auto collect = [](const Sysroot& root) {
        root.list("/dev");
        root.stat("/dev/watchdog");
        root.report_access(host::AccessKind::open, "/dev/kfd");
    };
    const Captured captured(machine.open(), collect, options);
    EXPECT_EQ(probed,
              std::vector<std::string>{"/dev/kfd"});  // what nobody opened is not opened to write it down
    const Sysroot root = captured.open();
    EXPECT_EQ(root.try_open("/dev/kfd").value(), "EPERM");
    EXPECT_EQ(root.stat("/dev/kfd")->gid, 109U);
    EXPECT_EQ(root.try_open("/dev/watchdog").why(), "not captured");
    EXPECT_EQ(root.list("/dev").value(), (std::vector<std::string>{"kfd", "watchdog"}));
}

TEST(Capture, TheLiveMachine) {
    const auto collect = [](const Sysroot& root) {
        read_host(root);
        root.list("/sys/bus/pci/devices");
        root.read("/proc/self/status");
        root.stat("/dev/null");
        root.try_open("/dev/null");
    };
    const Captured captured(Sysroot::live(), collect);
    ASSERT_EQ(captured.error, "");
    const Sysroot live = Sysroot::live(), root = captured.open();
    EXPECT_EQ(root.list("/sys/bus/pci/devices").known(), live.list("/sys/bus/pci/devices").known());
    EXPECT_EQ(root.try_open("/dev/null").value(), "ok");
    EXPECT_EQ(root.stat("/dev/null")->minor, 3U);
    EXPECT_TRUE(root.read("/proc/self/status").known());
    const Host before = host_of(live), after = host_of(root);
    EXPECT_EQ(before.kernel_release, after.kernel_release);
    EXPECT_EQ(before.os_id, after.os_id);
    EXPECT_EQ(before.hypervisor, after.hypervisor);
    EXPECT_EQ(before.container, after.container);
    EXPECT_EQ(before.secure_boot, after.secure_boot);
    EXPECT_EQ(before.cpus_online, after.cpus_online);
    EXPECT_EQ(before.filesystems.size(), after.filesystems.size());
    EXPECT_EQ(before.time_synchronized.known(), after.time_synchronized.known());
    struct stat status {};
    ASSERT_EQ(::stat(captured.folder().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0700U);
}

TEST(Capture, FilesBesideAreRedactedToo) {
    TempMachine machine;
    machine.file("/etc/hostname", "gpu-7\n");
    Options options;
    options.beside = {
        {"kernel.log", "Nov 30 10:00:00 gpu-7 kernel: NVRM: Xid (PCI:0000:83:00): 79, pid=7\n"},
        {"metadata.json",
         R"({"GET http://169.254.169.254/x":{"status":200,"body":"{\"auth_key\":\"abc\",\"ip\":\"10.1.2.3\"}"}})"}};
    const Captured captured(machine.open(), read_host, options);
    EXPECT_EQ(captured.beside("kernel.log"),
              "Nov 30 10:00:00 host-1 kernel: NVRM: Xid (PCI:0000:83:00): 79, pid=7\n");
    EXPECT_EQ(captured.beside("metadata.json").find("10.1.2.3"), std::string::npos);
    EXPECT_EQ(captured.beside("metadata.json").find("abc"), std::string::npos);
    EXPECT_NE(captured.beside("metadata.json").find("http://169.254.169.254/x"), std::string::npos);
    options.beside = {{"../escape", "x"}};
    EXPECT_NE(Captured(machine.open(), read_host, options).error, "");
}

}  // namespace
}  // namespace gpucheck::capture
