// What the burn-in kernels measured on one GPU and how much of it they looked at: a wrong value is worth
// nothing without its place, and a clean result nothing without its coverage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/model/fact.h"
#include "checks/model/fields.h"

namespace gpucheck {

/// One measured number: the first of many samples is dropped (it pays for page tables and clocks).
struct Quantity {
    std::string name;  ///< "read", "bf16", "h2d"
    std::string unit;  ///< "GB/s", "TFLOP/s", "us"
    double median = 0, min = 0, max = 0;
    std::uint64_t samples = 0;
    bool operator==(const Quantity&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(Quantity, name), GPUCHECK_FIELD(Quantity, unit),
                     GPUCHECK_FIELD(Quantity, median), GPUCHECK_FIELD(Quantity, min),
                     GPUCHECK_FIELD(Quantity, max), GPUCHECK_FIELD(Quantity, samples));
    }
};

/// One wrong value. Memory experiments know an offset, matrix ones the lane that computed it.
struct MismatchRecord {
    Fact<std::uint64_t> offset;  ///< bytes from the start of the tested memory
    Fact<std::uint64_t> block, wave, lane, element, chain, round;  ///< element: accumulator register
    Fact<std::uint64_t> row, column;                               ///< of the product
    Fact<std::uint64_t> unit;  ///< compute unit or SM; Missing: the value was read back by a copy
    std::uint64_t expected = 0, got = 0, difference = 0;  ///< bits; difference: expected xor got
    bool operator==(const MismatchRecord&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(MismatchRecord, offset), GPUCHECK_FIELD(MismatchRecord, block),
                     GPUCHECK_FIELD(MismatchRecord, wave), GPUCHECK_FIELD(MismatchRecord, lane),
                     GPUCHECK_FIELD(MismatchRecord, element), GPUCHECK_FIELD(MismatchRecord, chain),
                     GPUCHECK_FIELD(MismatchRecord, round), GPUCHECK_FIELD(MismatchRecord, row),
                     GPUCHECK_FIELD(MismatchRecord, column), GPUCHECK_FIELD(MismatchRecord, unit),
                     GPUCHECK_FIELD(MismatchRecord, expected), GPUCHECK_FIELD(MismatchRecord, got),
                     GPUCHECK_FIELD(MismatchRecord, difference));
    }
};

/// How often something was wrong at one place: a compute unit, an address bit.
struct PlaceCount {
    std::uint64_t place = 0, mismatches = 0;
    bool operator==(const PlaceCount&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(PlaceCount, place), GPUCHECK_FIELD(PlaceCount, mismatches));
    }
};

/// One experiment in one variant on one GPU.
struct ExperimentResult {
    std::string experiment;  ///< "memory_pattern", "matrix", ...
    std::string variant;     ///< data type, pattern or direction: "bf16", "random", "h2d"
    std::string peer;        ///< PCI address of the other GPU; empty for one GPU alone
    /// True: it ran to its end. Missing says why not: "image absent: ...", "CUDA_ERROR_OUT_OF_MEMORY" (the
    /// call is the source), "hangs", "out of time".
    Fact<bool> ran;
    std::vector<Quantity> quantities;
    Fact<bool> timed;  ///< false: tiny sizes or a simulated device; its times and rates mean nothing
    /// What was looked at of what there is. Units: SMs or compute units that computed at least one checked
    /// value.
    Fact<std::uint64_t> bytes_tested, bytes_total;
    Fact<std::uint64_t> units_tested, units_total;
    Fact<std::uint64_t> values_checked;   ///< words or elements that the device compared, as it counted them
    Fact<std::uint64_t> values_expected;  ///< how many it had to compare
    Fact<std::uint64_t> mismatches;       ///< all of them, also those without a record
    Fact<std::uint64_t> difference_mask;  ///< every bit that was wrong in any value
    std::vector<MismatchRecord> records;  ///< the first ones
    std::vector<PlaceCount> by_unit;      ///< units with mismatches
    std::vector<PlaceCount> by_address_bit;  ///< mismatches whose offset has this bit set
    /// The same seed once more after a mismatch: "sticky" (wrong again), "transient" (right); Missing: not
    /// repeated, and why.
    Fact<std::string> repeat;
    Fact<std::uint64_t> seed;
    Fact<std::string> parameters;  ///< "bytes=1073741824 reps=10": with the seed enough to run it again
    Fact<std::string> injected;    ///< the fault that --inject asked for; Missing: none
    Fact<double> duration_s;
    bool operator==(const ExperimentResult&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(
            GPUCHECK_FIELD(ExperimentResult, experiment), GPUCHECK_FIELD(ExperimentResult, variant),
            GPUCHECK_FIELD(ExperimentResult, peer), GPUCHECK_FIELD(ExperimentResult, ran),
            GPUCHECK_FIELD(ExperimentResult, quantities), GPUCHECK_FIELD(ExperimentResult, timed),
            GPUCHECK_FIELD(ExperimentResult, bytes_tested), GPUCHECK_FIELD(ExperimentResult, bytes_total),
            GPUCHECK_FIELD(ExperimentResult, units_tested), GPUCHECK_FIELD(ExperimentResult, units_total),
            GPUCHECK_FIELD(ExperimentResult, values_checked),
            GPUCHECK_FIELD(ExperimentResult, values_expected), GPUCHECK_FIELD(ExperimentResult, mismatches),
            GPUCHECK_FIELD(ExperimentResult, difference_mask), GPUCHECK_FIELD(ExperimentResult, records),
            GPUCHECK_FIELD(ExperimentResult, by_unit), GPUCHECK_FIELD(ExperimentResult, by_address_bit),
            GPUCHECK_FIELD(ExperimentResult, repeat), GPUCHECK_FIELD(ExperimentResult, seed),
            GPUCHECK_FIELD(ExperimentResult, parameters), GPUCHECK_FIELD(ExperimentResult, injected),
            GPUCHECK_FIELD(ExperimentResult, duration_s));
    }
};

