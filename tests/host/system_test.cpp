// Facts about the machine around the GPUs: what the readers say of whole machines, and of files that are
// absent, cut short or absurd.
#include "agent/host/system.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "agent/host/dmi.h"
#include "agent/host/os.h"
#include "agent/host/resources.h"
#include "agent/host/secure_boot.h"
#include "agent/host/time_sync.h"
#include "tests/host/temp_machine.h"
#include "tests/source_dir.h"

namespace gpucheck::host {
namespace {

Host host_of(const Sysroot& root) {
    Host host;
    read_system(root, host);
    return host;
}

Host host_of(const TempMachine& machine) {
    return host_of(machine.open());
}

std::optional<Host> example(const char* name) {
    const std::string folder = std::string(GPUCHECK_SHARED_DIR) + "/examples/" + name;
    if (!std::filesystem::exists(folder)) return std::nullopt;
    return host_of(std::get<Sysroot>(Sysroot::recorded(folder)));
}

TEST(System, BareMetalExample) {
    const auto host = example("machine-h100-sxm-x8");
    if (!host) GTEST_SKIP() << "no example machines here";
    EXPECT_EQ(host->kernel_release.value(), "6.8.0-55-generic");
    EXPECT_NE(host->kernel_cmdline.value().find("iommu=pt"), std::string::npos);
    EXPECT_EQ(host->os_id.value(), "ubuntu");
    EXPECT_EQ(host->os_version_id.value(), "24.04");
    EXPECT_EQ(host->hostname.value(), "gpu-node-01");
    EXPECT_DOUBLE_EQ(host->uptime_s.value(), 912.40);
    EXPECT_EQ(host->tainted.value(), 12288U);
    EXPECT_EQ(host->numa_balancing.value(), 0);
    EXPECT_EQ(host->secure_boot.value(), false);
    EXPECT_TRUE(host->lockdown.absent());
    EXPECT_EQ(host->dmi.sys_vendor.value(), "Supermicro");
    EXPECT_EQ(host->dmi.product_serial.value(), "SN00000001");
    EXPECT_EQ(host->hypervisor.value(), "none");
    EXPECT_EQ(host->container.value(), "none");
    EXPECT_EQ(host->cpu_model.value(), "Intel(R) Xeon(R) Platinum 8480+");
    EXPECT_EQ(host->memory_total_bytes.value(), std::uint64_t{1} << 41);
    EXPECT_TRUE(host->rocm_version.absent());
    EXPECT_TRUE(host->process.user_namespace.absent());
    EXPECT_EQ(host->process.uid.value(), 0U);
    EXPECT_TRUE(host->process.env.empty());
    EXPECT_FALSE(host->process.now.known());
    EXPECT_FALSE(host->time_synchronized.known());
}

TEST(System, GuestExample) {
    const auto host = example("machine-mi300x-vf");
    if (!host) GTEST_SKIP() << "no example machines here";
    EXPECT_EQ(host->hypervisor.value(), "kvm");
    EXPECT_EQ(host->container.value(), "none");
    EXPECT_EQ(host->dmi.sys_vendor.value(), "DigitalOcean");
    EXPECT_EQ(host->dmi.board_vendor.why(), "empty");
    EXPECT_EQ(host->rocm_version.value(), "6.3.2-66");
}

TEST(System, AnEmptyMachineGivesReasonsAndNoValue) {
    TempMachine machine;
    const Host host = host_of(machine);
    EXPECT_TRUE(host.kernel_release.absent());
    EXPECT_TRUE(host.os_id.absent());
    EXPECT_TRUE(host.hostname.absent());
    EXPECT_TRUE(host.uptime_s.absent());
    EXPECT_TRUE(host.dmi.sys_vendor.absent());
    EXPECT_EQ(host.secure_boot.why(), "sysfs is not mounted");
    for (const auto* fact : {&host.hypervisor, &host.container, &host.cpu_model}) EXPECT_FALSE(fact->known());
    EXPECT_FALSE(host.cpus_online.known());
    EXPECT_FALSE(host.memory_total_bytes.known());
    EXPECT_EQ(host.process.uid.why(), "not captured");
}

TEST(System, TheLiveMachineIsReadWithoutAMishap) {
    const Sysroot root = Sysroot::live();
    const Host host = host_of(root);
    EXPECT_TRUE(host.kernel_release.known()) << host.kernel_release.why();
    EXPECT_TRUE(host.memory_total_bytes.known()) << host.memory_total_bytes.why();
    EXPECT_FALSE(host.filesystems.empty());
    for (const Fact<std::string>* fact : {&host.hypervisor, &host.container}) {
        EXPECT_TRUE(fact->known() ? !(*fact)->empty() : !fact->why().empty());
    }
}

TEST(Os, ReleaseQuoting) {
    const auto values = parse_os_release(
        "# c\nID=ubuntu\nPRETTY_NAME=\"A \\\"B\\\" \\$C \\x\"\nS='it is \"x\"'\n  T=1  \nBAD=\"open\nBAD2=a "
        "b\n"
        "BAD3=\"a\"b\nnothing\nEMPTY=\nID=debian\n");
    EXPECT_EQ(values.at("ID"), "debian");
    EXPECT_EQ(values.at("PRETTY_NAME"), "A \"B\" $C \\x");
    EXPECT_EQ(values.at("S"), "it is \"x\"");
    EXPECT_EQ(values.at("T"), "1");
    EXPECT_EQ(values.at("EMPTY"), "");
    for (const char* bad : {"BAD", "BAD2", "BAD3", "nothing"}) EXPECT_FALSE(values.contains(bad)) << bad;
}

TEST(Os, EtcWinsAndUsrLibIsTheFallback) {
    TempMachine machine;
    machine.file("/usr/lib/os-release", "ID=vendor\nVERSION_ID=9\n");
    EXPECT_EQ(host_of(machine).os_id.value(), "vendor");
    machine.file("/etc/os-release", "ID=local\n");
    EXPECT_EQ(host_of(machine).os_id.value(), "local");
    EXPECT_EQ(host_of(machine).os_version_id.why(),
              "no VERSION_ID in it");  // never mixed with the other file
    machine.file("/etc/os-release", std::string("ID=\x01\xff\n", 6));
    EXPECT_EQ(host_of(machine).os_id.why(), "malformed: ID");
}

TEST(Os, CommandLineHostNameAndUptime) {
    TempMachine machine;
    machine.file("/proc/cmdline", "\n")
        .file("/etc/hostname", "# set by hand\n\n gpu-7 \n")
        .file("/proc/uptime", "12.5 9\n");
    Host host = host_of(machine);
    EXPECT_EQ(host.kernel_cmdline.value(), "");  // booted without arguments: an answer
    EXPECT_EQ(host.hostname.value(), "gpu-7");
    EXPECT_DOUBLE_EQ(host.uptime_s.value(), 12.5);
    machine.file("/proc/cmdline", "")
        .file("/proc/sys/kernel/hostname", "gpu-8\n")
        .beside("process.json", R"({"uptime_s":95})");
    host = host_of(machine);
    EXPECT_EQ(host.kernel_cmdline.why(), "empty");
    EXPECT_EQ(host.hostname.value(), "gpu-8");
    EXPECT_DOUBLE_EQ(host.uptime_s.value(), 95);
    machine.beside("process.json", R"({"uptime_s":-3})");
    EXPECT_EQ(host_of(machine).uptime_s.why(), "malformed: uptime_s");
    machine.beside("process.json", "{}");
    for (const char* bad : {"nan 1\n", "-1 1\n", "1e400 1\n", "99999999999999 1\n", "x\n", "1.5x 2\n"}) {
        machine.file("/proc/uptime", bad);
        EXPECT_FALSE(host_of(machine).uptime_s.known()) << bad;
    }
}

TEST(Os, RocmReleases) {
    TempMachine machine;
    machine.file("/opt/rocm-6.4.1/.info/version", "6.4.1-1\n")
        .file("/opt/rocm-6.10.0/.info/version", "6.10.0-2\n")
        .folder("/opt/rocm-7");
    EXPECT_EQ(host_of(machine).rocm_version.value(), "6.10.0-2");
    machine.file("/opt/rocm/.info/version-dev", "6.2.0-9\n");
    EXPECT_EQ(host_of(machine).rocm_version.value(), "6.2.0-9");
    machine.file("/opt/rocm/.info/version", "garbage\n");
    EXPECT_EQ(host_of(machine).rocm_version.why(), "malformed: 'garbage'");
}

TEST(SecureBoot, TheVariableDecides) {
    const char* variable = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
    TempMachine machine;
    machine.folder("/sys/devices").folder("/sys/firmware/acpi");
    EXPECT_EQ(read_secure_boot(machine.open()).value(), false);  // started by a BIOS
    EXPECT_EQ(read_secure_boot(machine.open()).source(), "/sys/firmware/efi");
    machine.folder("/sys/firmware/efi/efivars");
    EXPECT_EQ(read_secure_boot(machine.open()).why(), "ENOENT");  // efivarfs is not mounted
    machine.file("/sys/firmware/efi/efivars/BootOrder-8be4df61-93ca-11d2-aa0d-00e098032b8c", "x");
    EXPECT_EQ(read_secure_boot(machine.open()).value(), false);  // firmware without Secure Boot
    machine.file(variable, std::string("\6\0\0\0\1", 5));
    EXPECT_EQ(read_secure_boot(machine.open()).value(), true);
    machine.file(variable, std::string("\6\0\0\0\0", 5));
    EXPECT_EQ(read_secure_boot(machine.open()).value(), false);
    for (const std::string& bad : {std::string("\6\0\0\0\2", 5), std::string("\1", 1), std::string(),
                                   std::string("\6\0\0\0\xff", 5)}) {
        machine.file(variable, bad);
        EXPECT_EQ(read_secure_boot(machine.open()).why(), "malformed");
    }
    machine.beside("nodes.json", R"([{"path":")" + std::string(variable) +
                                     R"(","type":"file","mode":"0600","open":"EACCES"}])");
    EXPECT_EQ(read_secure_boot(machine.open()).why(), "EACCES");
}

