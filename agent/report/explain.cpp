// Catalogue rows and checks for readers; see explain.h.
#include "agent/report/explain.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "agent/report/escape.h"
#include "agent/report/json_text.h"
#include "agent/report/layout.h"
#include "agent/report/words.h"
#include "checks/specs/catalogue.h"

namespace gpucheck::report {
namespace {

std::string_view prefix_of(std::string_view code) {
    return code.substr(0, code.find('.'));
}

std::string bold(std::string_view text, bool colour) {
    return colour ? "\x1b[1m" + std::string(text) + "\x1b[0m" : std::string(text);
}

/// What was found: rows, checks, or both.
struct Matches {
    std::vector<const CatalogueRow*> rows;
    std::vector<const Check*> checks;
    bool whole = true;  ///< one name in full; false: a list
};

Matches find(std::string_view subject, const std::vector<Check>& checks) {
    Matches matches;
    if (const CatalogueRow* row = catalogue_row(subject)) matches.rows.push_back(row);
    for (const Check& check : checks) {
        if (check.id == subject) matches.checks.push_back(&check);
    }
    if (!matches.rows.empty() || !matches.checks.empty()) return matches;
    matches.whole = false;
    const std::string beginning =
        subject.empty() ? "" : std::string(subject) + (subject.ends_with('.') ? "" : ".");
    for (const CatalogueRow& row : catalogue()) {
        if (std::string_view(row.code).starts_with(beginning)) matches.rows.push_back(&row);
    }
    for (const Check& check : checks) {
        if (check.id.starts_with(beginning)) matches.checks.push_back(&check);
    }
    return matches;
}

std::string row_text(const CatalogueRow& row, const ExplainOptions& options) {
    std::string out = bold(row.code, options.colour) + "\n";
    const auto part = [&](std::string_view name, std::string_view text) {
        if (!text.empty()) out += paragraph(name, plain(text, kPageBytes), options.width);
    };
    part("  what      ", row.title);
    part("  at worst  ", name_of(row.severity));
    part("  cause     ", row.cause);
    part("  who       ", scope_words(row.scope));
    part("  next step ", action_words(row.action));
    part("  remedy    ", row.remedy);
    for (const std::string& reference : row.references) part("  see       ", reference);
    return out;
}

std::string_view impact_words(Impact impact) {
    switch (impact) {
        case Impact::passive:
            return "reads only, disturbs nothing";
        case Impact::interactive:
            return "uses the GPUs for a moment";
        case Impact::disruptive:
            return "loads the GPUs; refused while others compute on them";
    }
    return "";
}

// Codes that share the check's id as their beginning; "clock" has clock.wrong and clock.unread.
std::vector<std::string_view> codes_below(std::string_view id) {
    std::vector<std::string_view> codes;
    const std::string beginning = std::string(id) + ".";
    for (const CatalogueRow& row : catalogue()) {
        if (std::string_view(row.code).starts_with(beginning)) codes.push_back(row.code);
    }
    return codes;
}

std::string check_text(const Check& check, const ExplainOptions& options) {
    std::string out = bold(check.id, options.colour) + " (a check)\n";
    out += paragraph("  looks at  ", plain(check.title), options.width);
    out += paragraph("  impact    ", impact_words(check.impact), options.width);
    out += paragraph("  required  ",
                     "from profile " + std::string(name_of(check.required_from)) +
                         " on: there, not being able to look makes the verdict unknown",
                     options.width);
    const std::vector<std::string_view> codes = codes_below(check.id);
    return codes.empty() ? out
                         : out + paragraph("  codes     ", list_words(codes, codes.size()), options.width);
}

std::string list_text(const Matches& matches, const ExplainOptions& options) {
    std::string out;
    std::size_t widest = 0;
    for (const CatalogueRow* row : matches.rows) widest = std::max(widest, columns(row->code));
    for (const Check* check : matches.checks) widest = std::max(widest, columns(check->id));
    const auto line = [&](std::string_view name, std::string_view title) {
        const std::string first =
            "  " + std::string(name) + std::string(widest - std::min(widest, columns(name)) + 2, ' ');
        out += paragraph(first, plain(title), options.width);
    };
    std::string_view prefix;
    for (const CatalogueRow* row : matches.rows) {
        if (prefix_of(row->code) != prefix) {
            prefix = prefix_of(row->code);
            out += (out.empty() ? "" : "\n") + bold(prefix, options.colour) + "\n";
        }
        line(row->code, row->title);
    }
    if (!matches.checks.empty()) out += (out.empty() ? "" : "\n") + bold("checks", options.colour) + "\n";
    for (const Check* check : matches.checks) line(check->id, check->title);
    return out;
}

void row_json(JsonText& json, const CatalogueRow& row) {
    json.begin_object();
    json.key("code").text(row.code);
    json.key("title").text(row.title);
    json.key("severity").text(name_of(row.severity));
    json.key("scope").text(name_of(row.scope));
    json.key("action").text(name_of(row.action));
    json.key("cause").text(row.cause);
    json.key("remedy").text(row.remedy);
    json.key("references").begin_array();
    for (const std::string& reference : row.references) json.text(reference);
    json.end_array();
    json.end_object();
}

void check_json(JsonText& json, const Check& check) {
    json.begin_object();
    json.key("id").text(check.id);
    json.key("title").text(check.title);
    json.key("impact").text(name_of(check.impact));
    json.key("required_from").text(name_of(check.required_from));
    json.end_object();
}

std::string as_json(const Matches& matches, const std::vector<std::string_view>& near) {
    JsonText json;
    json.begin_object();
    json.key("codes").begin_array();
    for (const CatalogueRow* row : matches.rows) row_json(json, *row);
    json.end_array();
    json.key("checks").begin_array();
    for (const Check* check : matches.checks) check_json(json, *check);
    json.end_array();
    json.key("near").begin_array();
    for (const std::string_view name : near) json.text(name);
    json.end_array();
    json.end_object();
    return json.take();
}

// Levenshtein distance of two short names.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({above + 1, row[j - 1] + 1, change});
            diagonal = above;
        }
    }
    return row.back();
}

