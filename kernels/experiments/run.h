// All experiments of one GPU in an order that finds the worst first, each within its share of the time.
#pragma once

#include <string>
#include <vector>

#include "kernels/experiments/experiments.h"

namespace gpucheck::experiments {

/// What one GPU is asked.
struct Plan {
    Settings settings;
    Clock::time_point deadline;
    FindImage find_image;                         ///< kernels::find_image of the vendor
    std::function<void(std::string_view)> stage;  ///< told before each experiment
};

/// In this order; peer comes after all of them.
std::vector<Kind> order();

/// Everything but peer. `about` learns what the library says of the GPU.
void run_all_of(gpu::Gpu& gpu, const Plan& plan, BurnIn& about, const Sink& sink);

struct NamedGpu {
    std::string address;
    gpu::Gpu* gpu = nullptr;
};
/// Peer copies between every ordered pair of `gpus` (`all`), or from each to the next one. The sender's place
/// in `gpus` goes with each result.
void run_peers(const std::vector<NamedGpu>& gpus, bool all, const Plan& plan,
               const std::function<void(std::size_t, const ExperimentResult&)>& sink);

}  // namespace gpucheck::experiments