/// How much of the time one cause slowed the GPU down.
struct CauseShare {
    std::string cause;  ///< "hw_thermal_slowdown", "sw_power_cap", amdgpu's "prochot"
    double share = 0;   ///< of the samples, 0 to 1
    bool operator==(const CauseShare&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(CauseShare, cause), GPUCHECK_FIELD(CauseShare, share));
    }
};

/// What the sampler saw of one GPU while its experiments ran.
struct LoadSamples {
    Fact<std::uint64_t> samples;
    Fact<double> seconds;
    Fact<Quantity> power_w, temperature_c, memory_temperature_c, clock_mhz;
    Fact<std::uint64_t> throttle_mask;        ///< NVML clocks event reasons seen at least once
    Fact<double> throttled_share;             ///< samples with a reason other than idle or a wanted limit
    Fact<std::uint64_t> link_generation_max;  ///< of the host link: the best that was seen
    Fact<std::uint64_t> link_width_min;       ///< the narrowest that was seen
    std::vector<CauseShare> throttled_by;     ///< every cause that was seen, wanted ones too
    Fact<double> power_limit_w;               ///< the limit in force
    Fact<std::uint64_t> ecc_corrected;        ///< how many more errors than at the first sample
    Fact<std::uint64_t> ecc_uncorrected;
    Fact<std::uint64_t>
        copy_samples;         ///< samples during copies over the host link: the link's facts are of these
    Fact<double> busy_share;  ///< of the samples with the GPU at work: proof that there was load
    bool operator==(const LoadSamples&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(
            GPUCHECK_FIELD(LoadSamples, samples), GPUCHECK_FIELD(LoadSamples, seconds),
            GPUCHECK_FIELD(LoadSamples, power_w), GPUCHECK_FIELD(LoadSamples, temperature_c),
            GPUCHECK_FIELD(LoadSamples, memory_temperature_c), GPUCHECK_FIELD(LoadSamples, clock_mhz),
            GPUCHECK_FIELD(LoadSamples, throttle_mask), GPUCHECK_FIELD(LoadSamples, throttled_share),
            GPUCHECK_FIELD(LoadSamples, link_generation_max), GPUCHECK_FIELD(LoadSamples, link_width_min),
            GPUCHECK_FIELD(LoadSamples, throttled_by), GPUCHECK_FIELD(LoadSamples, power_limit_w),
            GPUCHECK_FIELD(LoadSamples, ecc_corrected), GPUCHECK_FIELD(LoadSamples, ecc_uncorrected),
            GPUCHECK_FIELD(LoadSamples, copy_samples), GPUCHECK_FIELD(LoadSamples, busy_share));
    }
};

/// The burn-in of one GPU. Results that were told before a hang or a crash are kept, and `ended` says how it
/// ended.
struct BurnIn {
    Fact<std::vector<ExperimentResult>> results;
    Fact<std::string>
        ended;  ///< "finished", "hangs", "crashed", ... (agent/child); its source is the last call
    Fact<std::string> architecture;  ///< "sm_90", "gfx942": as the driver's library says it
    Fact<std::string> name;
    Fact<std::uint64_t> units;        ///< SMs or compute units that the library offers
    Fact<std::uint64_t> total_bytes;  ///< of memory
    Fact<std::string> image;          ///< which kernel image was loaded
    LoadSamples load;
    bool operator==(const BurnIn&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(BurnIn, results), GPUCHECK_FIELD(BurnIn, ended),
                     GPUCHECK_FIELD(BurnIn, architecture), GPUCHECK_FIELD(BurnIn, name),
                     GPUCHECK_FIELD(BurnIn, units), GPUCHECK_FIELD(BurnIn, total_bytes),
                     GPUCHECK_FIELD(BurnIn, image), GPUCHECK_FIELD(BurnIn, load));
    }
};

}  // namespace gpucheck
