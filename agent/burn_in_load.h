// What was seen of a GPU under load, moment by moment, and what it adds up to: shares of time with their
// causes, and the link's state from moments of copying alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checks/model/amd_telemetry.h"
#include "checks/model/measurement.h"

namespace gpucheck {

/// One moment. What could not be read keeps its reason.
struct LoadSample {
    Fact<double> power_w, power_limit_w, temperature_c, memory_temperature_c, clock_mhz;
    Fact<std::uint64_t> throttle_mask;  ///< NVML: bits of nvmlClocksEventReason*
    AmdResidency residency;             ///< amdgpu: running totals, or bits of this moment
    Fact<std::uint64_t> link_generation, link_width;
    Fact<std::uint64_t> ecc_corrected, ecc_uncorrected;  ///< running totals
    bool ecc_read = true;  ///< false: not asked at this moment, the facts above say nothing
    Fact<bool> busy;       ///< the GPU was at work
    bool copying = false;  ///< something was on its way over the host link
};

class LoadHistory {
  public:
    void add(const LoadSample& sample);
    LoadSamples summary(double seconds) const;

  private:
    /// The values of one fact so far; without any, why.
    struct Series {
        std::vector<double> values;
        Missing why{"", "no sample"};
        std::string source;
        void add(const Fact<double>& fact);
        Fact<Quantity> quantity(const char* name, const char* unit) const;
        std::vector<double> sorted() const;
    };
    /// How far a counter ran since it was first read.
    struct Counter {
        bool wraps = true;  ///< 32 bits wide: what falls from its upper half went round
        std::optional<std::uint64_t> last = std::nullopt;
        std::uint64_t grown = 0, readings = 0;
        Missing why{"", "no sample"};
        std::string source = {};
        void add(const Fact<std::uint64_t>& fact);
        Fact<std::uint64_t> growth() const;
    };
    struct Link {
        std::uint64_t generation = 0;
        std::optional<std::uint64_t> width;
        std::uint64_t samples = 0;
        Missing why{"", "no copy over the host link was sampled"};
        std::string source;
    };

    void add_reasons(const LoadSample& sample);
    void add_link(const LoadSample& sample);
    void state_reasons(LoadSamples& load) const;
    void state_link(LoadSamples& load) const;

    std::uint64_t samples_ = 0, busy_ = 0, busy_known_ = 0;
    Missing busy_why_{"", "no sample"};
    std::string busy_source_;
    Series power_, limit_, temperature_, memory_temperature_, clock_;
    std::uint64_t masks_ = 0, mask_ = 0, throttled_ = 0;  ///< samples with reasons, all bits, unwanted ones
    Missing reasons_why_{"", "no sample"};
    std::string reasons_source_;
    std::map<std::string, std::uint64_t> seen_;  ///< samples by cause
    std::map<std::string, Counter> residency_;   ///< by cause
    Counter residency_total_, corrected_{.wraps = false}, uncorrected_{.wraps = false};
    Link link_;
};

}  // namespace gpucheck
