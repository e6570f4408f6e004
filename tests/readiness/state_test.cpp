// The state machine of the wait, by scripted boots: what is late is told apart from what is broken, and a
// count that still grows is never taken for an answer.
#include <gtest/gtest.h>

#include "agent/readiness.h"

namespace gpucheck::readiness {
namespace {

using std::chrono::milliseconds;

template <class T>
Fact<T> fact(T value) {
    return Fact<T>(std::move(value), "test");
}

Look bus(unsigned gpus) {
    Look look;
    look.on_bus = fact(gpus);
    return look;
}

/// A machine with AMD GPUs whose driver is complete.
Look amd(unsigned gpus) {
    Look look = bus(gpus);
    look.amd.gpus = look.amd.bound = gpus;
    look.amd.module = fact<std::string>("live");
    look.amd.module_file = fact<std::string>("/lib/modules/6.8/amdgpu.ko");
    look.amd.blocked_by = fact<std::string>("");
    look.amd.counted = fact(gpus);
    return look;
}

Look nvidia(unsigned gpus) {
    Look look = amd(0);
    look.on_bus = fact(gpus);
    look.nvidia.gpus = look.nvidia.bound = gpus;
    look.nvidia.module = fact<std::string>("live");
    look.nvidia.counted = fact(gpus);
    return look;
}

/// One boot: looks one second apart, and what each made of it.
struct Boot {
    State state;
    milliseconds at{0};

