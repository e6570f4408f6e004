// A cost run from command line to figures, for the command and for the report: both must say the same of one
// machine.
#pragma once

#include <string>
#include <variant>

#include "agent/cost_plan.h"
#include "agent/cost_render.h"
#include "agent/report/report.h"

namespace gpucheck {

struct Answer {
    CostPlan plan;  ///< what the result points into
    CostResult result;
};

using AnswerOutcome = std::variant<Answer, cost::Refusal, UsageError>;
AnswerOutcome answer_cost(const cli::CostOptions& options, const CostSurroundings& surroundings);

/// The report's `cost[]`: what `gpucheck cost --from` says of this very report, with its default models and
/// the three points; or why there is none. Never from a datasheet.
report::Cost cost_of(const report::Report& report, const std::string& specs_folder);

}  // namespace gpucheck
