// Runs the experiments on all GPUs at once, each in a child of its own, so that the GPU that hangs costs its
// own results and nobody else's.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>
#include <vector>

#include "agent/vendor/library.h"
#include "checks/model/snapshot.h"
#include "kernels/experiments/settings.h"
#include "kernels/images.h"

namespace gpucheck {

/// What one GPU is doing, for a progress line.
struct BurnInProgress {
    std::string_view stage;                    ///< "matrix"; empty: unchanged
    const ExperimentResult* result = nullptr;  ///< that has just come; nullptr: none
    const LoadSamples* load = nullptr;         ///< the latest; nullptr: none
};

struct BurnInOptions {
    vendor::LibrarySource libraries;
    experiments::Settings settings;
    std::chrono::milliseconds budget{45000};  ///< for everything; nothing runs past it
    bool all_peers = false;                   ///< every ordered pair, not only each GPU and its next one
    bool forced = false;                      ///< also on GPUs that others compute on
    /// How many processes compute on each GPU of the snapshot, as KFD's list says
    /// (agent/host/kfd_processes.h); empty: not looked at. NVML's answer is in the snapshot.
    std::vector<Fact<unsigned>> kfd_processes;
    std::function<void(std::size_t gpu, const BurnInProgress&)> progress;  ///< may be empty
    std::function<Fact<kernels::Image>(Vendor, std::string_view architecture, std::string_view source)>
        find_image = kernels::find_image;
};

/// Fills `burn_in` of every GPU of the snapshot and measurements.experiments, and appends to
/// host.vendor_troubles what hung or crashed. Call it while the process has one thread.
void run_burn_in(const BurnInOptions& options, Snapshot& snapshot);

}  // namespace gpucheck
