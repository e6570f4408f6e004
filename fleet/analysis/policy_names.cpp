// Names of policies against what gpucheck measures, finds and knows; see policy_names.h.
#include "fleet/analysis/policy_names.h"

#include <algorithm>
#include <array>
#include <variant>
#include <vector>

#include "agent/report/explain.h"
#include "checks/model/rates.h"
#include "checks/specs/boards.h"
#include "checks/specs/catalogue.h"
#include "fleet/analysis/metrics.h"

namespace gpucheck::fleet {
namespace {

/// Of a report's measurements those that no speed is in (agent/report/json_measurements.cpp).
constexpr std::array<std::string_view, 2> kNeverJudged{"power_w", "capacity_bytes"};

std::string meant(const std::vector<std::string>& near) {
    std::string text;
    for (const std::string& name : near) text += (text.empty() ? "; did you mean " : ", ") + name;
    return text.empty() ? text : text + "?";
}

/// By `gpucheck explain`'s measure of nearness, which takes "_" for ".".
std::string near_metrics(std::string_view typed) {
    std::vector<std::string> dotted;
    for (const std::string_view name : metric_names()) {
        dotted.emplace_back(name);
        std::replace(dotted.back().begin(), dotted.back().end(), '_', '.');
    }
    std::vector<std::string> near;
    for (const std::string_view name : report::near_names(typed, {dotted.begin(), dotted.end()})) {
        near.emplace_back(name);
        std::replace(near.back().begin(), near.back().end(), '.', '_');
    }
    return meant(near);
}

std::string near_codes(std::string_view typed) {
    std::vector<std::string_view> known;
    for (const CatalogueRow& row : catalogue()) known.push_back(row.code);
    std::vector<std::string> near;
    for (const std::string_view name : report::near_names(typed, known)) near.emplace_back(name);
    return meant(near);
}

}  // namespace

std::string wrong_metric(std::string_view pattern) {
    const std::vector<std::string_view> known = metric_names();
    if (std::any_of(known.begin(), known.end(),
                    [&](std::string_view name) { return metric_matches(pattern, name); }))
        return {};
    std::string name(pattern);
    for (const std::string_view shown : kNeverJudged) {
        if (metric_matches(pattern, shown))
            return "metric '" + name + "' is shown and never judged: no rule can be over it";
    }
    std::string wrong = "metric '" + name + "' is nothing that gpucheck measures";
    name.erase(std::remove(name.begin(), name.end(), '*'), name.end());
    return wrong + near_metrics(name);
}

std::string wrong_code(std::string_view pattern) {
    const std::vector<CatalogueRow>& known = catalogue();
    if (std::any_of(known.begin(), known.end(),
                    [&](const CatalogueRow& row) { return code_matches(pattern, row.code); }))
        return {};
    std::string name(pattern);
    const std::string wrong = pattern.ends_with(".*")
                                  ? "no code of gpucheck's catalogue begins as '" + name + "' says"
                                  : "code '" + name + "' is not in gpucheck's catalogue";
    if (pattern.ends_with(".*")) name.erase(name.size() - 2);
    return wrong + near_codes(name);
}

std::string wrong_board(std::string_view key) {
    const auto loaded = BoardTable::load();
    const auto* table = std::get_if<BoardTable>(&loaded);
    if (table == nullptr) return std::get<std::string>(loaded);
    if (table->find(key) != nullptr) return {};
    return "board '" + std::string(key) + "' is none that gpucheck knows" + meant(table->near_keys(key));
}

bool names_a_time(std::string_view pattern) {
    const std::vector<std::string_view> known = metric_names();
    return std::any_of(known.begin(), known.end(), [&](std::string_view name) {
        return metric_matches(pattern, name) && !direction_of(name).more_is_better;
    });
}

}  // namespace gpucheck::fleet
