// Whether the services that GPUs need are installed, enabled and running: without the fabric manager the
// NVLinks of an HGX board stay down and every job fails late. From unit files and cgroups alone; see
// telemetry.h. systemd.unit(5), cgroups(7), Documentation/admin-guide/cgroup-v2.rst.
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "agent/vendor/telemetry.h"

namespace gpucheck::vendor {
namespace {

constexpr std::array kUnits{"nvidia-fabricmanager.service", "nvidia-imex.service",
                            "nvidia-persistenced.service"};
// In systemd's order: the first file of a name wins.
constexpr std::array kFolders{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
                              "/usr/lib/systemd/system", "/lib/systemd/system"};
constexpr std::size_t kMaxProcesses = 4096;

// A unit is masked by a link to /dev/null, or by an empty file (systemctl(1)).
Fact<bool> is_masked(const host::Sysroot& root, const std::string& path) {
    const Fact<std::string> target = root.link_target(path);
    if (target.known()) return Fact<bool>(target->ends_with("/dev/null"), path);
    const Fact<std::uint64_t> size = root.file_size(path);
    if (!size.known()) return Fact<bool>(false, path);
    return Fact<bool>(*size == 0, path);
}

Fact<bool> read_installed(const host::Sysroot& root, const std::string& name) {
    for (const char* folder : kFolders) {
        const std::string path = std::string(folder) + "/" + name;
        // A link may lead to a file that is gone, or to /dev/null that a recorded machine does not have.
        const bool linked = root.link_target(path).known();
        const Fact<bool> there = linked ? Fact<bool>(true, path) : root.exists(path);
        if (!there.known()) return there;
        if (!*there) continue;
        const Fact<bool> masked = is_masked(root, path);
        if (masked.is(true)) return Fact<bool>(false, path + " (masked)");
        const Fact<bool> leads = root.exists(path);
        if (leads.is(false)) return Fact<bool>(false, path + " (link to nothing)");
        return leads;
    }
    return Fact<bool>(false, "/usr/lib/systemd/system/" + name);
}

Fact<bool> read_enabled(const host::Sysroot& root, const std::string& name) {
    for (const char* folder : kFolders) {
        const Fact<std::vector<std::string>> entries = root.list(folder);
        if (!entries.known()) {
            if (entries.absent() || entries.why() == "ENOTDIR") continue;
            return entries.missing();
        }
        for (const std::string& entry : *entries) {
            if (!entry.ends_with(".wants") && !entry.ends_with(".requires")) continue;
            const std::string path = std::string(folder) + "/" + entry + "/" + name;
            if (root.link_target(path).known()) return Fact<bool>(true, path);
            const Fact<bool> there = root.exists(path);
            if (!there.known() || *there) return there;
        }
    }
    return Fact<bool>(false, std::string(kFolders.front()) + "/*.wants/" + name);
}

// Where this machine's system.slice is: cgroup v2 at the mount, v1 and hybrid in systemd's own hierarchy.
Fact<std::string> system_slice(const host::Sysroot& root) {
    const std::string v2 = "/sys/fs/cgroup/system.slice", v1 = "/sys/fs/cgroup/systemd/system.slice";
    for (const std::string& path : {v1, v2}) {
        const Fact<bool> there = root.exists(path);
        if (!there.known()) return there.missing();
        if (*there) return Fact<std::string>(path, path);
    }
    // Every system that systemd runs has one: without it these are not the machine's cgroups.
    return Missing{v2, "no cgroups of systemd here"};
}

std::size_t lines_with_numbers(std::string_view text) {
    std::size_t count = 0;
    for (const std::string_view line : host::lines_of(text)) count += host::trim(line).empty() ? 0 : 1;
    return count;
}

// Processes of one cgroup and those below it.
Fact<unsigned> processes_in(const host::Sysroot& root, const std::string& folder, int depth) {
    constexpr int kMostDepth = 4;
    const Fact<std::string> procs = root.read(folder + "/cgroup.procs");
    if (!procs.known()) return procs.missing();
    std::size_t count = lines_with_numbers(*procs);
    const Fact<std::vector<std::string>> entries = root.list(folder);
    if (!entries.known()) return entries.missing();
    for (const std::string& entry : *entries) {
        if (depth == kMostDepth || count > kMaxProcesses) break;
        if (entry.find('.') != std::string::npos && !entry.ends_with(".service") &&
            !entry.ends_with(".scope") && !entry.ends_with(".slice"))
            continue;  // a file of the kernel: "cgroup.procs", "cpu.stat"
        const std::string below = folder + "/" + entry;
        if (!root.exists(below + "/cgroup.procs").is(true)) continue;
        const Fact<unsigned> more = processes_in(root, below, depth + 1);
        if (!more.known()) return more;
        count += *more;
    }
    return Fact<unsigned>(static_cast<unsigned>(count), procs.source());
}

Fact<unsigned> read_processes(const host::Sysroot& root, const Fact<std::string>& slice,
                              const std::string& name) {
    if (!slice.known()) return slice.missing();
    const std::string folder = *slice + "/" + name;
    const Fact<bool> there = root.exists(folder);
    if (!there.known()) return there.missing();
    if (!*there) return Missing{folder, "ENOENT"};
    return processes_in(root, folder, 0);
}

}  // namespace

void read_units(const host::Sysroot& root, Host& host) {
    // A container sees its own unit files and cgroups; the services run outside of it.
    if (!host.container.is("none")) {
        host.units = host.container.known() ? Missing{host.container.source(),
                                                      "in a container: the host's units are not visible"}
                                            : host.container.missing();
        return;
    }
    const Fact<std::string> slice = system_slice(root);
    std::vector<ServiceUnit> units;
    for (const char* name : kUnits) {
        ServiceUnit unit;
        unit.name = name;
        unit.installed = read_installed(root, unit.name);
        unit.enabled = read_enabled(root, unit.name);
        unit.processes = read_processes(root, slice, unit.name);
        units.push_back(std::move(unit));
    }
    host.units = Fact<std::vector<ServiceUnit>>(std::move(units), std::string(kFolders.front()));
}

}  // namespace gpucheck::vendor
