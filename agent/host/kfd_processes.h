// Finds AMD GPUs that somebody computes on: a test there would slow a customer's job down and judge the GPU
// by it.
#pragma once

#include <vector>

#include "agent/host/sysroot.h"
#include "checks/model/device.h"

namespace gpucheck::host {

/// How many processes hold memory or a queue on this GPU or one of its partitions, by KFD's list; a process
/// that has only opened KFD does not count, nor do those of `own`. Missing: no such list (ENOENT on kernels
/// without it), or a part of it that cannot be read.
Fact<unsigned> read_kfd_processes(const Sysroot& root, const Device& gpu, const std::vector<unsigned>& own);

}  // namespace gpucheck::host
