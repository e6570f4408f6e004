// Reads faults.json; see fault_table.h.
#include "providers/render/fault_table.h"

#include <algorithm>

#include "checks/json/json.h"
#include "checks/specs/data_file.h"
#include "checks/specs/row_reader.h"

extern "C" const char gpucheck_faults_json_begin[];
extern "C" const char gpucheck_faults_json_end[];

namespace gpucheck::faults {
namespace {

// The codes of a row; complains about anything else.
std::vector<std::string> codes_of(RowReader& reader, const Json& row) {
    std::vector<std::string> codes;
    if (const Json* list = reader.array(row, "codes")) {
        for (const Json& code : *list) {
            if (code.is_string()) codes.push_back(code.get<std::string>());
        }
        if (codes.empty() || codes.size() != list->size()) reader.complain("codes: needs texts");
    } else {
        reader.complain("codes is missing");
    }
    return codes;
}

}  // namespace

std::variant<FaultTable, std::string> FaultTable::parse(std::string_view text) {
    const auto parsed = parse_data(text);
    if (const auto* error = std::get_if<std::string>(&parsed)) return "faults.json: " + *error;
    const Json& document = std::get<Json>(parsed);
    RowReader reader("faults.json");
    FaultTable table;
    const auto add = [&table](const std::string& code, std::size_t row, const std::string& why) {
        const bool pattern = code.size() > 2 && code.compare(code.size() - 2, 2, ".*") == 0;
        table.entries_.push_back({pattern ? code.substr(0, code.size() - 1) : code, pattern, row, why});
    };
    if (!reader.object(document, "the document", {"sources", "faults", "not_offered"})) return reader.error();
    if (const Json* rows = reader.array(document, "faults")) {
        for (const Json& row : *rows) {
            if (!reader.object(row, "a fault", {"tag", "codes", "azure", "gcp", "gke", "aws", "nvsentinel"}))
                break;
            for (const std::string& code : codes_of(reader, row)) add(code, table.rows_.size(), {});
            table.rows_.push_back({reader.text(row, "tag"), reader.text(row, "azure"),
                                   reader.text(row, "gcp"), reader.text(row, "gke"), reader.text(row, "aws"),
                                   reader.text(row, "nvsentinel")});
        }
    }
    if (const Json* rows = reader.array(document, "not_offered")) {
        for (const Json& row : *rows) {
            if (!reader.object(row, "a code that is not offered", {"codes", "why"})) break;
            const std::string why = reader.text(row, "why");
            for (const std::string& code : codes_of(reader, row)) add(code, 0, why);
        }
    }
    if (!reader.ok()) return reader.error();
    if (table.rows_.empty()) return "faults.json: no faults";
    return table;
}

const std::variant<FaultTable, std::string>& FaultTable::embedded() {
    static const auto table =
        parse({gpucheck_faults_json_begin,
               static_cast<std::size_t>(gpucheck_faults_json_end - gpucheck_faults_json_begin)});
    return table;
}

const FaultTable::Entry* FaultTable::entry(std::string_view code) const {
    const Entry* best = nullptr;
    for (const Entry& entry : entries_) {
        if (!entry.pattern && entry.code == code) return &entry;
        if (entry.pattern && code.substr(0, entry.code.size()) == entry.code &&
            (best == nullptr || entry.code.size() > best->code.size()))
            best = &entry;
    }
    return best;
}

const FaultRow* FaultTable::row(std::string_view code) const {
    const Entry* found = entry(code);
    return found != nullptr && found->why.empty() ? &rows_[found->row] : nullptr;
}

std::string_view FaultTable::why_not(std::string_view code) const {
    const Entry* found = entry(code);
    return found != nullptr ? std::string_view(found->why) : std::string_view();
}

std::vector<std::string> FaultTable::codes() const {
    std::vector<std::string> all;
    for (const Entry& entry : entries_) all.push_back(entry.code + (entry.pattern ? "*" : ""));
    return all;
}

}  // namespace gpucheck::faults
