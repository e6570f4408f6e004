// Finds the line that keeps a GPU driver from loading; the GPUs it hides look exactly like GPUs without a
// driver.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "agent/host/sysroot.h"
#include "checks/model/fact.h"

namespace gpucheck::host {

/// `blacklist`, `install NAME /bin/false|true` and `alias NAME off` lines of modprobe.d(5), and the kernel
/// arguments modprobe.blacklist=, module_blacklist= and rd.driver.blacklist=.
class Blacklist {
  public:
    Blacklist(const Sysroot& root, const Fact<std::string>& cmdline);

    /// The kernel argument ("modprobe.blacklist=amdgpu") or file that forbids it; "" when all places were
    /// read and none does; else Missing.
    Fact<std::string> blocker_of(std::string_view module) const;

  private:
    void read_arguments(const Fact<std::string>& cmdline);
    void read_folder(const Sysroot& root, const std::string& folder,
                     std::map<std::string, std::string>& files);
    void read_file(const Sysroot& root, const std::string& path);
    void read_line(std::string_view line, const std::string& path);
    void block(std::string_view module, const std::string& by, const std::string& source);

    std::map<std::string, Fact<std::string>, std::less<>> blockers_;  // by module name with underscores
    Fact<std::string> nothing_;  // "" or why nothing can be said about the rest
};

}  // namespace gpucheck::host
