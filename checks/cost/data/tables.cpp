// Loads the data files; see tables.h.
#include "checks/cost/data/tables.h"

#include <algorithm>
#include <functional>

#include "checks/cost/data/instance_prices.h"
#include "checks/cost/data/rows.h"
#include "checks/specs/data_file.h"

extern "C" const char gpucheck_models_json_begin[];
extern "C" const char gpucheck_models_json_end[];
extern "C" const char gpucheck_board_rates_json_begin[];
extern "C" const char gpucheck_board_rates_json_end[];
extern "C" const char gpucheck_reference_rows_json_begin[];
extern "C" const char gpucheck_reference_rows_json_end[];
extern "C" const char gpucheck_prices_json_begin[];
extern "C" const char gpucheck_prices_json_end[];

namespace gpucheck::cost {
namespace {

using ReadRow = std::function<void(const Json&, RowReader&)>;
struct List {
    std::string_view name;
    ReadRow read;
    bool optional = false;  ///< files that operators wrote before the list existed
};

std::string row_name(std::size_t number, const Json& row) {
    std::string name = "row " + std::to_string(number);
    for (const char* key : {"key", "board"}) {
        const Json* text = RowReader::member(row, key);
        if (text != nullptr && text->is_string()) name += " (" + text->get<std::string>().substr(0, 60) + ")";
    }
    return name;
}

// The complaint, or empty.
std::string read_file(const std::string& folder, const std::string& name, const char* begin, const char* end,
                      const std::vector<List>& lists) {
    auto loaded =
        load_data_file(folder, name, std::string_view(begin, static_cast<std::size_t>(end - begin)));
    if (auto* error = std::get_if<std::string>(&loaded)) return std::move(*error);
    const DataFile& file = std::get<DataFile>(loaded);
    RowReader reader(file.name);
    if (!file.document.is_object()) return file.name + ": not an object";
    if (reader.whole(file.document, "schema_version", 1, 1) != 1U) {
        reader.complain("schema_version is missing");
        return reader.error();
    }
    for (const auto& [key, unused] : file.document.get_ref<const Json::object_t&>()) {
        const bool known =
            key == "$schema" || key == "schema_version" ||
            std::any_of(lists.begin(), lists.end(), [&, &k = key](const List& l) { return l.name == k; });
        if (!known) reader.complain("unknown field '" + key.substr(0, 60) + "'");
    }
    for (const List& list : lists) {
        const Json* rows = reader.array(file.document, list.name);
        if (rows == nullptr && list.optional && reader.ok()) continue;
        if (rows == nullptr) {
            reader.complain(std::string(list.name) + " is missing");
            return reader.error();
        }
        std::size_t number = 0;
        for (const Json& row : *rows) {
            reader.at_row(row_name(++number, row));
            list.read(row, reader);
            if (!reader.ok()) return reader.error();
        }
        reader.at_row({});
    }
    return reader.error();
}

// What one of the two links of a row says; the figures behind each name were fitted to that generation only.
Fabric link_fabric(const std::string& name) {
    if (name == "NVLink3") return Fabric::nvlink3;
    if (name == "NVLink4") return Fabric::nvlink4;
    if (name == "NVLink5") return Fabric::nvlink5;
    return Fabric::unknown;
}

std::optional<double> peak_flop_s(const BoardRow& row, std::string_view metric) {
    constexpr double kReached = 0.62;
    const Peak* peak = row.peak(metric);
    return peak != nullptr ? std::optional(peak->value.low * 1e12 * kReached) : std::nullopt;
}

}  // namespace

std::variant<Tables, std::string> Tables::load(const std::string& folder) {
    Tables tables;
    std::string error = read_file(folder, "models.json", gpucheck_models_json_begin, gpucheck_models_json_end,
                                  {{"models", [&](const Json& row, RowReader& reader) {
                                        tables.models.push_back(read_model(row, reader));
                                    }}});
    if (error.empty()) {
        error = read_file(
            folder, "board_rates.json", gpucheck_board_rates_json_begin, gpucheck_board_rates_json_end,
            {{"boards",
              [&](const Json& row, RowReader& reader) { tables.rates.push_back(read_rates(row, reader)); }}});
    }
    if (error.empty()) {
        error = read_file(folder, "reference_rows.json", gpucheck_reference_rows_json_begin,
                          gpucheck_reference_rows_json_end,
                          {{"rows", [&](const Json& row, RowReader& reader) {
                                tables.references.push_back(read_reference(row, reader));
                            }}});
    }
    if (error.empty()) {
        error = read_file(
            folder, "prices.json", gpucheck_prices_json_begin, gpucheck_prices_json_end,
            {{"prices",
              [&](const Json& row, RowReader& reader) { tables.prices.push_back(read_price(row, reader)); }},
             {"facility_power",
              [&](const Json& row, RowReader& reader) { tables.power.push_back(read_power(row, reader)); }},
             {"instance_prices", [](const Json& row, RowReader& reader) { read_instance_price(row, reader); },
              true}});
    }
    if (!error.empty()) return error;
    return tables;
}

const LlmModel* Tables::model(std::string_view key) const {
    for (const LlmModel& row : models) {
        if (row.key == key || row.identifier == key) return &row;
    }
    return nullptr;
}

const BoardRates* Tables::rates_of(std::string_view board) const {
    for (const BoardRates& row : rates) {
        if (row.machine.board == board) return &row;
    }
    return nullptr;
}

const PriceRow* Tables::price_of(std::string_view board, std::string_view market) const {
    for (const PriceRow& row : prices) {
        if (row.board == board && row.price.market == market) return &row;
    }
    return nullptr;
}

const FacilityPower* Tables::power_of(std::string_view board) const {
    for (const FacilityPower& row : power) {
        if (row.board == board) return &row;
    }
    return nullptr;
}

Fabric fabric_of(const BoardRow& row) {
    const FormFactor form = row.board.form;
    if (!row.link) {
        // Measured on L40S; other cards on a PCIe 4 slot go the same way. A newer slot was not tabled.
        const bool fourth = form == FormFactor::pcie && row.board.pcie_speed.known() &&
                            generation(*row.board.pcie_speed) == 4;
        return fourth ? Fabric::pcie4 : Fabric::unknown;
    }
    if (form == FormFactor::sxm) return link_fabric(row.link->name);
    if (form == FormFactor::superchip && row.link->name == "NVLink5") return Fabric::nvlink5;
    const bool instinct = row.board.arch == "gfx942" || row.board.arch == "gfx950";
    if (form == FormFactor::oam && row.link->name == "xGMI" && instinct) return Fabric::xgmi;
    return Fabric::unknown;
}

MeasuredMachine datasheet_machine(const BoardRow& row) {
    constexpr double kBandwidthReached = 0.87;
    MeasuredMachine machine;
    machine.board = row.board.key;
    machine.board_name = row.board.name;
    machine.basis = Basis::datasheet;
    machine.source = "datasheet of " + row.board.key + ", 87 % of its bandwidth and 62 % of its matrix rates";
    machine.fabric = fabric_of(row);
    if (row.memory_bandwidth_gb_s.known()) {
        machine.bandwidth_bytes_s = row.memory_bandwidth_gb_s->low * 1e9 * kBandwidthReached;
    }
    machine.fp16_flop_s = peak_flop_s(row, "fp16_tflops");
    if (!row.peaks.empty()) {  // a row with peaks and none for a format: its matrix units lack the format
        machine.fp8_flop_s = peak_flop_s(row, "fp8_tflops");
        machine.fp4_flop_s = peak_flop_s(row, "fp4_tflops");
        machine.has_fp8 = machine.fp8_flop_s.has_value();
        machine.has_fp4 = machine.fp4_flop_s.has_value();
    }
    if (row.board.memory_bytes.known()) {
        machine.capacity_bytes = static_cast<double>(*row.board.memory_bytes);
    } else if (row.memory_gb.known()) {
        machine.capacity_bytes = row.memory_gb->low * 1e9;
    }
    return machine;
}

}  // namespace gpucheck::cost
