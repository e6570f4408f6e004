// One look at the machine's files; see readiness_read.h.
#include "agent/readiness_read.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/host/container.h"
#include "agent/host/dkms.h"
#include "agent/host/environment.h"
#include "agent/host/kfd.h"
#include "agent/host/modules.h"
#include "agent/host/nodes.h"
#include "agent/host/nvidia.h"
#include "agent/host/os.h"
#include "agent/host/pci.h"
#include "agent/vendor/telemetry.h"

namespace gpucheck::readiness {
namespace {

// Held while packages are installed: dpkg(1), apt-get(8) "Dpkg::Lock", rpm's transaction lock
// (rpmlock.c), at its places of now and before.
constexpr std::array kLocks{"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock",
                            "/var/cache/apt/archives/lock", "/var/lib/rpm/.rpm.lock",
                            "/usr/lib/sysimage/rpm/.rpm.lock"};

struct Worker {
    std::string_view comm;  ///< /proc/PID/comm: at most 15 bytes (TASK_COMM_LEN)
    Cause cause;
};
// DKMS first: packages that are installed meanwhile wait for it, and it says more.
constexpr std::array kWorkers{Worker{"dkms", Cause::dkms_build},
                              Worker{"nvidia-installe", Cause::dkms_build},
                              Worker{"apt-get", Cause::package_lock},
                              Worker{"apt", Cause::package_lock},
                              Worker{"dpkg", Cause::package_lock},
                              Worker{"unattended-upgr", Cause::package_lock},
                              Worker{"ubuntu-drivers", Cause::package_lock},
                              Worker{"amdgpu-install", Cause::package_lock},
                              Worker{"dnf", Cause::package_lock},
                              Worker{"dnf5", Cause::package_lock},
                              Worker{"yum", Cause::package_lock},
                              Worker{"rpm", Cause::package_lock},
                              Worker{"zypper", Cause::package_lock},
                              Worker{"modprobe", Cause::module_loading},
                              Worker{"insmod", Cause::module_loading}};
constexpr std::size_t kMaxProcesses = 16384, kMaxHolders = 64, kMaxDescriptors = 256;

std::optional<std::uint64_t> number_from(std::string_view text) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    if (text.empty() || result.ec != std::errc{} || result.ptr != end) return std::nullopt;
    return value;
}

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (!line.empty() && words.size() < 16) {
        const std::size_t start = line.find_first_not_of(' ');
        if (start == std::string_view::npos) break;
        const std::size_t end = std::min(line.find(' ', start), line.size());
        words.push_back(line.substr(start, end - start));
        line.remove_prefix(end);
    }
    return words;
}

/// Processes that hold a write lock: "1: POSIX  ADVISORY  WRITE 812 08:01:131081 0 EOF". A line "1: ->" only
/// waits for one; 0 and -1 are of another PID namespace (Linux fs/locks.c, lock_get_status).
std::vector<std::string> lock_holders(const host::Sysroot& root) {
    std::vector<std::string> holders;
    const Fact<std::string> content = root.read("/proc/locks", host::kLargeFile);
    if (!content.known()) return holders;
    for (const std::string_view line : host::lines_of(*content)) {
        const std::vector<std::string_view> words = words_of(line);
        if (words.size() < 6 || words[1] == "->" || words[3] != "WRITE") continue;
        if (number_from(words[4]).value_or(0) == 0 || holders.size() == kMaxHolders) continue;
        std::string process(words[4]);
        if (std::find(holders.begin(), holders.end(), process) == holders.end())
            holders.push_back(std::move(process));
    }
    return holders;
}

/// The package manager's lock file that a process has open; empty: none, or it may not be seen.
std::string lock_file_of(const host::Sysroot& root, const std::string& process) {
    const std::string folder = "/proc/" + process + "/fd";
    const Fact<std::vector<std::string>> open = root.list(folder);
    if (!open.known()) return {};
    for (std::size_t i = 0; i < std::min(open->size(), kMaxDescriptors); ++i) {
        const Fact<std::string> target = root.link_target(folder + "/" + (*open)[i]);
        if (target.known() && std::find(kLocks.begin(), kLocks.end(), *target) != kLocks.end())
            return *target;
    }
    return {};
}

std::string comm_of(const host::Sysroot& root, const std::string& process) {
    const Fact<std::string> comm = root.read_line("/proc/" + process + "/comm");
    return comm.known() ? *comm : std::string();
}

