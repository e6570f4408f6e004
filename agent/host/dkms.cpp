// Judges DKMS trees from their files; see dkms.h. Layout (dkms(8) 2.8 to 3.2): MODULE/VERSION/source links to
// the source, MODULE/VERSION/KERNEL/ARCH/module/ holds the result, MODULE/kernel-KERNEL-ARCH links to
// VERSION/KERNEL/ARCH of the installed one. MODULE/original_module only says that a file was set aside, so it
// decides nothing here.
#include "agent/host/dkms.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/host/modules_files.h"

namespace gpucheck::host {
namespace {

constexpr std::string_view kTree = "/var/lib/dkms";
constexpr std::size_t kMaxModules = 64, kMaxVersions = 32, kMaxKernels = 64;

bool is_gpu_driver(std::string_view module) {
    // nvidia-fs is GPUDirect Storage: no GPU needs it.
    return module == "amdgpu" || module == "gim" || (module.starts_with("nvidia") && module != "nvidia-fs");
}

bool is_module_file(const std::string& name) {
    return !module_name_of(name).empty();
}

struct DkmsVersion {
    const Sysroot& root;
    std::string module_folder, version, kernel;

    std::string folder() const { return module_folder + "/" + version; }

    Fact<std::string> state(std::string_view name) const {
        return Fact<std::string>(std::string(name), folder());
    }

    // Subfolders of VERSION/KERNEL: the architectures it was built for. Empty when there are none.
    Fact<std::vector<std::string>> architectures(const std::string& release) const {
        Fact<std::vector<std::string>> names = root.list(folder() + "/" + release);
        if (names.absent()) return Fact<std::vector<std::string>>({}, names.source());
        return names;
    }
    // Module files of VERSION/RELEASE/ARCH/module; empty when that folder does not exist.
    Fact<std::vector<std::string>> results(const std::string& release, const std::string& arch) const {
        const Fact<std::vector<std::string>> names =
            root.list(folder() + "/" + release + "/" + arch + "/module");
        if (!names.known() && !names.absent()) return names;
        std::vector<std::string> files;
        if (names.known()) {
            std::copy_if(names.value().begin(), names.value().end(), std::back_inserter(files),
                         is_module_file);
        }
        return Fact<std::vector<std::string>>(std::move(files), names.source());
    }
    Fact<bool> link_is_ours(const std::string& release, const std::string& arch) const {
        const Fact<std::string> target = root.link_target(module_folder + "/kernel-" + release + "-" + arch);
        if (target.absent() || target.why() == "EINVAL") return Fact<bool>(false, target.source());
        if (!target.known()) return target.missing();
        return Fact<bool>(target.value() == version + "/" + release + "/" + arch, target.source());
    }

    // Enterprise kernels with a stable interface take modules built for an older kernel by links in
    // weak-updates.
    bool installed_by_weak_link() const {
        const Fact<std::vector<std::string>> linked = root.list("/lib/modules/" + kernel + "/weak-updates");
        const Fact<std::vector<std::string>> releases = root.list(folder());
        if (!linked.known() || !releases.known()) return false;
        std::size_t visited = 0;
        for (const std::string& release : releases.value()) {
            if (release == kernel || release == "source" || release == "build" || visited++ == kMaxKernels)
                continue;
            const Fact<std::vector<std::string>> arches = architectures(release);
            if (!arches.known()) continue;
            for (const std::string& arch : arches.value()) {
                const Fact<std::vector<std::string>> files = results(release, arch);
                if (!files.known() || !link_is_ours(release, arch).is(true)) continue;
                for (const std::string& file : files.value()) {
                    if (std::binary_search(linked.value().begin(), linked.value().end(), file)) return true;
                }
            }
        }
        return false;
    }

    // `build` holds a copy of the source while dkms works. An empty one is left by `dkms add` (3.0.10), a
    // full one by a build that failed: then make.log ends in make's "Error N", or says "# exit code: N" (3.1
    // and later). A build that died with the machine looks like one that goes on; only its log's first line
    // tells which kernel it was for.
    bool building() const {
        const Fact<std::vector<std::string>> files = root.list(folder() + "/build");
        if (!files.known() || files.value().empty()) return false;
        const Fact<std::string> log = root.read(folder() + "/build/make.log", kLargeFile);
        if (!log.known()) return true;
        const std::string_view text = log.value();
        const std::string_view first = text.substr(0, text.find('\n'));
        const std::string ours = " for kernel " + kernel + " ";
        if (first.find(" for kernel ") != std::string_view::npos &&
            first.find(ours) == std::string_view::npos) {
            return false;
        }
        std::optional<bool> failed;  // the last line that says how a step ended
        for (const std::string_view line : lines_of(text)) {
            if (line.starts_with("# exit code: ")) failed = line != "# exit code: 0";
            if (line.starts_with("make: *** ")) failed = true;
        }
        return !failed.value_or(false);
    }

    Fact<std::string> judge() const {
        const Fact<bool> source = root.exists(folder() + "/source/dkms.conf");
        if (!source.known()) return source.missing();
        if (!source.value()) return state("broken");
        const Fact<std::vector<std::string>> arches = architectures(kernel);
        if (!arches.known()) return arches.missing();
        bool built = false;
        for (const std::string& arch : arches.value()) {
            const Fact<std::vector<std::string>> files = results(kernel, arch);
            if (!files.known()) return files.missing();
            if (files.value().empty()) continue;
            const Fact<bool> ours = link_is_ours(kernel, arch);
            if (!ours.known()) return ours.missing();
            if (ours.value()) return state("installed");
            built = true;
        }
        if (installed_by_weak_link()) return state("installed");
        if (built) return state("built");
        return state(building() ? "building" : "added");
    }
};

void read_module(const Sysroot& root, const std::string& module, const Fact<std::string>& kernel,
                 std::vector<DkmsTree>& trees) {
    const std::string folder = std::string(kTree) + "/" + module;
    const Fact<std::vector<std::string>> versions = root.list(folder);
    if (!versions.known()) {
        if (!versions.absent()) trees.push_back({module, "*", versions.missing()});
        return;
    }
    std::size_t visited = 0;
    for (const std::string& version : versions.value()) {
        if (version.starts_with("kernel-") || version == "original_module" || !is_text(version)) continue;
        if (visited++ == kMaxVersions) break;
        const Fact<std::vector<std::string>> content = root.list(folder + "/" + version);
        if (content.absent()) continue;  // a stray file
        if (!content.known()) {
            trees.push_back({module, version, content.missing()});
        } else if (!kernel.known()) {
            trees.push_back({module, version, kernel.missing()});
        } else {
            trees.push_back({module, version, DkmsVersion{root, folder, version, kernel.value()}.judge()});
        }
    }
}

}  // namespace

std::vector<DkmsTree> read_dkms(const Sysroot& root, const Fact<std::string>& kernel_release) {
    std::vector<DkmsTree> trees;
    const Fact<std::vector<std::string>> modules = root.list(kTree);
    if (!modules.known()) {
        if (!modules.absent()) trees.push_back({"*", "*", modules.missing()});
        return trees;
    }
    Fact<std::string> kernel = kernel_release;
    if (kernel.known() && (kernel.value().empty() || kernel.value().find('/') != std::string::npos)) {
        kernel =
            Missing{kernel_release.source(), "malformed: '" + kernel_release.value().substr(0, 40) + "'"};
    }
    std::size_t visited = 0;
    for (const std::string& module : modules.value()) {
        if (!is_gpu_driver(module) || visited++ == kMaxModules) continue;
        read_module(root, module, kernel, trees);
    }
    return trees;
}

}  // namespace gpucheck::host
