// Looks for the marks that container runtimes leave; see container.h. The most telling mark comes first: a
// Kubernetes pod also looks like the runtime beneath it.
#include "agent/host/container.h"

#include <algorithm>
#include <array>
#include <optional>

namespace gpucheck::host {
namespace {

// Values of $container in use (https://systemd.io/CONTAINER_INTERFACE): other software sets a variable of
// that name, too.
constexpr std::array<std::string_view, 12> kKnownRuntimes{
    "docker",  "podman", "lxc",   "lxc-libvirt", "systemd-nspawn", "oci",
    "flatpak", "wsl",    "proot", "rkt",         "containerd",     "crio"};

bool is_known_runtime(std::string_view name) {
    return std::find(kKnownRuntimes.begin(), kKnownRuntimes.end(), name) != kKnownRuntimes.end();
}

bool is_id(std::string_view text) {
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Fact<std::string> named(std::string_view name, std::string_view source) {
    return Fact<std::string>(std::string(name), std::string(source));
}

struct Mark {
    const char* path;
    const char* runtime;
};
constexpr std::array kMarks{
    Mark{"/var/run/secrets/kubernetes.io", "kubernetes"},
    Mark{"/.singularity.d", "apptainer"},  // Apptainer kept the name
    Mark{"/run/.containerenv", "podman"},
    Mark{"/.dockerenv", "docker"},
};

const std::string* variable(const Process& process, std::string_view name) {
    for (const NamedText& entry : process.env) {
        if (entry.name == name) return &entry.text;
    }
    return nullptr;
}

// The variable "container" that runtimes give process 1; its environment is readable by root only.
std::string container_of_init(const Sysroot& root) {
    const Fact<std::string> environ = root.read("/proc/1/environ");
    if (!environ.known()) return {};
    std::string_view rest = *environ;
    while (!rest.empty()) {
        const std::string_view entry = rest.substr(0, rest.find('\0'));
        if (entry.starts_with("container=")) return std::string(entry.substr(10));
        rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    }
    return {};
}

std::optional<Fact<std::string>> from_cgroups(const Sysroot& root) {
    std::optional<Fact<std::string>> found;
    for (const char* file : {"/proc/self/cgroup", "/proc/1/cgroup", "/proc/1/cpuset"}) {
        const Fact<std::string> content = root.read(file);
        if (!content.known()) continue;
        for (const std::string_view line : lines_of(*content)) {
            const std::string_view runtime = runtime_of_cgroup(line);
            if (runtime == "kubernetes") return named(runtime, file);
            if (!runtime.empty() && !found) found = named(runtime, file);
        }
    }
    return found;
}

std::optional<Fact<std::string>> from_marks(const Sysroot& root, const Process& process) {
    if (variable(process, "KUBERNETES_SERVICE_HOST") != nullptr)
        return named("kubernetes", "KUBERNETES_SERVICE_HOST");
    const auto cgroup = from_cgroups(root);
    if (cgroup && cgroup->is("kubernetes")) return cgroup;
    for (const char* name : {"APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"}) {
        if (variable(process, name) != nullptr) return named("apptainer", name);
    }
    for (const Mark& mark : kMarks) {
        if (root.exists(mark.path).is(true)) return named(mark.runtime, mark.path);
    }
    if (const Fact<std::string> name = root.read_line("/run/systemd/container"); name.known()) return name;
    if (const std::string name = container_of_init(root); !name.empty() && is_text(name))
        return named(name, "/proc/1/environ");
    const std::string* name = variable(process, "container");
    if (name != nullptr && is_known_runtime(*name)) return named(*name, "container");
    if (cgroup) return cgroup;
    if (root.exists("/dev/.lxc").is(true)) return named("lxc", "/dev/.lxc");
    if (root.exists("/proc/vz").is(true) && root.exists("/proc/bc").is(false))
        return named("openvz", "/proc/vz");
    return std::nullopt;
}

// Without a mark it is the machine itself only when its init system is our process 1 too.
Fact<std::string> from_init(const Sysroot& root, const Process& process) {
    for (const char* path : {"/.dockerenv", "/run/.containerenv", "/run/systemd/container"}) {
        const Fact<bool> mark = root.exists(path);
        if (!mark.known()) return mark.missing();
    }
    const Fact<std::string> comm = root.read_line("/proc/1/comm");
    if (!comm.known()) return comm;
    if (*comm != "systemd" && *comm != "init" && *comm != "openrc-init") {
        return Missing{comm.source(), "process 1 is '" + comm->substr(0, 40) +
                                          "', no init system, and no runtime left its mark"};
    }
    if (process.user_namespace.is(true)) {
        return Missing{process.user_namespace.source(), "a user namespace, and no runtime left its mark"};
    }
    // A path that climbs: process 1 lives above the root of our cgroup namespace (cgroup_namespaces(7)).
    const Fact<std::string> cgroup = root.read("/proc/1/cgroup");
    if (cgroup.known() && cgroup->find(":/..") != std::string::npos) {
        return Missing{cgroup.source(), "process 1 is outside of our cgroup namespace"};
    }
    return named("none", comm.source());
}

}  // namespace

std::string_view runtime_of_cgroup(std::string_view path) {
    std::string_view above;
    while (!path.empty()) {
        const std::size_t slash = path.find('/');
        const std::string_view part = path.substr(0, slash);
        const std::string_view scope =
            part.ends_with(".scope") ? part.substr(0, part.size() - 6) : std::string_view{};
        const auto scope_of = [&](std::string_view prefix) {
            return scope.starts_with(prefix) && is_id(scope.substr(prefix.size()));
        };
        if (part == "kubepods" || part == "kubepods.slice" || part.starts_with("kubepods-"))
            return "kubernetes";
        if (scope_of("docker-") || (above == "docker" && is_id(part))) return "docker";
        if (scope_of("libpod-") || part == "libpod_parent")
            return "podman";  // libpod-conmon-ID is its monitor on the host
        if (scope_of("cri-containerd-") || scope_of("nerdctl-") || (above == "default" && is_id(part)))
            return "containerd";
        if (scope_of("crio-")) return "crio";
        if (part.starts_with("lxc.payload") || (above == "lxc" && !part.empty()))
            return "lxc";  // lxc.monitor is on the host
        // systemd-nspawn(1) registers machine-NAME.scope; libvirt puts the emulators of its guests there,
        // with machine-qemu.
        if (above == "machine.slice" && scope.starts_with("machine-") && !scope.starts_with("machine-qemu")) {
            return "systemd-nspawn";
        }
        if (slash == std::string_view::npos) break;
        above = part;
        path.remove_prefix(slash + 1);
    }
    return {};
}

Fact<std::string> read_container(const Sysroot& root, const Process& process) {
    if (auto found = from_marks(root, process)) return *found;
    return from_init(root, process);
}

}  // namespace gpucheck::host
