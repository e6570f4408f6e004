// Watches a GPU while its experiments run: a link, a clock or a throttle reason says nothing when the GPU is
// idle.
#pragma once

#include <functional>
#include <memory>

#include "agent/vendor/library.h"
#include "checks/model/device.h"

namespace gpucheck {

/// What to watch, and where from.
struct SamplerTarget {
    Bdf bdf;
    Vendor vendor = Vendor::nvidia;
    vendor::LibrarySource libraries;
    bool files = true;  ///< this machine's sysfs belongs to this GPU (not with replaced libraries)
};

/// Ten times a second from a thread of its own, in a child. `tell` hears the summary so far every second and
/// at the end, from that thread.
class Sampler {
  public:
    Sampler(SamplerTarget target, std::function<void(const LoadSamples&)> tell);
    /// Waits a second for the last sample; a call that hangs is left behind.
    ~Sampler();
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;

  private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
};

/// One moment; for the summary alone, so that it can be tested.
struct LoadSample {
    std::optional<double> power_w, temperature_c, memory_temperature_c, clock_mhz;
    std::optional<std::uint64_t> throttle_mask, link_generation, link_width;
};
LoadSamples summarise(const std::vector<LoadSample>& samples, double seconds, const std::string& source);

}  // namespace gpucheck