    std::string look(const Look& found, int seconds = 1) {
        state = advance(state, found, at);
        at += milliseconds(1000 * seconds);
        return std::string(name_of(state.hurdle)) + " " + std::string(name_of(state.cause));
    }
};

TEST(Readiness, AHealthyMachineNeedsThreeLooks) {
    for (const Look& found : {amd(8), nvidia(8)}) {
        Boot boot;
        EXPECT_EQ(boot.look(found), "settle none");
        EXPECT_EQ(boot.look(found), "settle none");
        EXPECT_EQ(boot.look(found), "none none");
        EXPECT_TRUE(boot.state.over());
        EXPECT_FALSE(boot.state.gave_up);
        EXPECT_EQ(boot.state.text, "8 of 8 GPUs ready");
    }
}

TEST(Readiness, ACountThatGrowsStartsAgain) {
    Boot boot;
    EXPECT_EQ(boot.look(amd(7)), "settle none");
    EXPECT_EQ(boot.look(amd(7)), "settle none");
    Look found = amd(8);
    found.amd.counted = fact(7U);
    EXPECT_EQ(boot.look(found), "count none");
    EXPECT_EQ(boot.state.text, "KFD has nodes for 7 of 8 GPUs");
    EXPECT_EQ(boot.look(amd(8)), "settle none");
    EXPECT_EQ(boot.look(amd(8)), "settle none");
    EXPECT_EQ(boot.look(amd(8)), "none none");
}

TEST(Readiness, WithoutGpusThereIsNothingToWaitFor) {
    Boot boot;
    EXPECT_EQ(boot.look(bus(0)), "none none");
    EXPECT_EQ(boot.state.text, "no GPU on the bus");
    Boot passed_through;  // all belong to vfio-pci
    EXPECT_EQ(passed_through.look(bus(8)), "none none");
}

TEST(Readiness, APromiseIsWaitedForWhileTheBusFillsAndNoLonger) {
    Look short_bus = bus(0);
    short_bus.promised = fact(8U);
    Boot boot;
    EXPECT_EQ(boot.look(short_bus, 10), "bus none");
    EXPECT_EQ(boot.state.text, "0 of 8 GPUs that were promised are on the bus");
    Look seven = amd(7);
    seven.promised = fact(8U);
    EXPECT_EQ(boot.look(seven, 14), "bus none");  // it moved: another 15 s
    EXPECT_EQ(boot.look(seven, 1), "bus none");
    EXPECT_EQ(boot.look(seven), "settle none");  // 7 of 8 is judged as it is, by another check
    EXPECT_EQ(boot.look(seven), "settle none");
    EXPECT_EQ(boot.look(seven), "none none");
    Boot empty;
    EXPECT_EQ(empty.look(short_bus, 15), "bus none");
    EXPECT_EQ(empty.look(short_bus), "none none");
}

TEST(Readiness, ABusThatCannotBeListedIsWaitedFor) {
    Look found;
    found.on_bus = Missing{"/sys/bus/pci/devices", "ENOENT"};
    Boot boot;
    EXPECT_EQ(boot.look(found, 300), "bus unread");
    EXPECT_EQ(boot.look(found), "bus unread");
    EXPECT_FALSE(boot.state.over());
}

/// No driver yet.
Look undriven() {
    Look look = amd(8);
    look.amd.bound = 0;
    look.amd.module = fact<std::string>("absent");
    look.amd.module_file = fact<std::string>("");
    look.amd.counted = Missing{"/sys/class/kfd", "ENOENT"};
    return look;
}

TEST(Readiness, AFirstBootThatBuildsItsDriver) {
    Boot boot;
    Look found = undriven();
    found.busy = {{Cause::package_lock, "apt-get holds /var/lib/dpkg/lock-frontend"}};
    EXPECT_EQ(boot.look(found), "module package_lock");
    EXPECT_EQ(boot.state.text, "amdgpu is not loaded: apt-get holds /var/lib/dpkg/lock-frontend");
    EXPECT_TRUE(under_way(boot.state.cause));
    found.busy.insert(found.busy.begin(), {Cause::dkms_build, "DKMS builds amdgpu/6.8.5"});
    EXPECT_EQ(boot.look(found, 90), "module dkms_build");
    EXPECT_EQ(boot.look(found), "module dkms_build");  // however long it takes: only the limit ends it
    found.busy = {{Cause::module_loading, "modprobe runs"}};
    found.amd.module_file = fact<std::string>("/lib/modules/6.8/updates/amdgpu.ko");
    EXPECT_EQ(boot.look(found), "module module_loading");
    found.busy.clear();
    found.amd.module = fact<std::string>("coming");
    EXPECT_EQ(boot.look(found), "bind module_loading");
    EXPECT_EQ(boot.state.text, "amdgpu holds 0 of 8 GPUs, and starts");
    found.amd.bound = 3;
    EXPECT_EQ(boot.look(found), "bind module_loading");
    found = amd(8);
    found.amd.closed = {"/dev/kfd: ENOENT"};
    EXPECT_EQ(boot.look(found), "nodes none");
    EXPECT_EQ(boot.look(amd(8)), "settle none");
}

TEST(Readiness, AModuleLoadedLateBlacklistedOrAbsentAreTold) {
    Boot boot;
    Look found = undriven();
    EXPECT_EQ(boot.look(found), "module none");
    EXPECT_EQ(boot.state.text, "amdgpu is not loaded: the running kernel has no such module");
    found.amd.module_file = fact<std::string>("/lib/modules/6.8/amdgpu.ko");
    EXPECT_EQ(boot.look(found), "module not_loaded");
    found.amd.blocked_by = fact<std::string>("/etc/modprobe.d/amd.conf");
    EXPECT_EQ(boot.look(found, 600), "module blacklisted");
    EXPECT_EQ(boot.look(found), "module blacklisted");  // a unit may still load it: the limit decides
    EXPECT_FALSE(under_way(boot.state.cause));
    found.amd.blocked_by = fact<std::string>("");
    found.amd.module_file = Missing{"/lib/modules/6.8", "EIO"};
    EXPECT_EQ(boot.look(found), "module unread");
}

TEST(Readiness, FirmwareThatTakesLongIsWaitedForAndARefusalIsNot) {
    Look found = amd(8);
    found.amd.bound = 7;
    found.amd.module = fact<std::string>("coming");
    Boot slow;
    for (int look = 0; look < 20; ++look) EXPECT_EQ(slow.look(found, 10), "bind module_loading");
    EXPECT_FALSE(slow.state.over());

    found.amd.module = fact<std::string>("live");  // the probe is over, and one was refused
    Boot refused;
    EXPECT_EQ(refused.look(found, 59), "bind none");
    EXPECT_EQ(refused.look(found, 1), "bind none");
    EXPECT_EQ(refused.look(found), "none none");
    EXPECT_TRUE(refused.state.gave_up);
    EXPECT_EQ(refused.state.text, "amdgpu holds 7 of 8 GPUs, and nobody is at work on it: judged as it is");

    Boot upgraded;  // the near-miss: a package manager may replace the driver
    found.busy = {{Cause::package_lock, "dpkg runs"}};
    EXPECT_EQ(upgraded.look(found, 300), "bind package_lock");
    EXPECT_EQ(upgraded.look(found), "bind package_lock");
    EXPECT_FALSE(upgraded.state.over());
}

TEST(Readiness, NvmlIsAskedBeforeItsNodesAreLookedFor) {
    Boot boot;
    Look found = nvidia(2);
    found.nvidia.closed = {"/dev/nvidiactl: ENOENT"};
    found.nvidia.counting = true;
    EXPECT_EQ(boot.look(found, 130), "count driver_answering");
    EXPECT_EQ(boot.look(found), "count driver_answering");  // 20 s and more: it has not said no
    found.nvidia.counting = false;
    found.nvidia.counted = Missing{"0000:19:00.0: nvmlDeviceGetHandleByPciBusId_v2", "UNKNOWN"};
    EXPECT_EQ(boot.look(found), "count unread");
    found.nvidia.counted = fact(1U);
    EXPECT_EQ(boot.look(found), "count none");
    EXPECT_EQ(boot.state.text, "NVML gives a handle for 1 of 2 GPUs");
    found.nvidia.counted = fact(2U);
    EXPECT_EQ(boot.look(found), "nodes none");
    EXPECT_EQ(boot.look(nvidia(2)), "settle none");
}

TEST(Readiness, TheFabricIsWaitedForToTheLimit) {
    Boot boot;
    Look found = nvidia(8);
    found.manager_absent = "nvidia-fabricmanager.service is enabled and has no process yet";
    EXPECT_EQ(boot.look(found), "fabric manager_starting");
    found.manager_absent.clear();
    found.fabric_pending = 8;
    EXPECT_EQ(boot.look(found, 300), "fabric fabric_training");
    EXPECT_EQ(boot.state.text, "8 of 8 GPUs still register with the NVSwitch fabric");
    EXPECT_EQ(boot.look(found), "fabric fabric_training");
    EXPECT_FALSE(boot.state.over());
    found.fabric_pending = 0;
    EXPECT_EQ(boot.look(found), "settle none");
}

TEST(Readiness, DeniedNodesAreNoBoot) {
    Boot boot;
    Look found = amd(1);
    found.amd.closed = {"/dev/kfd: EACCES", "/dev/dri/renderD128: EACCES"};
    EXPECT_EQ(boot.look(found, 60), "nodes denied");
    EXPECT_EQ(boot.look(found), "none denied");
    EXPECT_TRUE(boot.state.gave_up);
}

TEST(Readiness, EveryChangeOfStateIsToldOnce) {
    Boot boot;
    Look found = undriven();
    boot.look(found);
    const State first = boot.state;
    boot.look(found);
    EXPECT_TRUE(boot.state.same_as(first));
    EXPECT_EQ(boot.state.since, first.since);
    found.amd.module = fact<std::string>("coming");
    boot.look(found);
    EXPECT_FALSE(boot.state.same_as(first));
}

TEST(Readiness, TheLimitGrowsWithTheGpus) {
    EXPECT_EQ(automatic_limit(0), milliseconds(120'000));
    EXPECT_EQ(automatic_limit(8), milliseconds(240'000));
    EXPECT_EQ(automatic_limit(4'000'000'000U), kLongestAutomatic);
}

Device gpu(Vendor vendor, const char* address, const char* driver) {
    Device device;
    device.bdf = *Bdf::parse(address);
    device.vendor = vendor;
    device.pci.driver = fact<std::string>(driver);
    return device;
}

TEST(LookOf, CountsWhatThisMachineHasToBringUp) {
    Snapshot snapshot;
    snapshot.host.pci_functions = fact(40U);
    snapshot.gpus = {gpu(Vendor::amd, "0000:05:00.0", "amdgpu"), gpu(Vendor::amd, "0000:06:00.0", ""),
                     gpu(Vendor::amd, "0000:07:00.0", "vfio-pci"),
                     gpu(Vendor::amd, "0000:08:00.0", "amdgpu")};
    snapshot.gpus[3].pci.has_physfn = fact(true);
    snapshot.gpus[0].amd.kfd_nodes.resize(8);  // eight partitions
    snapshot.host.kfd.nodes_total = fact(9U);
    const Look look = look_of(snapshot, {fact<std::string>("live"), fact<std::string>("absent")}, {});
    EXPECT_TRUE(look.on_bus.is(4U));
    EXPECT_EQ(look.amd.gpus, 2U);
    EXPECT_EQ(look.amd.bound, 1U);
    EXPECT_TRUE(look.amd.counted.is(1U));
    EXPECT_EQ(look.amd.closed, std::vector<std::string>{"0000:05:00.0: no render node"});
    EXPECT_EQ(look.nvidia.gpus, 0U);
}

TEST(LookOf, AKfdThatHidesANodeHasNoCount) {
    Snapshot snapshot;
    snapshot.gpus = {gpu(Vendor::amd, "0000:05:00.0", "amdgpu")};
    snapshot.host.kfd.nodes_total = fact(2U);
    snapshot.host.kfd.unreadable = {"1: EPERM"};
    EXPECT_FALSE(look_of(snapshot, {}, {}).amd.counted.known());
}

TEST(LookOf, TheFabricManagerMattersWhereThereAreSwitches) {
    Snapshot snapshot;
    snapshot.gpus = {gpu(Vendor::nvidia, "0000:19:00.0", "nvidia")};
    auto& first = snapshot.gpus[0].telemetry.first.nvidia;
    first.identity.handle = fact(true);
    first.fabric.state = fact<std::string>("not_started");
    ServiceUnit unit;
    unit.name = "nvidia-fabricmanager.service";
    unit.enabled = fact(true);
    unit.processes = Missing{"cgroup", "ENOENT"};
    snapshot.host.units = fact(std::vector{unit});
    Look look = look_of(snapshot, {}, {});
    EXPECT_EQ(look.manager_absent, "");  // a guest of a shared NVSwitch
    EXPECT_EQ(look.fabric_pending, 0U);
    EXPECT_TRUE(look.nvidia.counted.is(1U));
    snapshot.host.nvswitches = {*Bdf::parse("0000:05:00.0")};
    EXPECT_NE(look_of(snapshot, {}, {}).manager_absent, "");
    unit.processes = fact(1U);
    snapshot.host.units = fact(std::vector{unit});
    look = look_of(snapshot, {}, {});
    EXPECT_EQ(look.manager_absent, "");
    EXPECT_EQ(look.fabric_pending, 1U);
    first.fabric.state = fact<std::string>("completed");
    EXPECT_EQ(look_of(snapshot, {}, {}).fabric_pending, 0U);
    first.identity.handle = Missing{"nvmlDeviceGetHandleByPciBusId_v2", "GPU_IS_LOST"};
    EXPECT_EQ(look_of(snapshot, {}, {}).nvidia.counted.why(), "GPU_IS_LOST");
}

}  // namespace
}  // namespace gpucheck::readiness
