// A baseline read row by row; see files.h.
#include "agent/report/report_id.h"
#include "checks/json/json.h"
#include "checks/specs/data_file.h"
#include "checks/specs/row_reader.h"
#include "fleet/analysis/files.h"
#include "fleet/analysis/metrics.h"
#include "fleet/analysis/selection.h"

namespace gpucheck::fleet {
namespace {

constexpr std::size_t kMostRows = 100'000;
constexpr double kMost = 1e12;

std::string text_or_empty(RowReader& reader, const Json& row, const char* key) {
    const Json* member = RowReader::member(row, key);
    if (member != nullptr && member->is_string() && member->get_ref<const std::string&>().empty()) return {};
    return reader.text(row, key);
}

Baseline::Row read_row(RowReader& reader, const Json& json) {
    Baseline::Row row;
    if (!reader.object(json, "row",
                       {"board", "instance_type", "driver", "profile", "mode", "memory_gib", "metric",
                        "value", "spread", "bar", "kept", "dropped"}))
        return row;
    row.group = {reader.text(json, "board"), text_or_empty(reader, json, "instance_type"),
                 text_or_empty(reader, json, "driver"), reader.text(json, "profile")};
    if (RowReader::member(json, "mode") != nullptr) row.group.mode = text_or_empty(reader, json, "mode");
    row.group.memory_gib = static_cast<unsigned>(reader.whole(json, "memory_gib", 0, 1'000'000).value_or(0));
    row.metric = reader.text(json, "metric");
    const auto number = [&](const char* key, double least) {
        const auto value = reader.number(json, key, least, kMost);
        if (!value) reader.complain(std::string(key) + " is missing");
        return value.value_or(0);
    };
    row.centre.value = number("value", 1e-6);
    row.centre.spread = number("spread", 0);
    row.centre.bar = number("bar", 0);
    const auto kept = reader.whole(json, "kept", 2, 1'000'000'000);
    if (!kept) reader.complain("kept is missing");
    row.centre.kept = kept.value_or(0);
    row.centre.dropped = reader.whole(json, "dropped", 0, 1'000'000'000).value_or(0);
    const Direction direction = direction_of(row.metric);
    if (!direction.judged) reader.complain("metric '" + row.metric + "' is not a speed");
    const bool wrong_side =
        direction.more_is_better ? row.centre.bar > row.centre.value : row.centre.bar < row.centre.value;
    if (wrong_side) reader.complain("bar lies on the better side of value");
    if (row.centre.spread > row.centre.value) reader.complain("spread is larger than value");
    return row;
}

}  // namespace

std::variant<Baseline, std::string> read_baseline(std::string_view text, const std::string& file) {
    const auto parsed = parse_data(text);
    if (const auto* error = std::get_if<std::string>(&parsed)) return file + ": " + *error;
    const Json& document = std::get<Json>(parsed);
    RowReader reader(file);
    Baseline baseline;
    if (!reader.object(document, "baseline", {"$schema", "schema_version", "created", "rows", "comment"}))
        return reader.error();
    reader.optional_text(document, "$schema");
    reader.optional_text(document, "comment");
    if (!reader.whole(document, "schema_version", 1, 1)) reader.complain("schema_version has to be 1");
    baseline.created = reader.text(document, "created");
    if (!report::unix_seconds(baseline.created))
        reader.complain("created '" + baseline.created + "' is no RFC 3339 time");
    const Json* rows = reader.array(document, "rows");
    if (rows == nullptr || !rows->is_array() || rows->empty() || rows->size() > kMostRows) {
        reader.complain("rows has to be a list of 1 to 100000 rows");
        return reader.error();
    }
    std::map<std::pair<GroupKey, std::string>, std::size_t> seen;
    for (std::size_t index = 0; index < rows->size() && reader.ok(); ++index) {
        reader.at_row("row " + std::to_string(index + 1));
        Baseline::Row row = read_row(reader, (*rows)[index]);
        const auto [known, fresh] = seen.emplace(std::pair(row.group, row.metric), index);
        if (!fresh)
            reader.complain("it says the same as row " + std::to_string(known->second + 1) + " again");
        baseline.rows.push_back(std::move(row));
    }
    if (!reader.ok()) return reader.error();
    return baseline;
}

std::string write_baseline(const Baseline& baseline) {
    Json document{{"schema_version", 1}, {"created", baseline.created}, {"rows", Json::array()}};
    for (const Baseline::Row& row : baseline.rows) {
        document["rows"].push_back({{"board", row.group.board},
                                    {"instance_type", row.group.instance_type},
                                    {"driver", row.group.driver},
                                    {"profile", row.group.profile},
                                    {"mode", row.group.mode},
                                    {"memory_gib", row.group.memory_gib},
                                    {"metric", row.metric},
                                    {"value", row.centre.value},
                                    {"spread", row.centre.spread},
                                    {"bar", row.centre.bar},
                                    {"kept", row.centre.kept},
                                    {"dropped", row.centre.dropped}});
    }
    return dump_json(document) + "\n";
}

}  // namespace gpucheck::fleet
