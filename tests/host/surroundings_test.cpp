// Guest or bare metal, container or machine, and which variables matter: every rule with the near-miss that
// must not fool it.
#include <gtest/gtest.h>

#include "agent/host/container.h"
#include "agent/host/dmi.h"
#include "agent/host/environment.h"
#include "agent/host/virtualization.h"
#include "tests/host/temp_machine.h"

namespace gpucheck::host {
namespace {

constexpr const char* kBareCpu =
    "processor\t: 0\nflags\t\t: fpu sse2 lm constant_tsc pni vmx rdrand lahf_lm\n\n";
constexpr const char* kGuestCpu =
    "processor\t: 0\nflags\t\t: fpu sse2 lm constant_tsc pni rdrand hypervisor lahf_lm\n\n";
constexpr const char* kArmCpu = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n";

struct Machine : TempMachine {
    Machine& cpu(const char* text) { return file("/proc/cpuinfo", text), *this; }
    Machine& dmi(const char* vendor, const char* product) {
        file("/sys/class/dmi/id/sys_vendor", std::string(vendor) + "\n");
        file("/sys/class/dmi/id/product_name", std::string(product) + "\n");
        return *this;
    }
    std::string hypervisor() const {
        const Sysroot root = open();
        const Fact<std::string> fact = read_hypervisor(root, read_dmi(root));
        return fact.known() ? *fact : "?";
    }
    Fact<std::string> container() const {
        const Sysroot root = open();
        return read_container(root, read_process(root));
    }
    std::string in() const {
        const Fact<std::string> fact = container();
        return fact.known() ? *fact : "?";
    }
};

TEST(Hypervisor, OnX86) {
    struct Row {
        const char *cpu, *vendor, *product, *expected;
    };
    for (const Row& row :
         {Row{kBareCpu, "Supermicro", "SYS-821GE-TNHR", "none"},
          Row{kBareCpu, "Microsoft Corporation", "C2080", "none"},  // a server of the Open Compute Project
          Row{kBareCpu, "Oracle Corporation", "ORACLE SERVER X9-2c", "none"},
          Row{kBareCpu, "Amazon EC2", "g4dn.metal", "none"}, Row{kBareCpu, "Amazon EC2", "p5.48xlarge", "?"},
          Row{kBareCpu, "Google", "Google Compute Engine", "?"},
          Row{kBareCpu, "QEMU", "Standard PC (Q35 + ICH9, 2009)", "kvm"},  // the flag is masked
          Row{kGuestCpu, "QEMU", "Standard PC (Q35 + ICH9, 2009)", "kvm"},
          Row{kGuestCpu, "DigitalOcean", "Droplet", "kvm"},
          Row{kGuestCpu, "Amazon EC2", "p5.48xlarge", "kvm"}, Row{kGuestCpu, "Xen", "HVM domU", "xen"},
          Row{kGuestCpu, "VMware, Inc.", "VMware7,1", "vmware"},
          Row{kGuestCpu, "innotek GmbH", "VirtualBox", "virtualbox"},
          Row{kGuestCpu, "Microsoft Corporation", "Virtual Machine", "hyperv"},
          Row{kGuestCpu, "Some Cloud", "Instance", "unknown"}, Row{"", "Supermicro", "X", "?"}}) {
        Machine machine;
        EXPECT_EQ(machine.cpu(row.cpu).dmi(row.vendor, row.product).hypervisor(), row.expected)
            << row.vendor << " " << row.product;
    }
}

TEST(Hypervisor, ACutOffFlagLineIsNoEvidence) {
    for (const char* cpu :
         {"flags\t\t: fpu sse2 lm pni rdrand", "flags\t\t:\n", "flags\t\t: fpu\n", "processor\t: 0\n",
          "flags\t\t: fpu sse2 lm pni\n\nprocessor\t: 1\nflags\t\t: fpu lm"}) {
        Machine machine;
        EXPECT_EQ(machine.cpu(cpu).hypervisor(), "?") << cpu;
    }
    Machine machine;
    EXPECT_EQ(machine.hypervisor(), "?");
    EXPECT_EQ(machine.cpu("flags\t\t: fpu lm pni nothypervisor hypervisors\n").hypervisor(), "none");
}

TEST(Hypervisor, WithoutFirmwareTables) {
    Machine machine;
    EXPECT_EQ(machine.cpu(kBareCpu).hypervisor(), "none");
    EXPECT_EQ(machine.cpu(kGuestCpu).hypervisor(), "unknown");
    machine.file("/sys/devices/system/clocksource/clocksource0/available_clocksource",
                 "kvm-clock tsc acpi_pm \n");
    EXPECT_EQ(machine.hypervisor(), "kvm");
    EXPECT_EQ(machine.cpu(kBareCpu).hypervisor(), "none");
}

TEST(Hypervisor, OnArm) {
    struct Row {
        const char *vendor, *product, *expected;
    };
    for (const Row& row :
         {Row{"NVIDIA", "GB200 NVL", "none"}, Row{"Amazon EC2", "g5g.metal", "none"},
          Row{"Amazon EC2", "g5g.xlarge", "kvm"}, Row{"Google", "Google Compute Engine", "kvm"},
          Row{"QEMU", "QEMU Virtual Machine", "kvm"},
          Row{"Microsoft Corporation", "Virtual Machine", "hyperv"}, Row{"Someone", "Board", "?"}}) {
        Machine machine;
        EXPECT_EQ(machine.cpu(kArmCpu).dmi(row.vendor, row.product).hypervisor(), row.expected)
            << row.vendor << " " << row.product;
    }
    Machine machine;
    EXPECT_EQ(machine.cpu(kArmCpu).hypervisor(), "?");
    machine.file("/proc/device-tree/hypervisor/compatible", std::string("linux,kvm\0", 10));
    EXPECT_EQ(machine.hypervisor(), "kvm");
}

TEST(Hypervisor, XenGuestAndControlDomain) {
    Machine machine;
    machine.cpu(kGuestCpu).file("/sys/hypervisor/type", "xen\n");
    EXPECT_EQ(machine.hypervisor(), "xen");
    machine.file("/proc/xen/capabilities", "control_d\n");
    EXPECT_EQ(machine.hypervisor(), "none");
}

const std::string kId(64, 'a');

TEST(Container, CgroupPaths) {
    EXPECT_EQ(runtime_of_cgroup("0::/system.slice/docker-" + kId + ".scope"), "docker");
    EXPECT_EQ(runtime_of_cgroup("12:devices:/docker/" + kId), "docker");
    EXPECT_EQ(runtime_of_cgroup("4:cpu:/kubepods/besteffort/pod1/" + kId), "kubernetes");
    EXPECT_EQ(runtime_of_cgroup("0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + kId + ".scope"),
              "kubernetes");
    EXPECT_EQ(runtime_of_cgroup("0::/system.slice/nerdctl-" + kId + ".scope"), "containerd");
    EXPECT_EQ(runtime_of_cgroup("0::/machine.slice/libpod-" + kId + ".scope"), "podman");
    EXPECT_EQ(runtime_of_cgroup("0::/lxc.payload.web/init.scope"), "lxc");
    EXPECT_EQ(runtime_of_cgroup("1:name=systemd:/lxc/web"), "lxc");
    EXPECT_EQ(runtime_of_cgroup("0::/machine.slice/machine-web.scope/payload"), "systemd-nspawn");
    for (const std::string host :
         {"0::/", "0::/init.scope", "0::/system.slice/docker.service", "0::/system.slice/containerd.service",
          "0::/user.slice/user-1000.slice/session-3.scope", "0::/lxc.monitor.web",
          "0::/system.slice/lxcfs.service", "0::/machine.slice/machine-qemu\\x2d1\\x2dvm.scope",
          "0::/system.slice/docker-proxy.scope", ""}) {
        EXPECT_EQ(runtime_of_cgroup(host), "") << host;
    }
    EXPECT_EQ(runtime_of_cgroup("0::/machine.slice/libpod-conmon-" + kId + ".scope"),
              "");  // the monitor runs on the host
}

TEST(Container, TheMachineItself) {
    Machine machine;
    EXPECT_EQ(machine.in(), "?");
    machine.file("/proc/1/comm", "systemd\n").file("/proc/self/cgroup", "0::/\n");
    EXPECT_EQ(machine.in(), "none");
    machine.folder("/sys/fs/cgroup/system.slice/docker.service")
        .file("/var/lib/docker/x", "")
        .file("/proc/1/cgroup", "0::/init.scope\n");
    EXPECT_EQ(machine.in(), "none");  // a host that runs docker
    machine.file("/proc/1/comm", "sleep\n");
    EXPECT_EQ(machine.in(), "?");
}

TEST(Container, NoneNeedsMoreThanAnInit) {
    Machine machine;
    machine.file("/proc/1/comm", "systemd\n").file("/proc/1/cgroup", "0::/../../init.scope\n");
    EXPECT_EQ(machine.in(), "?");  // --pid=host: the host's process 1 is seen from a container
    machine.file("/proc/1/cgroup", "0::/\n").file("/proc/self/uid_map", "         0     100000      65536\n");
    EXPECT_EQ(machine.in(), "?");
    machine.file("/proc/self/uid_map", "         0          0 4294967295\n");
    EXPECT_EQ(machine.in(), "none");
    machine.beside("captured.txt", "/proc/**\n/sys/**\n");
    EXPECT_EQ(machine.in(), "?");  // nobody looked for the marks
    EXPECT_EQ(machine.container().why(), "not captured");
}

TEST(Container, Marks) {
    const auto with = [](const char* path, const char* content) {
        Machine machine;
        machine.file("/proc/1/comm", "systemd\n").file(path, content);
        return machine.in();
    };
    EXPECT_EQ(with("/.dockerenv", ""), "docker");
    EXPECT_EQ(with("/run/.containerenv", ""), "podman");
    EXPECT_EQ(with("/run/systemd/container", "systemd-nspawn\n"), "systemd-nspawn");
    EXPECT_EQ(with("/run/secrets/kubernetes.io/serviceaccount/token", "x"),
              "none");  // not where /var/run leads in this machine
    EXPECT_EQ(with("/var/run/secrets/kubernetes.io/serviceaccount/namespace", "x"), "kubernetes");
    EXPECT_EQ(with("/.singularity.d/env.sh", ""), "apptainer");
    EXPECT_EQ(with("/proc/vz/version", ""), "openvz");
    EXPECT_EQ(with("/proc/self/cgroup", ("0::/kubepods.slice/x\n")), "kubernetes");
    Machine machine;
    machine.file("/.dockerenv", "")
        .file("/proc/1/environ", std::string("A=1\0container=lxc\0", 18))
        .beside("process.json", R"({"env":{"KUBERNETES_SERVICE_HOST":"10.0.0.1"}})");
    EXPECT_EQ(machine.in(), "kubernetes");  // the pod also looks like docker
    machine.beside("process.json", "{}");
    EXPECT_EQ(machine.in(), "docker");
    std::filesystem::remove(machine.at("/.dockerenv"));
    EXPECT_EQ(machine.in(), "lxc");
}

TEST(Container, AVariableOfThatNameIsNotEnough) {
    Machine machine;
    machine.file("/proc/1/comm", "systemd\n").beside("process.json", R"({"env":{"container":"my-box"}})");
    EXPECT_EQ(machine.in(), "none");
    machine.beside("process.json", R"({"env":{"container":"podman"}})");
    EXPECT_EQ(machine.in(), "podman");
}

TEST(Environment, OnlyWhatMattersAndNoSecret) {
    for (const char* name :
         {"CUDA_VISIBLE_DEVICES", "HSA_OVERRIDE_GFX_VERSION", "GPU_MAX_HW_QUEUES", "AMD_SERIALIZE_KERNEL",
          "NCCL_DEBUG", "LD_LIBRARY_PATH", "http_proxy", "NO_PROXY", "container", "RUNPOD_POD_ID"}) {
        EXPECT_TRUE(is_relevant_variable(name)) << name;
    }
    for (const char* name :
         {"PATH", "HOME", "AWS_SECRET_ACCESS_KEY", "NVIDIA_API_KEY", "HIP_TOKEN", "NCCL_password",
          "RUNPOD_API_KEY", "CUDA", "XCUDA_X", "AMD_CREDENTIALS", "ROCM_auth_x", "RUNPOD_POD_IDS", ""}) {
        EXPECT_FALSE(is_relevant_variable(name)) << name;
    }
}

TEST(Environment, ValuesAreMadePresentable) {
    EXPECT_EQ(presentable_value("http_proxy", "http://al:p@ss/w,d@proxy:3128/"), "http://proxy:3128/");
    EXPECT_EQ(presentable_value("HTTPS_PROXY", "al:pass@proxy:3128"), "proxy:3128");
    EXPECT_EQ(presentable_value("http_proxy", "http://proxy:3128/"), "http://proxy:3128/");
    EXPECT_EQ(presentable_value("NCCL_X", "a https://u:p@h/x b"), "a https://h/x b");
    EXPECT_EQ(presentable_value("CUDA_X", "user@0,1"), "user@0,1");
    EXPECT_EQ(presentable_value("CUDA_X", "\xff\xfe"), "(not text)");
    EXPECT_EQ(presentable_value("CUDA_X", std::string(5000, 'x')).size(), 4096U);
    EXPECT_EQ(presentable_value("CUDA_X", std::string(4095, 'x') + "\xc3\xa4").size(), 4095U);
}

TEST(Environment, TheProcess) {
    TempMachine machine;
    machine.file("/proc/self/uid_map", "         0          0 4294967295\n")
        .beside("process.json", R"({"uid":5,"gids":[5,44],
        "now":"2026-11-30T10:00:00Z","env":{"HIP_VISIBLE_DEVICES":"","SECRET":"x","NVIDIA_KEY":"y","CUDA_VISIBLE_DEVICES":"0"}})");
    const Process process = read_process(machine.open());
    EXPECT_EQ(process.uid.value(), 5U);
    EXPECT_EQ(process.user_namespace.value(), false);
    EXPECT_EQ(process.now.value(), "2026-11-30T10:00:00Z");
    ASSERT_EQ(process.env.size(), 2U);
    EXPECT_EQ(process.env[0].name, "CUDA_VISIBLE_DEVICES");
    EXPECT_EQ(process.env[1].text, "");
    machine.file("/proc/self/uid_map", "0 100000 65536\n");
    EXPECT_EQ(read_process(machine.open()).user_namespace.value(), true);
    for (const char* bad : {"", "0 0\n", "0 0 x\n", "0 0 4294967295 7\n", "-1 0 1\n"}) {
        machine.file("/proc/self/uid_map", bad);
        EXPECT_FALSE(read_process(machine.open()).user_namespace.known()) << bad;
    }
    for (const char* bad :
         {"yesterday", "2026-11-30 10:00:00", "2026-11-30T10:00:00+01:00", "2026-11-30T10:00:00.Z"}) {
        machine.beside("process.json", std::string(R"({"now":")") + bad + "\"}");
        EXPECT_FALSE(read_process(machine.open()).now.known()) << bad;
    }
}

}  // namespace
}  // namespace gpucheck::host
