// Reads /sys/module and /proc/modules for the drivers that matter; see modules.h.
#include "agent/host/modules.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "agent/host/modules_blacklist.h"
#include "agent/host/modules_files.h"

namespace gpucheck::host {
namespace {

constexpr std::size_t kMaxParameters = 200;

// The GPU drivers, then those that take GPUs away from them. amdkfd was a module of its own before
// Linux 4.20.
constexpr std::array kModules{"amdgpu",     "amdkfd",         "gim",        "nvidia",
                              "nvidia_uvm", "nvidia_modeset", "nvidia_drm", "nvidia_peermem",
                              "nouveau",    "nova_core",      "nvidiafb",   "vfio_pci"};

// "amdgpu 20271104 0 - Live 0x0000000000000000 (OE)" (proc(5)).
Fact<bool> in_proc_modules(const Fact<std::string>& content, std::string_view name) {
    if (!content.known()) return content.missing();
    for (const std::string_view line : lines_of(content.value())) {
        if (!line.starts_with(name) || line.substr(name.size(), 1) != " ") continue;
        return Fact<bool>(line.find(" Live ") != std::string_view::npos, content.source());
    }
    return Fact<bool>(false, content.source());
}

// A module being loaded ("coming") or removed ("going") does not serve yet. A folder without initstate
// belongs to code that is part of the kernel image (Linux kernel/params.c).
Fact<bool> read_loaded(const Sysroot& root, const std::string& folder, const Fact<bool>& has_folder,
                       const Fact<bool>& listed, bool builtin) {
    if (has_folder.is(true)) {
        const Fact<std::string> state = root.read_line(folder + "/initstate");
        if (state.known()) return Fact<bool>(state.value() == "live", state.source());
        if (state.absent()) return Fact<bool>(true, folder);
        return listed.is(true) ? listed : Fact<bool>(state.missing());
    }
    if (listed.is(true)) return listed;
    if (builtin) return Fact<bool>(true, "modules.builtin");
    // Either place can say no; a container that hides one of them may still show the other.
    if (has_folder.known()) return Fact<bool>(false, folder);
    return listed.known() ? listed : Fact<bool>(has_folder.missing());
}

// The kernel prints an empty line for a module that taints nothing.
Fact<std::string> read_taint(const Sysroot& root, const std::string& path) {
    Fact<std::string> taint = root.read_line(path);
    if (taint.why() == "empty") return Fact<std::string>("", path);
    return taint;
}

std::vector<NamedText> read_parameters(const Sysroot& root, const std::string& folder) {
    std::vector<NamedText> parameters;
    const Fact<std::vector<std::string>> names = root.list(folder);
    if (!names.known()) return parameters;
    for (const std::string& name : names.value()) {
        if (parameters.size() == kMaxParameters) break;
        const Fact<std::string> value = root.read_line(folder + "/" + name);
        if (value.known()) parameters.push_back({name, value.value()});
        if (value.why() == "empty") parameters.push_back({name, ""});
    }
    return parameters;
}

}  // namespace

std::vector<Module> read_modules(const Sysroot& root, const Fact<std::string>& kernel_release,
                                 const Fact<std::string>& cmdline) {
    const ModuleTree tree(root, kernel_release);
    const Blacklist blacklist(root, cmdline);
    const Fact<std::string> proc = root.read("/proc/modules", kLargeFile);
    std::vector<Module> modules;
    for (const char* name : kModules) {
        const std::string folder = std::string("/sys/module/") + name;
        Module module;
        module.name = name;
        const Fact<bool> has_folder = root.exists(folder);
        module.loaded =
            read_loaded(root, folder, has_folder, in_proc_modules(proc, name), tree.builtin(name));
        if (has_folder.is(false)) {  // spares five reads for each of the many that no machine has all of
            module.version = module.srcversion = module.taint = Missing{folder, "ENOENT"};
        } else {
            module.version = root.read_line(folder + "/version");
            module.srcversion = root.read_line(folder + "/srcversion");
            module.taint = read_taint(root, folder + "/taint");
            module.parameters = read_parameters(root, folder + "/parameters");
        }
        module.file = tree.file_of(name);
        module.blacklisted_by = blacklist.blocker_of(name);
        modules.push_back(std::move(module));
    }
    return modules;
}

}  // namespace gpucheck::host
