// Searches the module tree of the running kernel; see modules_files.h. Files: depmod(8), modules.dep(5);
// folders: depmod.d(5) and what dkms(8), kmod packages and Ubuntu's linux-modules-nvidia-* install into.
#include "agent/host/modules_files.h"

#include <algorithm>
#include <array>
#include <utility>

namespace gpucheck::host {
namespace {

using namespace std::string_view_literals;

constexpr std::array kExtensions{".ko"sv, ".ko.xz"sv, ".ko.zst"sv, ".ko.gz"sv};
constexpr std::size_t kMaxSubfolders = 64;

// In depmod's order: what was installed later wins over what the kernel brought.
struct Place {
    const char* folder;
    bool subfolders;
};
constexpr std::array kPlaces{
    Place{"updates/dkms", false},
    Place{"updates", true},
    Place{"extra", true},
    Place{"weak-updates", true},
    Place{"kernel/drivers/gpu/drm/amd/amdgpu", false},
    Place{"kernel/drivers/gpu/drm/amd/amdkfd", false},
    Place{"kernel/drivers/gpu/drm/nouveau", false},
    Place{"kernel/drivers/gpu/nova-core", false},
    Place{"kernel/drivers/video/fbdev/nvidia", false},
    Place{"kernel/drivers/vfio/pci", false},
};

std::string_view base_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Debian builds several driver branches side by side: nvidia-current-*, nvidia-current-open-*,
// nvidia-tesla-470-*.
bool is_branch_word(std::string_view word) {
    if (word == "current" || word == "open" || word == "tesla" || word == "legacy" || word == "server")
        return true;
    if (word.ends_with("xx")) word.remove_suffix(2);
    return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

// Kernels list thousands of modules; only these beginnings are ever asked for.
bool may_be_asked_for(std::string_view line) {
    static constexpr std::array kBeginnings{"amd"sv, "gim"sv, "nvidia"sv, "nouveau"sv, "nova"sv, "vfio"sv};
    const std::string_view name = base_of(line);
    return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                       [&](std::string_view beginning) { return name.starts_with(beginning); });
}

bool is_kernel_release(std::string_view text) {
    return !text.empty() && text.size() <= 128 && text.front() != '.' && is_text(text) &&
           text.find_first_of("/ \t\n") == std::string_view::npos;
}

}  // namespace

std::string module_name_of(std::string_view file) {
    file = base_of(file);
    const auto extension = std::find_if(kExtensions.begin(), kExtensions.end(),
                                        [&](std::string_view end) { return file.ends_with(end); });
    if (extension == kExtensions.end() || file.size() == extension->size()) return {};
    std::string stem(file.substr(0, file.size() - extension->size()));
    std::replace(stem.begin(), stem.end(), '-', '_');
    if (!stem.starts_with("nvidia_")) return stem;
    std::string name = "nvidia";
    std::string_view rest = std::string_view(stem).substr(name.size() + 1);
    for (;;) {
        const std::size_t end = rest.find('_');
        const std::string_view word = rest.substr(0, end);
        if (!is_branch_word(word)) name.append("_").append(word);
        if (end == std::string_view::npos) return name;
        rest.remove_prefix(end + 1);
    }
}

ModuleTree::ModuleTree(const Sysroot& root, const Fact<std::string>& kernel_release) : root_(root) {
    if (!kernel_release.known()) {
        readable_ = kernel_release.missing();
        return;
    }
    if (!is_kernel_release(kernel_release.value())) {
        readable_ =
            Missing{kernel_release.source(), "malformed: '" + kernel_release.value().substr(0, 40) + "'"};
        return;
    }
    base_ = "/lib/modules/" + kernel_release.value();
    const Fact<std::vector<std::string>> top = root.list(base_);
    if (!top.known()) {
        readable_ = top.missing();
        return;
    }
    readable_ = Fact<bool>(true, base_);
    const Fact<bool> dep = read_index("modules.dep", listed_), order = read_index("modules.order", ordered_);
    read_index("modules.builtin", builtin_);
    for (const Place& place : kPlaces) scan(base_ + "/" + place.folder, place.subfolders);
    const Fact<std::vector<std::string>> kernel = root.list(base_ + "/kernel");
    if (kernel.known()) {
        for (const std::string& name : kernel.value()) {
            if (name.starts_with("nvidia-")) scan(base_ + "/kernel/" + name, true);
        }
    }
    // Without either list the tree may hold modules in folders that nobody looked into.
    if (!dep.known() && !dep.absent()) {
        readable_ = dep.missing();
    } else if (!dep.known() && !order.known() && readable_.known()) {
        readable_ = order.missing();
    }
}

// modules.dep: "path: dependencies"; modules.order and modules.builtin: "path".
Fact<bool> ModuleTree::read_index(const char* name, Paths& paths) const {
    const Fact<std::string> content = root_.read(base_ + "/" + name, kLargeFile);
    if (!content.known()) return content.missing();
    for (std::string_view line : lines_of(content.value())) {
        line = trim(line.substr(0, line.find(':')));
        if (!may_be_asked_for(line)) continue;
        std::string module = module_name_of(line);
        if (module.empty() || !is_text(line)) continue;
        const bool absolute = line.front() == '/';
        paths.try_emplace(std::move(module), absolute ? std::string(line) : base_ + "/" + std::string(line));
    }
    return Fact<bool>(true, content.source());
}

void ModuleTree::scan(const std::string& folder, bool subfolders) {
    const Fact<std::vector<std::string>> names = root_.list(folder);
    if (!names.known()) {
        if (!names.absent() && readable_.known()) readable_ = names.missing();
        return;
    }
    std::size_t visited = 0;
    for (const std::string& name : names.value()) {
        if (std::string module = module_name_of(name); !module.empty()) {
            found_.try_emplace(std::move(module), folder + "/" + name);
        } else if (subfolders && name.find('.') == std::string::npos && visited++ < kMaxSubfolders) {
            scan(folder + "/" + name, false);
        }
    }
}

bool ModuleTree::builtin(std::string_view module) const {
    return builtin_.find(module) != builtin_.end();
}

Fact<std::string> ModuleTree::file_of(std::string_view module) const {
    if (base_.empty()) return readable_.missing();
    // A list can be older than the tree: modules.order names what the kernel's build made, and Ubuntu ships
    // amdgpu.ko apart, in linux-modules-extra.
    if (const auto entry = listed_.find(module); entry != listed_.end()) {
        const Fact<bool> there = root_.exists(entry->second);
        if (!there.is(false)) return Fact<std::string>(entry->second, base_ + "/modules.dep");
    }
    if (const auto entry = found_.find(module); entry != found_.end()) {
        return Fact<std::string>(entry->second, entry->second);
    }
    if (const auto entry = ordered_.find(module); entry != ordered_.end()) {
        const Fact<bool> there = root_.exists(entry->second);
        if (!there.known()) return there.missing();
        if (there.value()) return Fact<std::string>(entry->second, base_ + "/modules.order");
    }
    if (builtin(module)) return Fact<std::string>("(builtin)", base_ + "/modules.builtin");
    if (!readable_.known()) return readable_.missing();
    return Fact<std::string>("", base_);
}

}  // namespace gpucheck::host
