// What a decision rests on, read from the files that the command line names.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "agent/report/exit_status.h"
#include "fleet/cli/options.h"
#include "fleet/model/policy.h"

namespace gpucheck::fleet {

inline constexpr int kAccepted = 0, kRejected = 1, kNotEnough = 2;

struct Judgement {
    Policy policy;
    std::optional<Baseline> baseline;
};
/// The text: which file is wrong, and how.
std::variant<Judgement, std::string> judgement(const JudgeOptions& options);

}  // namespace gpucheck::fleet
