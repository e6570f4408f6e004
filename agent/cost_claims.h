// Finds tables of price, speed and cost that contradict themselves: one row in a magazine was 158 times off.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "agent/cost_machine.h"
#include "checks/json/json.h"

namespace gpucheck {

struct ClaimReport {
    std::size_t rows = 0, wrong = 0, unreadable = 0;
    std::string text;
    Json json;
};

/// A CSV file with a header line. Columns: usd_per_hour (or usd_per_gpu_hour), tokens_per_s, and
/// usd_per_token or usd_per_million_tokens; gpus (default 1) multiplies a price per GPU; others are ignored,
/// a first column that is none of these names the row.
std::variant<ClaimReport, UsageError> check_claims(std::string_view csv, const std::string& name);

}  // namespace gpucheck
