// Looks for module files of the running kernel: a driver package that was built for another kernel leaves a
// machine whose GPUs have no driver after a reboot.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/host/sysroot.h"
#include "checks/model/fact.h"

namespace gpucheck::host {

/// "nvidia_uvm" for nvidia-uvm.ko.zst, nvidia-current-uvm.ko (Debian) and nvidia-tesla-470-uvm.ko; "" when
/// `file` is no module file.
std::string module_name_of(std::string_view file);

/// /lib/modules/<running kernel>.
class ModuleTree {
  public:
    ModuleTree(const Sysroot& root, const Fact<std::string>& kernel_release);

    /// Path of the .ko; "(builtin)" when it is part of the kernel image, as modinfo(8) says; "" when the tree
    /// was readable and has none; else Missing.
    Fact<std::string> file_of(std::string_view module) const;
    /// Listed in modules.builtin.
    bool builtin(std::string_view module) const;

  private:
    using Paths = std::map<std::string, std::string, std::less<>>;  // module name -> path

    Fact<bool> read_index(const char* name, Paths& paths) const;
    void scan(const std::string& folder, bool subfolders);

    const Sysroot& root_;
    std::string base_;
    Fact<bool> readable_;  // Missing: why nothing can be said about absence
    Paths listed_, ordered_, builtin_, found_;
};

}  // namespace gpucheck::host
