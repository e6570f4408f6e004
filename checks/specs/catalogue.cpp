// Reads the embedded catalogue.json and adds the rows of the event catalogue; see catalogue.h.
#include "checks/specs/catalogue.h"

#include <algorithm>
#include <map>
#include <optional>

#include "checks/json/elements.h"
#include "checks/json/json.h"
#include "checks/specs/events.h"
#include "checks/specs/row_reader.h"

extern "C" const char gpucheck_catalogue_json_begin[];
extern "C" const char gpucheck_catalogue_json_end[];

namespace gpucheck {
namespace {

constexpr std::size_t kBeforeCode = 40;  // bytes: bracket, line end, indentation, "code":

std::string text_at(const Json& row, std::string_view key) {
    const Json* found = RowReader::member(row, key);
    return found != nullptr && found->is_string() ? found->get_ref<const std::string&>() : std::string();
}

// One row as it stands in the file; nullopt when it does not parse.
std::optional<CatalogueRow> row_of(std::string_view text) {
    const auto parsed = parse_json(text);
    const Json* entry = std::get_if<Json>(&parsed);
    if (entry == nullptr) return std::nullopt;
    const auto severity = verdict_from(text_at(*entry, "severity"));
    const auto scope = scope_from(text_at(*entry, "scope"));
    const auto action = action_from(text_at(*entry, "action"));
    std::string code = text_at(*entry, "code");
    if (!severity || !scope || !action || code.empty()) return std::nullopt;
    CatalogueRow row{std::move(code),          text_at(*entry, "title"),  *severity, *scope, *action,
                     text_at(*entry, "cause"), text_at(*entry, "remedy"), {}};
    const Json* references = RowReader::member(*entry, "references");
    if (references != nullptr && references->is_array()) {
        for (const Json& reference : *references) {
            if (reference.is_string()) row.references.push_back(reference.get_ref<const std::string&>());
        }
    }
    return row;
}

const std::vector<std::string_view>& unread_rows() {
    static const std::vector<std::string_view> texts =
        elements_of({gpucheck_catalogue_json_begin,
                     static_cast<std::size_t>(gpucheck_catalogue_json_end - gpucheck_catalogue_json_begin)},
                    "codes");
    return texts;
}

std::vector<CatalogueRow> load() {
    std::vector<CatalogueRow> rows;
    rows.reserve(unread_rows().size());
    for (const std::string_view text : unread_rows()) {
        if (std::optional<CatalogueRow> row = row_of(text)) rows.push_back(std::move(*row));
    }
    return rows;
}

bool by_code(const CatalogueRow& a, const CatalogueRow& b) {
    return a.code < b.code;
}

// The row of a check's code, read when it is first asked for: a run needs the rows of what it found. nullptr:
// no such row.
const CatalogueRow* check_row(std::string_view code) {
    static std::map<std::string, std::optional<CatalogueRow>, std::less<>> rows;
    auto known = rows.find(code);
    if (known == rows.end()) {
        std::optional<CatalogueRow> found;
        const std::string quoted = '"' + std::string(code) + '"';
        for (const std::string_view text : unread_rows()) {
            // Each row begins with its code, as a test demands: other rows that name it are not read.
            if (text.substr(0, quoted.size() + kBeforeCode).find(quoted) == std::string_view::npos) continue;
            found = row_of(text);
            if (found && found->code == code) break;
            found.reset();
        }
        known = rows.emplace(code, std::move(found)).first;
    }
    return known->second ? &*known->second : nullptr;
}

}  // namespace

const std::vector<CatalogueRow>& catalogue() {
    static const std::vector<CatalogueRow> rows = [] {
        std::vector<CatalogueRow> all = load();
        // What kernel-log lines mean is written once, beside the rules that find them.
        for (const EventRow& event : event_book().rows) all.push_back(event.catalogue);
        std::stable_sort(all.begin(), all.end(), by_code);
        return all;
    }();
    return rows;
}

const CatalogueRow* catalogue_row(std::string_view code) {
    if (const CatalogueRow* row = check_row(code)) return row;
    const EventRow* event = event_row(code);
    return event != nullptr ? &event->catalogue : nullptr;
}

}  // namespace gpucheck
