// Finds the vendor libraries that the judged process would load: a link-time stub, a leftover of another
// driver version or a zero-byte file in front of the real one makes healthy GPUs invisible.
#pragma once

#include <vector>

#include "agent/host/sysroot.h"
#include "checks/model/host.h"

namespace gpucheck::host {

/// libcuda, libnvidia-ml, libamdhip64, librocm_smi64, libamd_smi and libhsa-runtime64, each in the order of
/// ld.so(8): LD_LIBRARY_PATH of the judged process, the folders of ld.so.conf, the default folders; then
/// /opt/rocm/lib ("rocm"), which ROCm programs name by RPATH. Windows' own libraries of WSL are left out.
std::vector<Library> read_libraries(const Sysroot& root);

}  // namespace gpucheck::host
