// What a decision rests on, read from the files that the command line names.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/report/exit_status.h"
#include "fleet/cli/options.h"
#include "fleet/model/fleet.h"
#include "fleet/model/policy.h"

namespace gpucheck::fleet {

inline constexpr int kAccepted = 0, kRejected = 1, kNotEnough = 2;

struct Judgement {
    Policy policy;
    std::optional<Baseline> baseline;
};
/// The text: which file is wrong, and how.
std::variant<Judgement, std::string> judgement(const JudgeOptions& options);

/// Reports read and judged.
struct Decided {
    Judgement judge;
    Fleet fleet;
    Analysis analysis;
    std::string baseline() const { return judge.baseline ? judge.baseline->created : std::string(); }
    int status() const;
};
/// 0; or kUsage, after a sentence on standard error.
int decide(const JudgeOptions& options, const std::vector<std::string>& paths, Decided& decided);

}  // namespace gpucheck::fleet
