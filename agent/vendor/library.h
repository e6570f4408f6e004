// A vendor's shared library, loaded by exact soname in a child: absent, broken and unable are three different
// answers.
#pragma once

#include <initializer_list>
#include <string>
#include <variant>

#include "checks/model/fact.h"

namespace gpucheck::vendor {

/// Where vendor libraries come from: only from `driver_dir` when it is given (`--driver-dir`), else from
/// where the dynamic linker looks and the folders that GPU containers mount them into. A recorded machine has
/// no libraries of its own: without a driver_dir `allowed` is false then.
struct LibrarySource {
    bool allowed = true;
    std::string driver_dir;
};

/// An open library; never closed, because vendor libraries leave threads and handlers behind.
class Library {
  public:
    /// dlopen(RTLD_NOW | RTLD_LOCAL) of the first soname that is there. Missing: `why` is "ENOENT" when none
    /// is installed, "not looked at" when not allowed, else what dlerror(3) says; `source` names the soname
    /// or the path.
    static std::variant<Library, Missing> open(const LibrarySource& source,
                                               std::initializer_list<const char*> sonames);

    /// dlsym(3), nullptr when absent.
    void* symbol(const char* name) const;
    /// The first of `names` (newest first) that is there.
    void* symbol(std::initializer_list<const char*> names) const;
    const std::string& path() const { return path_; }      ///< what was opened, links resolved
    const std::string& soname() const { return soname_; }  ///< "libnvidia-ml.so.1"

  private:
    Library(void* handle, std::string path, std::string soname);
    void* handle_;
    std::string path_, soname_;
};

}  // namespace gpucheck::vendor
