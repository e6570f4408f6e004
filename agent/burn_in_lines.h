// What a burn-in child tells its parent, one line of JSON each, so that everything said before a hang is
// kept.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "checks/model/measurement.h"

namespace gpucheck {

/// One line. Of the members one alone is set, and `sender` with `result` between GPUs.
struct BurnInLine {
    std::optional<ExperimentResult> result;
    std::optional<BurnIn> about;  ///< without results
    std::optional<LoadSamples> load;
    std::optional<std::string> stage;
    std::optional<Missing> missing;  ///< the library or the GPU could not be opened
    std::uint64_t sender = 0;        ///< between GPUs: whose result it is
};

std::string text_of(const BurnInLine& line);
/// nullopt: not one of ours. A child whose library wrote into its memory may say anything.
std::optional<BurnInLine> parse_burn_in_line(std::string_view text);

}  // namespace gpucheck
