// A summary's counts against its contents; see summary_tally.h.
#include "fleet/read/summary_tally.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace gpucheck::fleet {
namespace {

namespace dom = simdjson::dom;

constexpr std::array<std::string_view, 4> kDecisions{"accept", "quarantine", "reject", "no_evidence"};

/// nullopt: it is not there, there twice, or no number of things.
std::optional<std::size_t> count(const dom::object& counts, std::string_view name) {
    std::optional<std::size_t> found;
    for (const dom::key_value_pair field : counts) {
        if (field.key != name) continue;
        std::uint64_t value = 0;
        if (found || field.value.get(value) != simdjson::SUCCESS) return std::nullopt;
        found = value;
    }
    return found;
}

bool has(const dom::object& counts, std::string_view name) {
    return counts.at_key(name).error() == simdjson::SUCCESS;
}

}  // namespace

void SummaryTally::decision(std::string_view name) {
    for (std::size_t i = 0; i < kDecisions.size(); ++i) decisions[i] += name == kDecisions[i] ? 1 : 0;
}

std::string SummaryTally::wrong() const {
    if (times != 1)
        return times == 0 ? "is a summary without its counts" : "is a summary that has its counts twice";
    dom::parser parser;
    dom::element document;
    dom::object said;
    constexpr std::size_t kDepth = 4;
    if (parser.allocate(std::max<std::size_t>(counts.size(), 1), kDepth) != simdjson::SUCCESS ||
        parser.parse(counts.data(), counts.size(), true).get(document) != simdjson::SUCCESS ||
        document.get(said) != simdjson::SUCCESS)
        return "is a summary whose counts are no numbers";
    std::array<std::pair<std::string_view, std::size_t>, 8> held{
        std::pair("reports", reports), std::pair("nodes", nodes), std::pair("rejected_inputs", rejected),
        std::pair("conflicting", conflicting)};
    for (std::size_t i = 0; i < kDecisions.size(); ++i) held[4 + i] = {kDecisions[i], decisions[i]};
    for (const auto& [name, holds] : held) {
        if (name == "conflicting" && !has(said, name)) continue;  // version 1.0 did not have it at first
        const auto says = count(said, name);
        if (!says) return "is a summary whose counts lack " + std::string(name);
        if (*says != holds)
            return "is a summary that was cut or changed: it counts " + std::to_string(*says) + " " +
                   std::string(name) + " and holds " + std::to_string(holds);
    }
    // Rows that "conflicting" tells again are not read: it has to be there.
    if (sharing > 0 && conflicting < 2)
        return "is a summary that was cut or changed: reports that share an id are counted and not there";
    return {};
}

}  // namespace gpucheck::fleet
