// Policies and baselines as files: a misspelt rule that is skipped accepts what it should have rejected.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "fleet/model/policy.h"

namespace gpucheck::fleet {

/// docs/fleet-policy.schema.json. What is unknown, said twice or senseless is an error: one sentence that
/// names `file` and the rule. No expression is evaluated.
std::variant<Policy, std::string> read_policy(std::string_view text, const std::string& file = "policy");
/// Reading it gives the same policy.
std::string write_policy(const Policy& policy);

/// docs/fleet-baseline.schema.json.
std::variant<Baseline, std::string> read_baseline(std::string_view text,
                                                  const std::string& file = "baseline");
std::string write_baseline(const Baseline& baseline);

std::string_view name_of(Decision decision);
std::optional<Decision> decision_from(std::string_view name);

}  // namespace gpucheck::fleet
