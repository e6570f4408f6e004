// Prints board rows for people and for programs, so that anybody can see which figure a verdict rests on and
// where it comes from.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

#include "checks/specs/boards.h"

namespace gpucheck {
namespace {

// Few enough rows to show everything known about each.
constexpr std::size_t kDetailedRows = 3;

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

std::string number_text(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6g", value);
    return text.data();
}

std::string figure_text(const Figure& figure) {
    const std::string low = number_text(figure.low);
    return figure.low == figure.high ? low : low + "-" + number_text(figure.high);
}

std::string fact_text(const BoardRow& row, const Fact<Figure>& fact, std::string_view field) {
    if (!fact.known()) return "-";
    return figure_text(*fact) + (row.is_unverified(field) ? "?" : "");
}

std::string peak_text(const BoardRow& row, std::string_view metric) {
    const Peak* peak = row.peak(metric);
    return peak == nullptr ? "-" : figure_text(peak->value) + (peak->unverified ? "?" : "");
}

std::string id_text(const BoardId& id) {
    std::array<char, 40> text{};
    if (id.subsystem) {
        std::snprintf(text.data(), text.size(), "%04x:%04x/%04x:%04x", static_cast<unsigned>(id.vendor),
                      static_cast<unsigned>(id.device), *id.subsystem >> 16, *id.subsystem & 0xffff);
    } else {
        std::snprintf(text.data(), text.size(), "%04x:%04x", static_cast<unsigned>(id.vendor),
                      static_cast<unsigned>(id.device));
    }
    return std::string(text.data()) + (id.virtual_function ? "(VF)" : "");
}

std::string host_link_text(const BoardRow& row) {
    const Board& board = row.board;
    if (!board.pcie_speed.known() || !board.pcie_width.known()) return "-";
    std::string text =
        "Gen" + std::to_string(generation(*board.pcie_speed)) + " x" + std::to_string(*board.pcie_width);
    for (const unsigned lanes : board.narrow_widths_by_design) text += " or x" + std::to_string(lanes);
    const bool unsure = row.is_unverified("pcie.generation") || row.is_unverified("pcie.lanes");
    return text + (unsure ? "?" : "");
}

bool matches(const BoardRow& row, const std::string& wanted) {
    if (wanted.empty()) return true;
    if (lower(row.board.key).find(wanted) != std::string::npos) return true;
    if (lower(row.board.name).find(wanted) != std::string::npos) return true;
    return std::any_of(row.ids.begin(), row.ids.end(),
                       [&](const BoardId& id) { return id_text(id).find(wanted) != std::string::npos; });
}

// A filter that is a key shows that row alone: "mi300x" does not mean "mi300x-hf".
std::vector<const BoardRow*> chosen_rows(const BoardTable& boards, std::string_view filter) {
    const std::string wanted = lower(filter);
    if (const BoardRow* exact = boards.find_row(wanted)) return {exact};
    std::vector<const BoardRow*> chosen;
    for (const BoardRow& row : boards.rows()) {
        if (matches(row, wanted)) chosen.push_back(&row);
    }
    return chosen;
}

std::string table_text(const std::vector<const BoardRow*>& rows) {
    std::vector<std::vector<std::string>> cells{
        {"KEY", "ID", "NAME", "GB", "GB/S", "BF16 TF", "FP8 TF", "FP4 TF", "HOST LINK", "FLOORS"}};
    for (const BoardRow* row : rows) {
        cells.push_back({row->board.key, id_text(row->ids.front()), row->board.name,
                         fact_text(*row, row->memory_gb, "memory.nominal_gb"),
                         fact_text(*row, row->memory_bandwidth_gb_s, "memory.bandwidth_gb_s"),
                         peak_text(*row, "bf16_tflops"), peak_text(*row, "fp8_tflops"),
                         peak_text(*row, "fp4_tflops"), host_link_text(*row),
                         row->floors.empty() ? "-" : std::to_string(row->floors.size())});
    }
    std::vector<std::size_t> widths(cells.front().size());
    for (const auto& line : cells) {
        for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
    }
    std::string text;
    for (const auto& line : cells) {
        for (std::size_t i = 0; i + 1 < line.size(); ++i)
            text += line[i] + std::string(widths[i] - line[i].size() + 2, ' ');
        text += line.back() + "\n";
    }
    return text +
           "\n? no confirmed source   - no figure   peaks are dense; `gpucheck specs KEY` shows floors and "
           "limits\n";
}

std::string detail_line(std::string_view name, const std::string& value) {
    constexpr std::size_t kNameWidth = 18;
    std::string line = "  " + std::string(name);
    line.append(line.size() < kNameWidth ? kNameWidth - line.size() : 1, ' ');
    return line + value + "\n";
}

template <class T>
std::string limit_text(const Fact<T>& fact) {
    if (!fact.known()) return "- (" + fact.why() + ")";
    if constexpr (std::is_same_v<T, std::string>) {
        return *fact + "  [" + fact.source() + "]";
    } else {
        return std::to_string(*fact) + "  [" + fact.source() + "]";
    }
}

std::string detail_text(const BoardRow& row) {
    const Board& board = row.board;
    std::string ids;
    for (const BoardId& id : row.ids) ids += (ids.empty() ? "" : ", ") + id_text(id);
    std::string text = board.key + ": " + board.name + "\n";
    text += detail_line("ids", ids);
    text += detail_line("form, arch", std::string(name_of(board.form)) + ", " + board.arch);
    text += detail_line("compute units", limit_text(board.compute_units));
    text += detail_line("memory", fact_text(row, row.memory_gb, "memory.nominal_gb") + " GB, " +
                                      fact_text(row, row.memory_bandwidth_gb_s, "memory.bandwidth_gb_s") +
                                      " GB/s");
    text += detail_line("memory shown", limit_text(board.memory_bytes));
    if (row.memory_bytes_vf.known()) text += detail_line("  to a VF", limit_text(row.memory_bytes_vf));
    text += detail_line("power", fact_text(row, row.tdp_w, "power.tdp_w") + " W");
    if (board.ecc.known())
        text += detail_line(
            "ECC", std::string(*board.ecc ? "on" : "off") + " as shipped  [" + board.ecc.source() + "]");
    text += detail_line("host link", host_link_text(row));
    if (row.link) {
        const bool unsure = row.is_unverified("link.count") || row.is_unverified("link.total_gb_s");
        text += detail_line(
            "GPU link",
            row.link->name + (row.link->count ? ", " + std::to_string(*row.link->count) + " links" : "") +
                (row.link->total_gb_s ? ", " + figure_text(*row.link->total_gb_s) + " GB/s both ways" : "") +
                (unsure ? "?" : ""));
    }
    if (board.partitions_max.known())
        text += detail_line("partitions", "up to " + limit_text(board.partitions_max));
    if (board.vendor == Vendor::amd) text += detail_line("kernel", limit_text(board.kernel_min));
    text += detail_line("driver", limit_text(board.driver_min));
    for (const Peak& peak : row.peaks) {
        text +=
            detail_line("peak", peak.metric + " " + figure_text(peak.value) + (peak.unverified ? "?" : ""));
    }
    for (const Floor& floor : row.floors) {
        text += detail_line("floor", floor.metric + " " + number_text(floor.value * floor.accept_fraction) +
                                         (floor.unverified ? "?" : "") + "  [" + floor.test + "; " +
                                         floor.source + "]");
    }
    if (!row.note.empty()) text += detail_line("note", row.note);
    return text;
}

}  // namespace

std::string render_specs_text(const BoardTable& boards, std::string_view filter) {
    const std::vector<const BoardRow*> rows = chosen_rows(boards, filter);
    if (rows.empty()) {
        std::string text = "no board matches '" + std::string(filter.substr(0, 60)) + "'";
        std::string near;
        for (const std::string& key : boards.near_keys(lower(filter)))
            near += (near.empty() ? "" : ", ") + key;
        return text + (near.empty() ? "" : "; near: " + near) + "\n";
    }
    if (rows.size() > kDetailedRows) return table_text(rows);
    std::string text;
    for (const BoardRow* row : rows) {
        if (!text.empty()) text += '\n';
        text += detail_text(*row);
    }
    return text + "\n? no confirmed source   peaks are dense\n";
}

Json render_specs_json(const BoardTable& boards, std::string_view filter) {
    Json result = Json::object();
    result["schema_version"] = 1;
    Json rows = Json::array();
    for (const BoardRow* row : chosen_rows(boards, filter)) {
        // rows() and the document's boards are in the same order: the table was read from it.
        const auto index = static_cast<std::size_t>(row - boards.rows().data());
        rows.push_back(boards.document()["boards"][index]);
    }
    result["boards"] = std::move(rows);
    return result;
}

}  // namespace gpucheck
