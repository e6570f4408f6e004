// The work of the burn-in's children: one for each GPU, and one for the copies between them.
#pragma once

#include <chrono>
#include <vector>

#include "agent/burn_in.h"
#include "agent/child/child.h"

namespace gpucheck {

/// In the child of one GPU: everything but peer copies. Begins nothing after `deadline`.
void test_gpu(const BurnInOptions& options, const Device& device,
              std::chrono::steady_clock::time_point deadline, child::Reporter& reporter);
/// In the child of all GPUs of one vendor: copies between them.
void test_peers(const BurnInOptions& options, const std::vector<const Device*>& devices,
                std::chrono::steady_clock::time_point deadline, child::Reporter& reporter);

}  // namespace gpucheck
