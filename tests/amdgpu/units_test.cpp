// Services from files: "does not run" is said only of a machine whose cgroups are seen.
#include <gtest/gtest.h>

#include "agent/vendor/telemetry.h"
#include "tests/amdgpu/samples.h"

namespace gpucheck {
namespace {

const std::string kFabric = "nvidia-fabricmanager.service";

Host read(const test::Folder& folder, const std::string& container = "none") {
    Host host;
    host.container = Fact<std::string>(container, "marks");
    vendor::read_units(folder.open(), host);
    return host;
}

const ServiceUnit& fabric(const Host& host) {
    return host.units->at(0);
}

void machine(const test::Folder& folder) {
    folder.write("/sys/fs/cgroup/cgroup.controllers", "cpu io memory pids\n");
    folder.write("/sys/fs/cgroup/system.slice/ssh.service/cgroup.procs", "77\n");
}

TEST(Units, InstalledEnabledAndRunning) {
    const test::Folder folder("units-run");
    machine(folder);
    folder.write("/usr/lib/systemd/system/" + kFabric, "[Unit]\n");
    folder.link("/etc/systemd/system/multi-user.target.wants/" + kFabric,
                "../../../../usr/lib/systemd/system/" + kFabric);
    folder.write("/sys/fs/cgroup/system.slice/" + kFabric + "/cgroup.procs", "1411\n1412\n");
    const Host host = read(folder);
    ASSERT_TRUE(host.units.known());
    EXPECT_EQ(fabric(host).name, kFabric);
    EXPECT_TRUE(fabric(host).installed.is(true));
    EXPECT_TRUE(fabric(host).enabled.is(true));
    EXPECT_TRUE(fabric(host).processes.is(2U));
    const ServiceUnit& imex = host.units->at(1);
    EXPECT_EQ(imex.name, "nvidia-imex.service");
    EXPECT_TRUE(imex.installed.is(false));
    EXPECT_TRUE(imex.enabled.is(false));
    EXPECT_TRUE(imex.processes.absent());
}

TEST(Units, StoppedHasNoCgroupOrAnEmptyOne) {
    const test::Folder folder("units-stop");
    machine(folder);
    folder.write("/usr/lib/systemd/system/" + kFabric, "[Unit]\n");
    EXPECT_TRUE(fabric(read(folder)).processes.absent());
    EXPECT_TRUE(fabric(read(folder)).enabled.is(false));
    folder.write("/sys/fs/cgroup/system.slice/" + kFabric + "/cgroup.procs", "");
    EXPECT_TRUE(fabric(read(folder)).processes.is(0U));
}

TEST(Units, MaskedIsNotInstalled) {
    const test::Folder folder("units-mask");
    machine(folder);
    folder.write("/usr/lib/systemd/system/" + kFabric, "[Unit]\n");
    folder.link("/etc/systemd/system/" + kFabric, "/dev/null");
    const Host host = read(folder);
    EXPECT_TRUE(fabric(host).installed.is(false));
    EXPECT_NE(fabric(host).installed.source().find("masked"), std::string::npos)
        << fabric(host).installed.source();
}

TEST(Units, ALinkToAnotherUnitFileIsInstalled) {
    const test::Folder folder("units-link");
    machine(folder);
    folder.write("/opt/fm/" + kFabric, "[Unit]\n");
    folder.link("/etc/systemd/system/" + kFabric, "../../../opt/fm/" + kFabric);
    EXPECT_TRUE(fabric(read(folder)).installed.is(true));
}

TEST(Units, Cgroup1AndSubgroups) {
    const test::Folder folder("units-v1");
    folder.write("/sys/fs/cgroup/systemd/system.slice/" + kFabric + "/cgroup.procs", "10\n");
    folder.write("/sys/fs/cgroup/systemd/system.slice/" + kFabric + "/main/cgroup.procs", "11\n12\n");
    EXPECT_TRUE(fabric(read(folder)).processes.is(3U));
}

TEST(Units, AContainerDoesNotSeeThem) {
    const test::Folder folder("units-container");
    machine(folder);
    const Host host = read(folder, "docker");
    EXPECT_FALSE(host.units.known());
    EXPECT_FALSE(host.units.absent());
}

TEST(Units, WithoutSystemdsCgroupsProcessesAreNotKnown) {
    const test::Folder folder("units-nocgroup");
    folder.write("/usr/lib/systemd/system/" + kFabric, "[Unit]\n");
    const Host host = read(folder);
    EXPECT_TRUE(fabric(host).installed.is(true));
    EXPECT_FALSE(fabric(host).processes.known());
    EXPECT_FALSE(fabric(host).processes.absent()) << "not seen is not stopped";
}

TEST(Units, NotCapturedIsNotAbsent) {
    const test::Folder folder("units-captured");
    folder.write_beside("captured.txt", "/sys/bus/pci/**\n");
    const Host host = read(folder);
    if (host.units.known()) {
        EXPECT_FALSE(fabric(host).installed.known());
        EXPECT_FALSE(fabric(host).processes.known());
        EXPECT_FALSE(fabric(host).processes.absent());
    }
}

}  // namespace
}  // namespace gpucheck