TEST(SecureBoot, AHiddenFirmwareFolderIsNoAnswer) {
    TempMachine machine;
    machine.folder("/sys/devices").folder("/sys/firmware");
    EXPECT_EQ(read_secure_boot(machine.open()).why(), "hidden: /sys/firmware is empty");
}

TEST(SecureBoot, Lockdown) {
    TempMachine machine;
    machine.file("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    EXPECT_EQ(read_lockdown(machine.open()).value(), "integrity");
    for (const char* bad : {"none integrity\n", "[\n", "]none[\n", "[strict]\n", "[]\n"}) {
        machine.file("/sys/kernel/security/lockdown", bad);
        EXPECT_FALSE(read_lockdown(machine.open()).known()) << bad;
    }
}

TEST(Resources, KernelLists) {
    EXPECT_EQ(count_of_list("0"), 1U);
    EXPECT_EQ(count_of_list("0-3,8\n"), 5U);
    EXPECT_EQ(count_of_list("0-65535"), 65536U);
    for (const char* bad : {"", "0-4294967295", "3-1", "0-3,2", "0,,1", "0,", "-1", "0-", "x", "0-3 4",
                            "99999999999999999999"}) {
        EXPECT_FALSE(count_of_list(bad)) << bad;
    }
}

TEST(Resources, AbsurdMemoryIsMissing) {
    TempMachine machine;
    machine.file("/proc/meminfo", "MemTotal:       16 kB\nMemAvailable:   8 kB\n");
    EXPECT_EQ(host_of(machine).memory_total_bytes.value(), 16384U);
    EXPECT_EQ(host_of(machine).memory_available_bytes.value(), 8192U);
    for (const char* bad :
         {"MemTotal: 999999999999999999999 kB\n", "MemTotal: -5 kB\n", "MemTotal: 5\n", "MemTotal: 0 kB\n",
          "MemTotal:\n", "MemTotal: 5 kBx\n", "MemTotal: 99999999999999999 kB\n", ""}) {
        machine.file("/proc/meminfo", bad);
        EXPECT_FALSE(host_of(machine).memory_total_bytes.known()) << bad;
    }
    machine.file("/proc/meminfo", "MemTotal: 16 kB\nMemAvailable: 32 kB\n");
    EXPECT_FALSE(host_of(machine).memory_available_bytes.known());
}

TEST(Resources, ProcessorNames) {
    TempMachine machine;
    machine.file("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n");
    EXPECT_EQ(host_of(machine).cpu_model.value(), "implementer 0x41 part 0xd4f");  // Neoverse V2 of a GH200
    machine.file("/proc/cpuinfo", "");
    EXPECT_EQ(host_of(machine).cpu_model.why(), "empty");
}

TEST(Resources, OnlyFilesystemsThatExist) {
    TempMachine machine;
    machine.folder("/var").beside("process.json", R"({"filesystems":{"/":{"total_bytes":100,"free_bytes":40},
        "/tmp":{"total_bytes":1,"free_bytes":2}}})");
    const Host host = host_of(machine);
    ASSERT_EQ(host.filesystems.size(), 3U);
    EXPECT_EQ(host.filesystems[0].path, "/");
    EXPECT_EQ(host.filesystems[0].free_bytes.value(), 40U);
    EXPECT_EQ(host.filesystems[1].path, "/var");
    EXPECT_EQ(host.filesystems[1].free_bytes.why(), "not captured");
    EXPECT_EQ(host.filesystems[2].free_bytes.why(), "malformed: more free than there is");
}

TEST(TimeSync, WhatTells) {
    TempMachine machine;
    EXPECT_FALSE(read_time_synchronized(machine.open()).known());
    machine.beside("process.json", R"({"clock_synchronized":false})");
    EXPECT_EQ(read_time_synchronized(machine.open()).value(), false);
    machine.file("/run/chrony/chronyd.pid", "612\n");
    EXPECT_FALSE(
        read_time_synchronized(machine.open()).known());  // without rtcsync the kernel never hears of it
    machine.beside("process.json", R"({"clock_synchronized":true})");
    EXPECT_EQ(read_time_synchronized(machine.open()).value(), true);
}

TEST(TimeSync, Timesyncd) {
    TempMachine machine;
    machine.folder("/run/systemd/timesync");
    EXPECT_EQ(read_time_synchronized(machine.open()).value(), false);
    machine.file("/run/systemd/timesync/synchronized", "");
    EXPECT_EQ(read_time_synchronized(machine.open()).value(), true);
}

}  // namespace
}  // namespace gpucheck::host