std::vector<std::string_view> all_names(const std::vector<Check>& checks) {
    std::set<std::string_view> names;
    for (const CatalogueRow& row : catalogue()) names.insert(row.code);
    for (const Check& check : checks) names.insert(check.id);
    return {names.begin(), names.end()};
}

std::string not_found(std::string_view subject, const std::vector<std::string_view>& near,
                      const ExplainOptions& options) {
    std::string text = "No code and no check is called " + plain(subject, 80) + ".";
    if (!near.empty()) text += " Did you mean " + list_words(near, near.size()) + "?";
    return paragraph("", text + " `gpucheck explain` lists all of them.", options.width);
}

}  // namespace

std::vector<std::string_view> near_names(std::string_view typed, const std::vector<std::string_view>& known) {
    constexpr std::size_t kLongestName = 80, kMost = 5;
    if (typed.empty() || typed.size() > kLongestName) return {};
    std::string lower(typed);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == '_' || c == '-' || c == ' ') c = '.';
    }
    std::vector<std::pair<std::size_t, std::string_view>> ranked;
    for (const std::string_view name : known) {
        std::size_t far = distance(lower, name);
        if (lower.size() >= 3 && name.find(lower) != std::string_view::npos)
            far = std::min(far, std::size_t{2});
        if (far <= std::max<std::size_t>(2, lower.size() / 3)) ranked.emplace_back(far, name);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < ranked.size() && i < kMost; ++i) names.push_back(ranked[i].second);
    return names;
}

Explanation render_explain(std::string_view subject, const std::vector<Check>& checks,
                           const ExplainOptions& options) {
    const Matches matches = find(subject, checks);
    Explanation result;
    result.found = !matches.rows.empty() || !matches.checks.empty();
    const std::vector<std::string_view> near =
        result.found ? std::vector<std::string_view>() : near_names(subject, all_names(checks));
    if (options.json) {
        result.text = as_json(matches, near);
    } else if (!result.found) {
        result.text = not_found(subject, near, options);
    } else if (!matches.whole) {
        result.text = list_text(matches, options);
    } else {
        for (const CatalogueRow* row : matches.rows) result.text += row_text(*row, options);
        for (const Check* check : matches.checks) result.text += check_text(*check, options);
    }
    return result;
}

}  // namespace gpucheck::report
