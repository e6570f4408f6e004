// The page's data as one JSON object; what does not fit is counted in it, so that nothing is left out
// silently.
#include "fleet/page/data.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "agent/report/words.h"
#include "checks/specs/catalogue.h"

namespace gpucheck::fleet {
namespace {

constexpr std::size_t kMostRejected = 2000;
constexpr std::size_t kSentenceBytes = 2000;

void add_rejected(PageData& data) {
    std::vector<std::pair<std::string, std::string>> rows;
    for (const Rejected& one : data.fleet.rejected) rows.emplace_back(one.where, one.why);
    std::sort(rows.begin(), rows.end());  // the order of reading is nobody's business
    data.json.key("rejected_all");
    data.json.whole(static_cast<std::int64_t>(rows.size()));
    data.json.key("rejected");
    data.json.open('[');
    if (rows.size() > kMostRejected) rows.resize(kMostRejected);
    for (const auto& [where, why] : rows) {
        data.json.text(where);
        data.json.text(why);
    }
    data.json.close(']');
}

// What each code means and what to do, once; a code that the catalogue does not know has only its name.
void add_codes(PageData& data) {
    std::vector<std::string_view> codes;
    for (std::size_t node = 0; node < data.listed; ++node) {
        for (const Problem& problem : data.report(node).problems)
            codes.push_back(data.fleet.names.text(problem.code));
    }
    for (const Common& common : data.analysis.commons) codes.push_back(common.problem);
    std::sort(codes.begin(), codes.end());
    codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
    const std::vector<CatalogueRow>& rows = catalogue();
    data.json.key("codes");
    data.json.open('{');
    for (const std::string_view code : codes) {
        const auto row =
            std::lower_bound(rows.begin(), rows.end(), code,
                             [](const CatalogueRow& a, std::string_view b) { return a.code < b; });
        if (row == rows.end() || row->code != code) continue;
        data.json.key(code);
        data.json.open('[');
        data.json.text(row->title);
        data.json.text(row->cause, kSentenceBytes);
        data.json.text(row->remedy, kSentenceBytes);
        data.json.close(']');
    }
    data.json.close('}');
}

void add_words(JsonText& json) {
    json.key("actions");
    json.open('{');
    for (int i = 0; i <= static_cast<int>(Action::contact_provider); ++i) {
        const auto action = static_cast<Action>(i);
        json.member(name_of(action), report::action_words(action));
    }
    json.close('}');
    json.key("scopes");
    json.open('{');
    for (const Scope scope : {Scope::guest, Scope::host, Scope::unknown})
        json.member(name_of(scope), report::scope_words(scope));
    json.close('}');
}

}  // namespace

std::string page_data(const Fleet& fleet, const Analysis& analysis, const PageOptions& options) {
    PageData data{.fleet = fleet, .analysis = analysis, .listed = 0, .names = {}, .json = {}};
    data.listed = std::min(options.max_nodes, analysis.nodes.size());
    data.json.open('{');
    data.json.key("nodes_all");
    data.json.whole(static_cast<std::int64_t>(analysis.nodes.size()));
    data.json.texts("why", analysis.why, kSentenceBytes);
    data.json.texts("notes", analysis.notes, kSentenceBytes);
    add_nodes(data);
    add_gpus(data);
    add_reasons(data);
    add_problems(data);
    add_checks(data);
    add_history(data);
    add_costs(data);
    add_groups(data);
    add_outliers(data);
    add_shared_causes(data);
    add_rejected(data);
    add_codes(data);
    add_words(data.json);
    data.json.texts("names", data.names.all());
    data.json.close('}');
    return data.json.str();
}

}  // namespace gpucheck::fleet
