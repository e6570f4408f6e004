// Where a moment under load is read from: NVML for NVIDIA, amdgpu's files for AMD. Nothing here waits or
// repeats; the thread that asks may hang in a call, and nobody waits for it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/burn_in_load.h"
#include "agent/host/sysroot.h"
#include "agent/vendor/library.h"
#include "checks/model/bdf.h"

namespace gpucheck {

class LoadSource {
  public:
    LoadSource() = default;
    virtual ~LoadSource() = default;
    LoadSource(const LoadSource&) = delete;
    LoadSource& operator=(const LoadSource&) = delete;

    /// Fills what this source knows. `with_ecc`: also the error counts, which take longer to read.
    virtual void sample(LoadSample& sample, bool with_ecc) = 0;
};

/// NVML's answers; `root` is where the link's files are, nullptr where this machine's are not the GPU's.
std::unique_ptr<LoadSource> nvml_source(const vendor::LibrarySource& libraries, const Bdf& bdf,
                                        const host::Sysroot* root);
/// amdgpu's files below `root`; nullptr: nothing can be read. RAS counts come through a root of `fresh` each
/// time, because a Sysroot reads them once and remembers; empty: reading sets them to zero (MI200), and they
/// are left to the reading at the beginning of the run.
std::unique_ptr<LoadSource> amdgpu_source(const host::Sysroot* root, const Bdf& bdf,
                                          std::function<host::Sysroot()> fresh);

}  // namespace gpucheck
