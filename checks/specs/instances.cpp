// Loads instances.json and finds the row of a type; see instances.h.
#include "checks/specs/instances.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "checks/specs/data_file.h"
#include "checks/specs/expect.h"

extern "C" const char gpucheck_instances_json_begin[];
extern "C" const char gpucheck_instances_json_end[];

namespace gpucheck {
namespace {

constexpr const char* kFile = "instances.json";

bool same_without_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

bool is_date(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
    for (const std::size_t i : {0U, 1U, 2U, 3U, 5U, 6U, 8U, 9U}) {
        if (text[i] < '0' || text[i] > '9') return false;
    }
    const std::string_view month = text.substr(5, 2), day = text.substr(8);
    return month >= "01" && month <= "12" && day >= "01" && day <= "31";
}

std::optional<unsigned> small(RowReader& reader, const Json& json, std::string_view key, std::uint64_t max) {
    const auto value = reader.whole(json, key, 0, max);
    return value ? std::optional(static_cast<unsigned>(*value)) : std::nullopt;
}

InstanceRow read_row(const Json& json, RowReader& reader) {
    InstanceRow row;
    if (!reader.object(json, "the row",
                       {"provider", "type", "board", "gpu_count", "gpu_link", "compute_partition",
                        "memory_partition", "pcie_generation", "pcie_width", "local_nvme_count", "nic_count",
                        "source", "as_of", "unverified", "note"})) {
        return row;
    }
    row.provider = reader.text(json, "provider");
    row.type = reader.text(json, "type");
    row.board = reader.optional_text(json, "board");
    const auto count = small(reader, json, "gpu_count", kMostGpus);
    if (!count) reader.complain("gpu_count is missing");
    row.gpu_count = count.value_or(0);
    row.gpu_link = reader.optional_text(json, "gpu_link").value_or("");
    if (!row.gpu_link.empty() && row.gpu_link != "nvlink" && row.gpu_link != "xgmi") {
        reader.complain("gpu_link is neither nvlink nor xgmi");
    }
    row.compute_partition = reader.optional_text(json, "compute_partition");
    row.memory_partition = reader.optional_text(json, "memory_partition");
    if (row.compute_partition && !is_compute_partition(*row.compute_partition)) {
        reader.complain("compute_partition is none of SPX, DPX, TPX, QPX, CPX");
    }
    if (row.memory_partition && !is_memory_partition(*row.memory_partition)) {
        reader.complain("memory_partition is none of NPS1, NPS2, NPS4, NPS8");
    }
    row.pcie_generation = small(reader, json, "pcie_generation", 7);
    if (row.pcie_generation == 0U) reader.complain("pcie_generation is 0");
    row.pcie_width = small(reader, json, "pcie_width", 32);
    if (row.pcie_width && !is_link_width(*row.pcie_width))
        reader.complain("pcie_width is not a width that a link can have");
    row.local_nvme_count = small(reader, json, "local_nvme_count", 128);
    row.nic_count = small(reader, json, "nic_count", 128);
    row.source = reader.text(json, "source");
    row.as_of = reader.text(json, "as_of");
    if (!is_date(row.as_of)) reader.complain("as_of is not a date like 2026-10-08");
    row.note = reader.optional_text(json, "note").value_or("");
    if (const Json* list = reader.array(json, "unverified")) {
        for (const Json& field : *list) {
            if (!field.is_string() ||
                RowReader::member(json, field.get_ref<const std::string&>()) == nullptr) {
                reader.complain("unverified names something that is no field of the row");
                return row;
            }
            row.unverified.push_back(field.get_ref<const std::string&>());
        }
    }
    return row;
}

}  // namespace

bool InstanceRow::is_unverified(std::string_view field) const {
    return std::find(unverified.begin(), unverified.end(), field) != unverified.end();
}

std::variant<InstanceTable, std::string> InstanceTable::load(const std::string& folder,
                                                             const BoardTable* boards) {
    try {
        const std::string_view embedded(
            gpucheck_instances_json_begin,
            static_cast<std::size_t>(gpucheck_instances_json_end - gpucheck_instances_json_begin));
        auto file = load_data_file(folder, kFile, embedded);
        if (auto* error = std::get_if<std::string>(&file)) return std::move(*error);
        const DataFile& data = std::get<DataFile>(file);
        InstanceTable table;
        std::string error = table.read(data, data.overridden ? boards : nullptr);
        if (!error.empty()) return error;
        return table;
    } catch (const std::exception& error) {  // out of memory: nothing else throws
        return std::string(kFile) + ": " + error.what();
    }
}

std::string InstanceTable::read(const DataFile& file, const BoardTable* boards) {
    const Json& document = file.document;
    RowReader reader(file.name);
    if (!reader.object(document, "the file", {"$schema", "schema_version", "type_suffixes", "rows"}))
        return reader.error();
    if (reader.whole(document, "schema_version", 0, 1000000) != 1) reader.complain("schema_version is not 1");
    if (const Json* suffixes = RowReader::member(document, "type_suffixes"); suffixes != nullptr) {
        if (!suffixes->is_object()) reader.complain("type_suffixes is not an object");
        if (!reader.ok()) return reader.error();
        for (const auto& [provider, list] : suffixes->get_ref<const Json::object_t&>()) {
            if (!list.is_array()) reader.complain("type_suffixes holds something that is no array");
            for (const Json& suffix : list) {
                if (!suffix.is_string() || suffix.get_ref<const std::string&>().empty()) {
                    reader.complain("a type suffix is no text");
                    return reader.error();
                }
                suffixes_.emplace_back(provider, suffix.get_ref<const std::string&>());
            }
        }
    }
    const Json* rows = reader.array(document, "rows");
    if (rows == nullptr) reader.complain("rows are missing");
    if (!reader.ok()) return reader.error();
    rows_.reserve(rows->size());
    for (const Json& json : *rows) {
        reader.at_row("row " + std::to_string(rows_.size() + 1));
        InstanceRow row = read_row(json, reader);
        if (!reader.ok()) return reader.error();
        reader.at_row("row " + std::to_string(rows_.size() + 1) + " (" + row.provider + " " +
                      row.type.substr(0, 60) + ")");
        const bool twice = std::any_of(rows_.begin(), rows_.end(), [&](const InstanceRow& other) {
            return other.provider == row.provider && same_without_case(other.type, row.type);
        });
        if (twice) reader.complain("this type stands twice");
        if (boards != nullptr && row.board && boards->find(*row.board) == nullptr) {
            reader.complain("board '" + row.board->substr(0, 60) + "' has no row in gpus.json");
        }
        if (!reader.ok()) return reader.error();
        rows_.push_back(std::move(row));
    }
    return reader.error();
}

std::optional<InstanceRow> InstanceTable::find(std::string_view provider, std::string_view type) const {
    if (provider == "gcp") {
        const std::size_t slash = type.rfind('/');
        if (slash != std::string_view::npos) type.remove_prefix(slash + 1);
    }
    const auto row_of = [&](std::string_view wanted) -> const InstanceRow* {
        for (const InstanceRow& row : rows_) {
            if (row.provider != provider) continue;
            if (row.type == wanted || (provider == "azure" && same_without_case(row.type, wanted)))
                return &row;
        }
        return nullptr;
    };
    if (const InstanceRow* row = row_of(type)) return *row;
    for (const auto& [owner, suffix] : suffixes_) {
        if (owner != provider || !type.ends_with(suffix)) continue;
        if (const InstanceRow* row = row_of(type.substr(0, type.size() - suffix.size()))) return *row;
    }
    return std::nullopt;
}

std::optional<InstanceRow> find_instance(std::string_view provider, std::string_view type) {
    static const auto table = InstanceTable::load();
    const auto* loaded = std::get_if<InstanceTable>(&table);
    return loaded != nullptr ? loaded->find(provider, type) : std::nullopt;
}

Expectations expectations_of(const InstanceRow& row) {
    Expectations expected;
    const auto source = [&](std::string_view field) {
        return "instances.json: " + row.provider + " " + row.type + " (as of " + row.as_of +
               (row.is_unverified(field) ? ", unverified)" : ")");
    };
    const auto missing = [&](std::string_view field) {
        return Missing{source(field), "no " + std::string(field) + " in this row"};
    };
    const auto set = [&](auto& fact, const auto& value, std::string_view field) {
        if (value) {
            fact = {*value, source(field)};
        } else {
            fact = missing(field);
        }
    };
    expected.gpu_count = Fact<unsigned>(row.gpu_count, source("gpu_count"));
    set(expected.board, row.board, "board");
    set(expected.compute_partition, row.compute_partition, "compute_partition");
    set(expected.memory_partition, row.memory_partition, "memory_partition");
    set(expected.pcie_generation, row.pcie_generation, "pcie_generation");
    set(expected.pcie_width, row.pcie_width, "pcie_width");
    set(expected.gpu_link, row.gpu_link.empty() ? std::nullopt : std::optional(row.gpu_link), "gpu_link");
    set(expected.rdma_nics, row.nic_count, "nic_count");
    set(expected.local_nvme, row.local_nvme_count, "local_nvme_count");
    return expected;
}

}  // namespace gpucheck
