// When a measured time may be judged at all, and what a part of a GPU or one under a lower power limit may be
// asked for: said once, so that no check calls a simulated, sliced or capped GPU slow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checks/gpus.h"
#include "checks/model/rates.h"

namespace gpucheck {

/// So many samples make a repetition: with fewer a low rate is a warning at most.
inline constexpr std::uint64_t kRepeated = 3;

/// Why there is nothing to judge.
NotApplicable without_burn_in(const Snapshot& snapshot);
/// The GPUs with results.
Gpus tested_gpus(const Snapshot& snapshot);
/// Why the times of this GPU mean nothing; nullopt when one result at least was timed.
std::optional<std::string> untimed(const Device& gpu);
/// `id`, not_applicable, for a GPU whose times mean nothing.
Finding not_by_time(std::string_view id, const Device& gpu, const std::string& why);

std::vector<MeasuredRate> rates_of(const Device& gpu);
/// The rates under these names alone.
std::vector<MeasuredRate> rates_of(const Device& gpu, std::string_view prefix);

/// Why an experiment that should have given a rate gave none: "memory_stream: not run". What went wrong in it
/// is said by the check "burn" and is empty here. `each`: every variant must, else one: some number formats
/// are compared and not timed on purpose.
std::string rate_gap(const Device& gpu, std::string_view experiment, bool each);
/// `burn.rate.unmeasured`, unknown.
Finding unmeasured(const Device& gpu, const std::string& gap);

/// A compute partition, a MIG instance, a vGPU or an SR-IOV slice.
bool is_split(const Device& gpu);
/// The same, or nobody could ask.
bool may_be_split(const Device& gpu);

/// The part of a whole board's figure that this GPU may be asked for.
struct Share {
    double factor = 1;  ///< 0: nobody knows
    std::string text;   ///< " x 38 of 304 units"; empty for a whole board
};
/// By compute units, and by memory where that is a smaller part: a compute partition or a MIG instance.
Share partition_share(const Device& gpu);
/// Below its default power limit a GPU is slower by as much at most.
Share power_share(const Device& gpu);

/// The limit of power in force and the one it is shipped with, in watts.
Fact<double> power_limit_w(const Device& gpu);
Fact<double> default_power_limit_w(const Device& gpu);

/// What the host link did while something was copied over it.
struct LinkUnderLoad {
    unsigned generation = 0;
    std::uint64_t samples = 0;
    std::optional<unsigned> width;  ///< the narrowest that was seen at this generation
    std::string source;
};
/// nullopt unless copies ran and the link was sampled during them often enough.
std::optional<LinkUnderLoad> link_under_load(const Device& gpu);

/// A missing fact of the sampler: not_applicable under `id` where the GPU does not offer it or the run was a
/// simulated one, else `burn.load.unread`, unknown.
Finding unsampled(std::string_view id, const Device& gpu, std::string expected, const Missing& missing);
/// The same for a GPU that was not sampled often enough; nullopt when it was.
std::optional<Finding> too_few_samples(std::string_view id, const Device& gpu, const std::string& expected);

/// "4177.3".
std::string number_text(double number);
double median_of(std::vector<double> values);

}  // namespace gpucheck