void add_locks(const host::Sysroot& root, std::vector<Busy>& busy) {
    for (const std::string& process : lock_holders(root)) {
        const std::string file = lock_file_of(root, process);
        if (file.empty()) continue;
        const std::string comm = comm_of(root, process);
        busy.push_back({Cause::package_lock, (comm.empty() ? "a process" : comm) + " holds " + file});
        return;
    }
}

std::string trees_in_work(const std::vector<DkmsTree>& trees) {
    std::string text;
    for (const DkmsTree& tree : trees) {
        if (tree.state.is("building")) text += (text.empty() ? "" : ", ") + tree.module + "/" + tree.version;
    }
    return text;
}

void add_processes(const host::Sysroot& root, const std::vector<DkmsTree>& trees, std::vector<Busy>& busy) {
    const Fact<std::vector<std::string>> names = root.list("/proc");
    if (!names.known()) return;
    std::array<bool, kWorkers.size()> seen{};
    std::size_t looked = 0;
    for (const std::string& name : *names) {
        if (!number_from(name)) continue;
        if (looked++ == kMaxProcesses) break;
        const std::string comm = comm_of(root, name);
        for (std::size_t i = 0; i < kWorkers.size(); ++i) seen[i] = seen[i] || comm == kWorkers[i].comm;
    }
    for (std::size_t i = 0; i < kWorkers.size(); ++i) {
        if (!seen[i]) continue;
        std::string what = std::string(kWorkers[i].comm) + " runs";
        const std::string built = trees_in_work(trees);
        if (kWorkers[i].comm == "dkms") what = "DKMS builds " + (built.empty() ? "a module" : built);
        busy.push_back({kWorkers[i].cause, std::move(what)});
    }
}

Fact<std::string> module_state(const host::Sysroot& root, const std::string& name) {
    const std::string folder = "/sys/module/" + name;
    const Fact<bool> there = root.exists(folder);
    if (!there.known()) return there.missing();
    if (!*there) return Fact<std::string>("absent", folder);
    // Code of the kernel image has a folder without this file (Linux kernel/params.c).
    const Fact<std::string> state = root.read_line(folder + "/initstate");
    return state.absent() ? Fact<std::string>("builtin", folder) : state;
}

/// dkms runs inside a package's installation: the build is what takes the minutes.
bool build_before_lock(const Busy& left, const Busy& right) {
    const auto rank = [](const Busy& busy) {
        return busy.cause == Cause::dkms_build ? 0 : busy.cause == Cause::package_lock ? 1 : 2;
    };
    return rank(left) < rank(right);
}

}  // namespace

std::vector<Busy> read_busy(const host::Sysroot& root, const std::vector<DkmsTree>& trees) {
    std::vector<Busy> busy;
    add_locks(root, busy);
    add_processes(root, trees, busy);
    std::stable_sort(busy.begin(), busy.end(), build_before_lock);
    return busy;
}

ModuleStates read_module_states(const host::Sysroot& root) {
    return {module_state(root, "amdgpu"), module_state(root, "nvidia")};
}

Snapshot read_snapshot(const host::Sysroot& root, std::chrono::milliseconds node_deadline) {
    Snapshot snapshot;
    Host& host = snapshot.host;
    host::read_os(root, host);
    host::PciInventory pci = host::read_pci(root);
    host.pci_functions = std::move(pci.functions);
    host.nvswitches = std::move(pci.nvswitches);
    for (PciFunction& function : pci.gpus) {
        Device device;
        device.bdf = function.bdf;
        device.vendor = function.vendor.is(std::uint16_t{0x1002}) ? Vendor::amd : Vendor::nvidia;
        device.pci = std::move(function);
        snapshot.gpus.push_back(std::move(device));
    }
    if (snapshot.gpus.empty()) return snapshot;
    host.process = host::read_process(root);
    host.container = host::read_container(root, host.process);
    host.modules = host::read_modules(root, host.kernel_release, host.kernel_cmdline);
    host.dkms = host::read_dkms(root, host.kernel_release);
    host.nvidia = host::read_nvidia_driver(root);
    for (Device& gpu : snapshot.gpus) {
        if (gpu.vendor == Vendor::nvidia) host::read_nvidia_gpu(root, gpu);
    }
    host::fold_kfd(host::read_kfd(root), snapshot.gpus, host.kfd);
    host::read_nodes(root, snapshot, static_cast<int>(node_deadline.count()));
    vendor::read_units(root, host);
    return snapshot;
}

}  // namespace gpucheck::readiness
