// Reads the embedded event catalogue; see events.h. Xid rows are written as a class plus what differs from
// it.
#include "checks/specs/events.h"

#include <optional>

#include "checks/json/json.h"

extern "C" const char gpucheck_events_json_begin[];
extern "C" const char gpucheck_events_json_end[];
extern "C" const char gpucheck_xids_json_begin[];
extern "C" const char gpucheck_xids_json_end[];

namespace gpucheck {
namespace {

std::string_view text_of(const char* begin, const char* end) {
    return {begin, static_cast<std::size_t>(end - begin)};
}

// Whether a row can have this code. Reports ask for the rows of codes that are none of ours to have, and must
// not read both files for nothing.
bool may_have(std::string_view code) {
    const auto stands_in = [&](std::string_view text) { return text.find(code) != std::string_view::npos; };
    return code.starts_with("xid.") ||
           stands_in(text_of(gpucheck_events_json_begin, gpucheck_events_json_end)) ||
           stands_in(text_of(gpucheck_xids_json_begin, gpucheck_xids_json_end));
}

Json document_of(const char* begin, const char* end) {
    auto parsed = parse_json(text_of(begin, end));
    Json* document = std::get_if<Json>(&parsed);
    return document != nullptr && document->is_object() ? std::move(*document) : Json::object();
}

const Json* member(const Json& object, const char* key) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

std::string text_at(const Json& row, const char* key) {
    const Json* value = member(row, key);
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

unsigned number_at(const Json& row, const char* key) {
    const Json* value = member(row, key);
    return value != nullptr && value->is_number_unsigned() ? value->get<unsigned>() : 0U;
}

bool flag_at(const Json& row, const char* key) {
    const Json* value = member(row, key);
    return value != nullptr && value->is_boolean() && value->get<bool>();
}

std::vector<std::string> texts_at(const Json& row, const char* key) {
    std::vector<std::string> texts;
    const Json* list = member(row, key);
    if (list == nullptr || !list->is_array()) return texts;
    for (const Json& entry : *list) {
        if (entry.is_string()) texts.push_back(entry.get<std::string>());
    }
    return texts;
}

const Json& list_at(const Json& document, const char* key) {
    static const Json empty = Json::array();
    const Json* list = member(document, key);
    return list != nullptr && list->is_array() ? *list : empty;
}

std::optional<EventRow> row_of(const Json& entry, std::string code) {
    const auto severity = verdict_from(text_at(entry, "severity"));
    const auto scope = scope_from(text_at(entry, "scope"));
    const auto action = action_from(text_at(entry, "action"));
    if (!severity || !scope || !action || code.empty()) return std::nullopt;
    EventRow row;
    row.catalogue = {std::move(code),
                     text_at(entry, "title"),
                     *severity,
                     *scope,
                     *action,
                     text_at(entry, "cause"),
                     text_at(entry, "remedy"),
                     texts_at(entry, "references")};
    row.verdict = verdict_from(text_at(entry, "verdict")).value_or(*severity);
    row.family = text_at(entry, "family");
    row.incident = text_at(entry, "incident");
    row.rank = static_cast<int>(number_at(entry, "rank"));
    row.hint_rank = static_cast<int>(number_at(entry, "hint_rank"));
    row.match = texts_at(entry, "match");
    row.detail = texts_at(entry, "detail");
    row.hint = texts_at(entry, "hint");
    row.without = texts_at(entry, "without");
    row.require = text_at(entry, "requires");
    row.near_miss = text_at(entry, "near_miss");
    row.decode = text_at(entry, "decode");
    row.rate_per_minute = number_at(entry, "rate_per_minute");
    row.ignore_case = flag_at(entry, "ignore_case");
    row.programs = flag_at(entry, "programs");
    row.gpus_only = flag_at(entry, "gpus_only");
    row.not_other_devices = flag_at(entry, "not_other_devices");
    row.stays = flag_at(entry, "stays");
    row.bare_metal_only = flag_at(entry, "bare_metal_only");
    return row;
}

void add(EventBook& book, std::optional<EventRow> row) {
    if (row) {
        book.rows.push_back(std::move(*row));
    } else {
        ++book.rejected;
    }
}

void read_events(EventBook& book) {
    const Json document = document_of(gpucheck_events_json_begin, gpucheck_events_json_end);
    book.anchors = texts_at(document, "anchors");
    book.contexts = texts_at(document, "contexts");
    for (const Json& entry : list_at(document, "incidents")) {
        book.incidents.push_back({text_at(entry, "name"), number_at(entry, "window_s")});
    }
    for (const Json& entry : list_at(document, "recoveries")) {
        book.recoveries.push_back({text_at(entry, "name"), texts_at(entry, "match"),
                                   text_at(entry, "requires"), texts_at(entry, "incidents"),
                                   text_at(entry, "counts_as"), text_at(entry, "not_for")});
    }
    for (const Json& entry : list_at(document, "events")) add(book, row_of(entry, text_at(entry, "code")));
}

void read_xids(EventBook& book) {
    const Json document = document_of(gpucheck_xids_json_begin, gpucheck_xids_json_end);
    const Json* classes = member(document, "classes");
    for (const Json& entry : list_at(document, "rows")) {
        std::optional<EventRow> row = row_of(entry, text_at(entry, "code"));
        if (row) row->family = "nvidia";
        add(book, std::move(row));
    }
    for (const Json& entry : list_at(document, "xids")) {
        const unsigned number = number_at(entry, "xid");
        const Json* base = classes == nullptr ? nullptr : member(*classes, text_at(entry, "class").c_str());
        if (base == nullptr || number == 0) {
            ++book.rejected;
            continue;
        }
        Json merged = *base;
        merged.update(entry);
        std::optional<EventRow> row = row_of(merged, "xid." + std::to_string(number));
        if (row) {
            row->family = "nvidia";
            row->xid = number;
        }
        add(book, std::move(row));
    }
}

EventBook load() {
    EventBook book;
    read_events(book);
    read_xids(book);
    if (book.rows.empty()) ++book.rejected;
    return book;
}

}  // namespace

const EventBook& event_book() {
    static const EventBook book = load();
    return book;
}

const EventRow* event_row(std::string_view code) {
    if (!may_have(code)) return nullptr;
    for (const EventRow& row : event_book().rows) {
        if (row.catalogue.code == code) return &row;
    }
    return nullptr;
}

const EventRow* xid_event_row(unsigned number) {
    for (const EventRow& row : event_book().rows) {
        if (number != 0 && row.xid == number) return &row;
    }
    return event_row("xid.other");
}

}  // namespace gpucheck
