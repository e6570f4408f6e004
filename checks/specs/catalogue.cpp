// Reads the embedded catalogue.json and adds the rows of the event catalogue; see catalogue.h.
#include "checks/specs/catalogue.h"

#include <algorithm>

#include "checks/json/json.h"
#include "checks/specs/events.h"
#include "checks/specs/row_reader.h"

extern "C" const char gpucheck_catalogue_json_begin[];
extern "C" const char gpucheck_catalogue_json_end[];

namespace gpucheck {
namespace {

std::string text_at(const Json& row, std::string_view key) {
    const Json* found = RowReader::member(row, key);
    return found != nullptr && found->is_string() ? found->get_ref<const std::string&>() : std::string();
}

std::vector<CatalogueRow> load() {
    const std::string_view text(
        gpucheck_catalogue_json_begin,
        static_cast<std::size_t>(gpucheck_catalogue_json_end - gpucheck_catalogue_json_begin));
    const auto parsed = parse_json(text);
    const Json* document = std::get_if<Json>(&parsed);
    const Json* codes = document != nullptr ? RowReader::member(*document, "codes") : nullptr;
    std::vector<CatalogueRow> rows;
    if (codes == nullptr || !codes->is_array()) return rows;
    rows.reserve(codes->size());
    for (const Json& entry : *codes) {
        const auto severity = verdict_from(text_at(entry, "severity"));
        const auto scope = scope_from(text_at(entry, "scope"));
        const auto action = action_from(text_at(entry, "action"));
        std::string code = text_at(entry, "code");
        if (!severity || !scope || !action || code.empty()) continue;
        CatalogueRow row{std::move(code),         text_at(entry, "title"),  *severity, *scope, *action,
                         text_at(entry, "cause"), text_at(entry, "remedy"), {}};
        const Json* references = RowReader::member(entry, "references");
        if (references != nullptr && references->is_array()) {
            for (const Json& reference : *references) {
                if (reference.is_string()) row.references.push_back(reference.get_ref<const std::string&>());
            }
        }
        rows.push_back(std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const CatalogueRow& a, const CatalogueRow& b) { return a.code < b.code; });
    return rows;
}

bool by_code(const CatalogueRow& a, const CatalogueRow& b) {
    return a.code < b.code;
}

// The rows of the checks' codes: most runs need no others.
const std::vector<CatalogueRow>& check_rows() {
    static const std::vector<CatalogueRow> rows = load();
    return rows;
}

const CatalogueRow* find_row(const std::vector<CatalogueRow>& rows, std::string_view code) {
    const auto found =
        std::lower_bound(rows.begin(), rows.end(), code,
                         [](const CatalogueRow& row, std::string_view wanted) { return row.code < wanted; });
    return found != rows.end() && found->code == code ? &*found : nullptr;
}

}  // namespace

const std::vector<CatalogueRow>& catalogue() {
    static const std::vector<CatalogueRow> rows = [] {
        std::vector<CatalogueRow> all = check_rows();
        // What kernel-log lines mean is written once, beside the rules that find them.
        for (const EventRow& event : event_book().rows) all.push_back(event.catalogue);
        std::stable_sort(all.begin(), all.end(), by_code);
        return all;
    }();
    return rows;
}

const CatalogueRow* catalogue_row(std::string_view code) {
    const CatalogueRow* row = find_row(check_rows(), code);
    return row != nullptr ? row : find_row(catalogue(), code);
}

}  // namespace gpucheck
