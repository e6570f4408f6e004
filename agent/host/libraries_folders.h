// The folders in which the dynamic loader looks, in its order; the first library found there is the one that
// runs.
#pragma once

#include <string>
#include <vector>

#include "agent/host/sysroot.h"

namespace gpucheck::host {

struct LibraryFolder {
    std::string path;      ///< as configured
    std::string found_by;  ///< "LD_LIBRARY_PATH", "ld.so.conf", "default", "rocm"
    bool operator==(const LibraryFolder&) const = default;
};

/// At most 128 folders, each path once.
std::vector<LibraryFolder> library_folders(const Sysroot& root);

}  // namespace gpucheck::host
