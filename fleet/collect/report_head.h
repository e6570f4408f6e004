// What a receiver must know of a report before it keeps it: a body that only looks like one would be answered
// 201 and be missing from the fleet.
#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace gpucheck::fleet::collect {

struct ReportHead {
    std::string report_id, created, verdict;
    bool simulated = false;
};
/// The members that docs/openapi.yaml requires, each once, of the right kinds. The error is a sentence for
/// the sender.
std::variant<ReportHead, std::string> report_head(std::string_view report);

}  // namespace gpucheck::fleet::collect
