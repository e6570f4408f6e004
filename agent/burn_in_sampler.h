// Watches a GPU while its experiments run: a link, a clock or a throttle reason says nothing when the GPU is
// idle.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "agent/burn_in_load.h"
#include "agent/vendor/library.h"
#include "checks/model/device.h"

namespace gpucheck {

/// What to watch, and where from.
struct SamplerTarget {
    Bdf bdf;
    Vendor vendor = Vendor::nvidia;
    vendor::LibrarySource libraries;
    bool files = true;          ///< this machine's sysfs belongs to this GPU (not with replaced libraries)
    bool counts_reset = false;  ///< MI200: reading its RAS counts sets them to zero
};

/// Twenty times a second from a thread of its own, in a child. `tell` hears the summary so far every second
/// and at the end, from that thread.
class Sampler {
  public:
    Sampler(SamplerTarget target, std::function<void(const LoadSamples&)> tell);
    /// Waits a second for the last sample; a call that hangs is left behind.
    ~Sampler();
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;

    /// What the GPU does from now on: the link counts while "host_link" runs, and only then.
    void enter(std::string_view stage);

  private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
};

}  // namespace gpucheck
