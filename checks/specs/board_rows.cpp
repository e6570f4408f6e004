// Turns one JSON row into a BoardRow; see board_rows.h. A typed-in unit error (a floor of 2,333 MB/s for
// a 4.8 TB/s board stood in a vendor's table and could never fail) is refused here by the range of floors.
#include "checks/specs/board_rows.h"

#include <algorithm>
#include <array>

#include "checks/model/version.h"

namespace gpucheck {
namespace {

using namespace std::string_view_literals;

constexpr std::array kPeaks{"fp64_tflops"sv, "fp64_matrix_tflops"sv, "fp32_tflops"sv, "fp32_matrix_tflops"sv,
                            "tf32_tflops"sv, "fp16_tflops"sv,        "bf16_tflops"sv, "fp8_tflops"sv,
                            "fp4_tflops"sv,  "int8_tops"sv};
constexpr std::array kMemoryFloors{"memory_gb_s"sv,       "memory_read_gb_s"sv, "memory_write_gb_s"sv,
                                   "memory_copy_gb_s"sv,  "memory_mul_gb_s"sv,  "memory_add_gb_s"sv,
                                   "memory_triad_gb_s"sv, "memory_dot_gb_s"sv};
constexpr std::string_view kHostLink = "host_link_gb_s";
// Below 40 % a floor tests nothing, above 100 % no board passes: both have been unit errors (DCGM's SKU
// table).
constexpr double kLowestFloor = 0.40, kHighestFloor = 1.0;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 44;

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// "gpus.json mi300x: vendor datasheet", with the mark of an unconfirmed figure.
std::string source_text(const BoardRow& row, std::string_view field, const std::string& source) {
    return "gpus.json " + row.board.key + ": " + source + (row.is_unverified(field) ? " (unverified)" : "");
}

Missing no_figure(const BoardRow& row, std::string_view field) {
    return Missing{"gpus.json " + row.board.key, "no sourced figure for " + std::string(field)};
}

template <class T>
Fact<T> fact_of(const BoardRow& row, std::string_view field, std::optional<T> value,
                const std::string& source) {
    if (!value) return no_figure(row, field);
    return Fact<T>(std::move(*value), source_text(row, field, source));
}

void read_ids(const Json& json, BoardRow& row, RowReader& reader) {
    const Json* list = reader.array(json, "ids");
    if (list == nullptr || list->empty()) return reader.complain("ids are missing");
    for (const Json& entry : *list) {
        if (!reader.object(entry, "ids", {"vendor", "device", "subsystem", "function", "source"})) return;
        BoardId id;
        id.vendor = reader.hex16(entry, "vendor");
        id.device = reader.hex16(entry, "device");
        if (const auto subsystem = reader.optional_text(entry, "subsystem")) {
            if (subsystem->size() != 9 || (*subsystem)[4] != ':')
                return reader.complain("subsystem is not like 1002:74a1");
            const auto vendor = reader.hex16_text(std::string_view(*subsystem).substr(0, 4));
            const auto device = reader.hex16_text(std::string_view(*subsystem).substr(5));
            if (vendor && device) id.subsystem = std::uint32_t{*vendor} << 16 | *device;
        }
        const std::string function = reader.text(entry, "function");
        if (function != "pf" && function != "vf") return reader.complain("function is neither pf nor vf");
        id.virtual_function = function == "vf";
        if (reader.text(entry, "source").empty()) return;
        row.ids.push_back(id);
    }
}

void read_unverified(const Json& json, BoardRow& row, RowReader& reader) {
    const Json* list = reader.array(json, "unverified");
    if (list == nullptr) return;
    for (const Json& field : *list) {
        if (!field.is_string()) return reader.complain("unverified holds something that is no text");
        row.unverified.push_back(field.get_ref<const std::string&>());
    }
}

void read_memory(const Json& json, BoardRow& row, RowReader& reader) {
    const Json* group = reader.group(json, "memory",
                                     {"nominal_gb", "type", "bandwidth_gb_s", "llc_mb", "shown_bytes",
                                      "shown_vf_bytes", "source", "shown_source"});
    const auto absent = [&](std::string_view field) { return no_figure(row, field); };
    row.memory_gb = absent("memory.nominal_gb");
    row.memory_bandwidth_gb_s = absent("memory.bandwidth_gb_s");
    row.board.memory_bytes = absent("memory.shown_bytes");
    row.memory_bytes_vf = absent("memory.shown_vf_bytes");
    if (group == nullptr) return;
    reader.optional_text(*group, "type");
    const auto nominal = reader.figure(*group, "nominal_gb"),
               bandwidth = reader.figure(*group, "bandwidth_gb_s");
    row.llc_mb = reader.number(*group, "llc_mb", 1, 4096);
    const auto shown = reader.whole(*group, "shown_bytes", 1, kMostBytes);
    const auto shown_vf = reader.whole(*group, "shown_vf_bytes", 1, kMostBytes);
    const bool printed = nominal || bandwidth || row.llc_mb;
    const std::string source = printed ? reader.text(*group, "source") : std::string();
    const std::string shown_source = shown || shown_vf ? reader.text(*group, "shown_source") : std::string();
    row.memory_gb = fact_of(row, "memory.nominal_gb", nominal, source);
    row.memory_bandwidth_gb_s = fact_of(row, "memory.bandwidth_gb_s", bandwidth, source);
    row.board.memory_bytes = fact_of(row, "memory.shown_bytes", shown, shown_source);
    row.memory_bytes_vf = fact_of(row, "memory.shown_vf_bytes", shown_vf, shown_source);
}

void read_peaks(const Json& json, BoardRow& row, RowReader& reader) {
    const Json* group = RowReader::member(json, "peaks");
    if (group == nullptr) return;
    if (!group->is_object()) return reader.complain("peaks is not an object");
    for (const auto& [metric, unused] : group->get_ref<const Json::object_t&>()) {
        if (metric == "source") continue;
        if (!is_one_of(kPeaks, metric))
            return reader.complain("unknown field '" + metric.substr(0, 60) + "' in peaks");
        if (const auto value = reader.figure(*group, metric)) {
            row.peaks.push_back(Peak{metric, *value, row.is_unverified("peaks." + metric), {}});
        }
    }
    const std::string source = reader.text(*group, "source");
    for (Peak& peak : row.peaks) peak.source = source;
}

void read_floors(const Json& json, BoardRow& row, RowReader& reader) {
    const Json* list = reader.array(json, "floors");
    if (list == nullptr) return;
    for (const Json& entry : *list) {
        if (!reader.object(entry, "floors", {"metric", "value", "accept_fraction", "test", "source"})) return;
        Floor floor;
        floor.metric = reader.text(entry, "metric");
        floor.value = reader.number(entry, "value", 1e-3, 1e7).value_or(0);
        floor.accept_fraction = reader.number(entry, "accept_fraction", 0.5, 1).value_or(1);
        floor.test = reader.text(entry, "test");
        floor.source = reader.text(entry, "source");
        floor.unverified = row.is_unverified("floors." + floor.metric);
        const std::optional<Figure> peak = peak_of_floor(row, floor);
        if (!peak)
            return reader.complain("floor '" + floor.metric.substr(0, 60) + "' has no peak in this row");
        if (floor.value < kLowestFloor * peak->high || floor.value > kHighestFloor * peak->low) {
            return reader.complain("floor " + floor.metric + " lies outside 40 to 100 % of its peak");
        }
        row.floors.push_back(std::move(floor));
    }
}

void read_host_link(const Json& json, BoardRow& row, RowReader& reader) {
    Board& board = row.board;
    board.pcie_speed = no_figure(row, "pcie.generation");
    board.pcie_width = no_figure(row, "pcie.lanes");
    if (const Json* group = reader.group(json, "pcie", {"generation", "lanes", "source"})) {
        const std::string source = reader.text(*group, "source");
        if (const auto value = reader.whole(*group, "generation", 1, 7)) {
            board.pcie_speed =
                Fact<LinkSpeed>(static_cast<LinkSpeed>(*value), source_text(row, "pcie.generation", source));
        }
        if (const auto value = reader.whole(*group, "lanes", 1, 32)) {
            const auto lanes = static_cast<unsigned>(*value);
            if (!is_link_width(lanes)) reader.complain("lanes is not a width that a link can have");
            board.pcie_width = Fact<unsigned>(lanes, source_text(row, "pcie.lanes", source));
        }
    }
    const Json* narrow = reader.array(json, "narrow_widths_by_design");
    if (narrow == nullptr) return;
    for (const Json& entry : *narrow) {
        if (!reader.object(entry, "narrow_widths_by_design", {"lanes", "why", "source"})) return;
        const auto lanes = static_cast<unsigned>(reader.whole(entry, "lanes", 1, 16).value_or(0));
        if (!is_link_width(lanes)) return reader.complain("lanes is not a width that a link can have");
        reader.text(entry, "why");
        reader.text(entry, "source");
        board.narrow_widths_by_design.push_back(lanes);
    }
}

Fact<std::string> version_floor(const Json& json, const BoardRow& row, std::string_view group_name,
                                RowReader& reader) {
    const std::string field = std::string(group_name) + ".min";
    const Json* group = reader.group(json, group_name, {"min", "source"});
    if (group == nullptr) return no_figure(row, field);
    std::string version = reader.text(*group, "min");
    const std::string source = reader.text(*group, "source");
    if (reader.ok() && !compare_versions(version, version)) reader.complain(field + " is not a version");
    return Fact<std::string>(std::move(version), source_text(row, field, source));
}

Fact<unsigned> count_of(const Json& json, const BoardRow& row, std::string_view group_name,
                        std::string_view member, std::uint64_t max, RowReader& reader) {
    const std::string field = std::string(group_name) + "." + std::string(member);
    const Json* group = reader.group(json, group_name, {member, "source"});
    if (group == nullptr) return no_figure(row, field);
    const Json* value = RowReader::member(*group, member);
    // Documents disagree ([148, 152] for the GB200): a range is no expectation.
    if (value != nullptr && value->is_array()) {
        reader.figure(*group, member);
        return Missing{"gpus.json " + row.board.key, "sources disagree about " + field};
    }
    const auto count = reader.whole(*group, member, 1, max);
    if (!count) {
        reader.complain(field + " is missing");
        return no_figure(row, field);
    }
    return Fact<unsigned>(static_cast<unsigned>(*count),
                          source_text(row, field, reader.text(*group, "source")));
}

// A figure as the checks compare it: a range is no expectation, and one of several functions together is none
// of one.
Fact<unsigned> expectation(const BoardRow& row, std::string_view field, const std::optional<Figure>& figure,
                           const std::string& source) {
    if (!figure) return no_figure(row, field);
    const std::string file = "gpus.json " + row.board.key;
    if (figure->low != figure->high) return Missing{file, "sources disagree about " + std::string(field)};
    if (row.functions_per_board > 1) {
        return Missing{file, std::string(field) + " is of all functions of the board together"};
    }
    return Fact<unsigned>(static_cast<unsigned>(figure->low), source_text(row, field, source));
}

void read_link(const Json& json, BoardRow& row, RowReader& reader) {
    std::optional<Figure> count;
    std::optional<Figure> total;
    std::string source;
    if (const Json* group = reader.group(json, "link", {"name", "count", "total_gb_s", "source"})) {
        row.link = BoardLink{reader.text(*group, "name"), reader.whole(*group, "count", 1, 64),
                             reader.figure(*group, "total_gb_s")};
        source = reader.text(*group, "source");
        total = row.link->total_gb_s;
        if (row.link->count) {
            const auto links = static_cast<double>(*row.link->count);
            count = Figure{links, links};
        }
    }
    row.board.links = expectation(row, "link.count", count, source);
    row.board.link_gb_s = expectation(row, "link.total_gb_s", total, source);
}

void read_power_and_ecc(const Json& json, BoardRow& row, RowReader& reader) {
    row.tdp_w = no_figure(row, "power.tdp_w");
    row.board.power_w = no_figure(row, "power.tdp_w");
    if (const Json* group = reader.group(json, "power", {"tdp_w", "source"})) {
        const auto watts = reader.figure(*group, "tdp_w");
        const std::string source = reader.text(*group, "source");
        row.tdp_w = fact_of(row, "power.tdp_w", watts, source);
        row.board.power_w = expectation(row, "power.tdp_w", watts, source);
    }
    row.board.ecc = no_figure(row, "ecc.on_by_default");
    if (const Json* group = reader.group(json, "ecc", {"on_by_default", "source"})) {
        const bool on = reader.flag(*group, "on_by_default");
        row.board.ecc = Fact<bool>(on, source_text(row, "ecc.on_by_default", reader.text(*group, "source")));
    }
    if (const Json* group = reader.group(json, "nvswitch", {"needed", "source"})) {
        row.board.needs_nvswitch = reader.flag(*group, "needed");
        reader.text(*group, "source");
    }
}

// What the checks compare measurements with. Of a range the higher figure is the peak: nothing may be called
// impossible that one of the documents prints.
void fill_rates(BoardRow& row) {
    Board& board = row.board;
    const Fact<Figure>& memory = row.memory_bandwidth_gb_s;
    if (memory.known()) board.peaks.push_back({"memory_gb_s", memory->high, "printed", memory.source()});
    for (const Peak& peak : row.peaks) {
        board.peaks.push_back({peak.metric, peak.value.high, "printed, dense",
                               source_text(row, "peaks." + peak.metric, peak.source)});
    }
    for (const Floor& floor : row.floors) {
        board.floors.push_back({floor.metric, floor.value * floor.accept_fraction, floor.test,
                                source_text(row, "floors." + floor.metric, floor.source)});
    }
}

}  // namespace

std::optional<Figure> peak_of_floor(const BoardRow& row, const Floor& floor) {
    if (is_one_of(kMemoryFloors, floor.metric)) {
        return row.memory_bandwidth_gb_s.known() ? std::optional(*row.memory_bandwidth_gb_s) : std::nullopt;
    }
    if (floor.metric == kHostLink) {
        if (!row.board.pcie_speed.known() || !row.board.pcie_width.known()) return std::nullopt;
        const auto rate = link_bandwidth_gb_s(*row.board.pcie_speed, *row.board.pcie_width);
        return rate ? std::optional(Figure{*rate, *rate}) : std::nullopt;
    }
    const Peak* peak = row.peak(floor.metric);
    return peak != nullptr ? std::optional(peak->value) : std::nullopt;
}

BoardRow read_board_row(const Json& json, RowReader& reader) {
    BoardRow row;
    if (!reader.object(json, "the row",
                       {"key",
                        "name",
                        "vendor",
                        "form",
                        "arch",
                        "ids",
                        "functions_per_board",
                        "compute",
                        "memory",
                        "ecc",
                        "peaks",
                        "power",
                        "pcie",
                        "link",
                        "partitions",
                        "kernel",
                        "driver",
                        "nvswitch",
                        "narrow_widths_by_design",
                        "floors",
                        "unverified",
                        "note"})) {
        return row;
    }
    Board& board = row.board;
    board.key = reader.text(json, "key");
    board.name = reader.text(json, "name");
    board.arch = reader.text(json, "arch");
    const auto vendor = vendor_from(reader.text(json, "vendor"));
    const auto form = form_factor_from(reader.text(json, "form"));
    if (!vendor) reader.complain("vendor is neither nvidia nor amd");
    if (!form) reader.complain("form is none of pcie, sxm, oam, superchip");
    board.vendor = vendor.value_or(Vendor::nvidia);
    board.form = form.value_or(FormFactor::pcie);
    row.note = reader.optional_text(json, "note").value_or("");
    row.functions_per_board =
        static_cast<unsigned>(reader.whole(json, "functions_per_board", 1, 8).value_or(1));
    read_unverified(json, row, reader);
    read_ids(json, row, reader);
    board.compute_units = count_of(json, row, "compute", "units", 4096, reader);
    board.partitions_max = count_of(json, row, "partitions", "max", 64, reader);
    read_memory(json, row, reader);
    read_peaks(json, row, reader);
    read_host_link(json, row, reader);
    read_link(json, row, reader);
    read_power_and_ecc(json, row, reader);
    board.kernel_min = version_floor(json, row, "kernel", reader);
    board.driver_min = version_floor(json, row, "driver", reader);
    read_floors(json, row, reader);
    fill_rates(row);
    return row;
}

}  // namespace gpucheck
