// The wait on a machine whose files appear one after the other, on one that hangs, and what its end means.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "agent/readiness_read.h"
#include "agent/readiness_wait.h"
#include "tests/host/pci_machine.h"
#include "tests/host/temp_machine.h"

namespace gpucheck::readiness {
namespace {

using host::TempMachine;
using std::chrono::milliseconds;

constexpr const char* kReal = "/sys/devices/pci0000:00/0000:83:00.0";

void add_gpu(TempMachine& machine) {
    host::PciFiles files;
    files.vendor = "0x1002";
    files.device = "0x74a1";
    files.class_code = "0x120000";
    add_pci(machine, kReal, files);
    machine.file("/proc/sys/kernel/osrelease", "6.8.0-50-generic\n");
}

void add_process(TempMachine& machine, const std::string& id, const std::string& comm) {
    machine.file("/proc/" + id + "/comm", comm + "\n");
}

/// What a driver that has taken the GPU leaves behind.
void bind_gpu(TempMachine& machine) {
    machine.file("/sys/module/amdgpu/initstate", "live\n");
    machine.folder("/sys/bus/pci/drivers/amdgpu");
    machine.link(std::string(kReal) + "/driver", "../../../bus/pci/drivers/amdgpu");
}

void add_compute(TempMachine& machine) {
    machine.file(std::string(kReal) + "/drm/renderD128/dev", "226:128\n");
    machine.file("/dev/dri/renderD128", "");
    machine.file("/dev/kfd", "");
    const std::string nodes = "/sys/class/kfd/kfd/topology/nodes";
    machine.file(nodes + "/0/gpu_id", "0\n")
        .file(nodes + "/0/properties", "cpu_cores_count 8\nsimd_count 0\n");
    machine.file(nodes + "/1/gpu_id", "4321\n");
    machine.file(nodes + "/1/properties",
                 "cpu_cores_count 0\nsimd_count 1216\nlocation_id 33536\ndomain 0\ndrm_render_minor 128\n"
                 "vendor_id 4098\ndevice_id 29857\n");
}

WaitOptions quick(milliseconds limit) {
    WaitOptions options;
    options.limit = limit;
    options.shortest = milliseconds(5);
    options.longest = milliseconds(20);
    return options;
}

std::vector<std::string> told(const report::Readiness& readiness) {
    std::vector<std::string> lines;
    for (const auto& change : readiness.changes) lines.push_back(change.hurdle + " " + change.cause);
    return lines;
}

TEST(Wait, FollowsABootAsItsFilesAppear) {
    TempMachine machine;
    add_gpu(machine);
    add_process(machine, "812", "apt-get");
    WaitOptions options = quick(milliseconds(60'000));
    // The boot goes on when the step before was seen: between two looks, in the process that looks.
    options.on_change = [&](const State& state, milliseconds) {
        if (state.cause == Cause::package_lock) {
            add_process(machine, "900", "dkms");
        } else if (state.cause == Cause::dkms_build) {
            std::filesystem::remove_all(machine.at("/proc/812"));
            std::filesystem::remove_all(machine.at("/proc/900"));
            machine.file("/sys/module/amdgpu/initstate", "coming\n");
        } else if (state.cause == Cause::module_loading) {
            bind_gpu(machine);
        } else if (state.hurdle == Hurdle::nodes) {
            add_compute(machine);
        }
    };
    host::Sysroot root = machine.open();
    const report::Readiness readiness = wait_supervised(root, options);
    EXPECT_TRUE(readiness.ready);
    EXPECT_FALSE(readiness.timed_out);
    EXPECT_EQ(told(readiness),
              (std::vector<std::string>{"module package_lock", "module dkms_build", "bind module_loading",
                                        "nodes none", "settle none", "none none"}));
    const Finding finding = finding_of(readiness, "run");
    EXPECT_EQ(finding.verdict, Verdict::pass);
    EXPECT_EQ(finding.code, "run");
}

TEST(Wait, RunsOutAndSaysWhatIsMissing) {
    TempMachine machine;
    add_gpu(machine);
    add_process(machine, "900", "dkms");
    host::Sysroot root = machine.open();
    const report::Readiness readiness = wait_supervised(root, quick(milliseconds(100)));
    EXPECT_FALSE(readiness.ready);
    EXPECT_TRUE(readiness.timed_out);
    EXPECT_TRUE(readiness.under_way);
    const Finding finding = finding_of(readiness, "run");
    EXPECT_EQ(finding.code, "driver.not_ready");
    EXPECT_EQ(finding.verdict, Verdict::unknown);
    EXPECT_NE(finding.observed.find("amdgpu is not loaded: DKMS builds a module"), std::string::npos);
}

TEST(Wait, SurvivesAFileThatHangs) {
    TempMachine machine;
    add_gpu(machine);
    bind_gpu(machine);
    add_compute(machine);
    host::Sysroot root = machine.open();
    WaitOptions options = quick(milliseconds(60'000));
    options.stall = milliseconds(2000);
    // Nothing a test may do makes a read of a regular file hang; asking NVML stands for it.
    TempMachine nvidia;
    host::PciFiles files;
    files.driver = "nvidia";
    add_pci(nvidia, kReal, files);
    nvidia.file("/sys/module/nvidia/initstate", "live\n").file("/proc/sys/kernel/osrelease", "6.8.0\n");
    options.ask_nvml = [](Snapshot&, milliseconds) { std::this_thread::sleep_for(std::chrono::hours(1)); };
    EXPECT_TRUE(wait_supervised(root, options).ready);  // no NVIDIA GPU: it is not asked
    host::Sysroot hanging = nvidia.open();
    options.start = std::chrono::steady_clock::now();
    options.limit = milliseconds(200);
    const report::Readiness readiness = wait_supervised(hanging, options);
    EXPECT_TRUE(readiness.timed_out);
    EXPECT_LT(readiness.waited_s, 50);
    ASSERT_GE(readiness.changes.size(), 2U);
    EXPECT_EQ(readiness.changes.front().cause, "driver_answering");
    EXPECT_EQ(readiness.changes.back().text, "0000:83:00.0: libnvidia-ml.so.1: did not return");
}

TEST(Wait, NvmlAnswersAndItsFabricIsWaitedFor) {
    TempMachine machine;
    host::PciFiles files;
    files.driver = "nvidia";
    add_pci(machine, kReal, files);
    machine.file("/sys/module/nvidia/initstate", "live\n").file("/proc/sys/kernel/osrelease", "6.8.0\n");
    machine.file("/dev/nvidiactl", "");
    host::Sysroot root = machine.open();
    WaitOptions options = quick(milliseconds(60'000));
    int asked = 0;
    options.ask_nvml = [&asked](Snapshot& snapshot, milliseconds) {
        auto& first = snapshot.gpus.at(0).telemetry.first.nvidia;
        first.identity.handle =
            asked > 0 ? Fact<bool>(true, "NVML") : Fact<bool>(Missing{"nvmlInit", "DRIVER_NOT_LOADED"});
        first.fabric.state = Fact<std::string>(asked > 1 ? "completed" : "in_progress", "NVML");
        ++asked;
    };
    const report::Readiness readiness = wait_supervised(root, options);
    EXPECT_TRUE(readiness.ready);
    EXPECT_EQ(told(readiness),
              (std::vector<std::string>{"count driver_answering", "count unread", "fabric fabric_training",
                                        "settle none", "none none"}));
}

TEST(ReadBusy, TellsALockHeldFromALockFileThatLiesThere) {
    TempMachine machine;
    machine.file("/var/lib/dpkg/lock-frontend", "");
    add_process(machine, "1", "systemd");
    machine.file("/proc/locks", "1: FLOCK  ADVISORY  WRITE 1 00:1a:77 0 EOF\nnonsense\n2: POSIX\n");
    EXPECT_TRUE(read_busy(machine.open(), {}).empty());
    add_process(machine, "812", "python3");
    machine.link("/proc/812/fd/7", "/var/lib/dpkg/lock-frontend");
    EXPECT_TRUE(read_busy(machine.open(), {}).empty());  // open, and not locked
    machine.file("/proc/locks",
                 "1: POSIX  ADVISORY  WRITE 812 08:01:131081 0 EOF\n1: -> POSIX  ADVISORY  WRITE 813 "
                 "08:01:131081 0 EOF\n");
    const std::vector<Busy> busy = read_busy(machine.open(), {});
    ASSERT_EQ(busy.size(), 1U);
    EXPECT_EQ(busy[0].cause, Cause::package_lock);
    EXPECT_EQ(busy[0].what, "python3 holds /var/lib/dpkg/lock-frontend");
}

TEST(ReadBusy, TheBuildIsNamedBeforeTheLock) {
    TempMachine machine;
    add_process(machine, "800", "dpkg");
    add_process(machine, "801", "dkms");
    add_process(machine, "802", "modprobe");
    machine.file("/proc/99999999999999999999/comm", "dnf\n").file("/proc/sys/comm", "yum\n");
    const std::vector<DkmsTree> trees{{"amdgpu", "6.8.5", Fact<std::string>("building", "t")},
                                      {"amdgpu", "6.3", Fact<std::string>("installed", "t")}};
    const std::vector<Busy> busy = read_busy(machine.open(), trees);
    ASSERT_EQ(busy.size(), 3U);
    EXPECT_EQ(busy[0].what, "DKMS builds amdgpu/6.8.5");
    EXPECT_EQ(busy[1].what, "dpkg runs");
    EXPECT_EQ(busy[2].cause, Cause::module_loading);
    TempMachine stale;  // a build that died with the machine: the tree alone proves nobody at work
    EXPECT_TRUE(read_busy(stale.open(), trees).empty());
}

Finding failed(std::string_view code) {
    return finding(code, Verdict::fail, {}, "amdgpu", "none", "/sys");
}

report::CheckLine line(const Check& check, std::string_view code) {
    report::CheckLine line;
    line.result.check = &check;
    line.result.verdict = Verdict::fail;
    line.result.required = true;
    line.result.findings = {failed(code)};
    return line;
}

TEST(Excuse, OnlyWhatALateDriverExplainsAndOnlyWhileSomebodyWorks) {
    const Check loaded{.id = "driver.loaded", .title = "t"};
    const Check count{.id = "gpu.count", .title = "t"};
    const std::vector<report::CheckLine> lines{line(loaded, "driver.module.absent"),
                                               line(count, "gpu.count.missing")};
    report::Readiness readiness;
    readiness.timed_out = readiness.under_way = true;
    readiness.changes = {{12, "module", "dkms_build", "amdgpu is not loaded: DKMS builds amdgpu/6.8.5"}};
    auto checks = lines;
    excuse(readiness, checks);
    EXPECT_EQ(checks[0].result.verdict, Verdict::unknown);
    EXPECT_NE(checks[0].result.findings[0].observed.find("DKMS builds"), std::string::npos);
    EXPECT_EQ(checks[1].result.verdict, Verdict::fail);  // the bus does not wait for a driver
    for (const auto change : {&report::Readiness::timed_out, &report::Readiness::under_way}) {
        report::Readiness other = readiness;
        other.*change = false;
        checks = lines;
        excuse(other, checks);
        EXPECT_EQ(checks[0].result.verdict, Verdict::fail);
    }
    readiness.changes = {{12, "fabric", "fabric_training", "8 of 8 GPUs still register"}};
    checks = lines;
    excuse(readiness, checks);
    EXPECT_EQ(checks[0].result.verdict, Verdict::fail);
}

}  // namespace
}  // namespace gpucheck::readiness
