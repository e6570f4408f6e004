// The board rows against the reference tables that they were taken from, where those lie beside the checkout.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "checks/specs/boards.h"
#include "tests/source_dir.h"
#include "tests/specs/specs_folder.h"

namespace gpucheck {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            cells.emplace_back();
        } else if (c != '\r') {
            cells.back() += c;
        }
    }
    return cells;
}

std::vector<Row> read_csv(const std::string& name) {
    std::ifstream file(std::string(GPUCHECK_SHARED_DIR) + "/data/" + name);
    std::vector<Row> rows;
    std::string line;
    if (!std::getline(file, line)) return rows;
    const std::vector<std::string> header = cells_of(line);
    while (std::getline(file, line)) {
        const std::vector<std::string> cells = cells_of(line);
        Row row;
        for (std::size_t i = 0; i < header.size() && i < cells.size(); ++i) row[header[i]] = cells[i];
        rows.push_back(std::move(row));
    }
    return rows;
}

std::uint16_t hex(const std::string& text) {
    return static_cast<std::uint16_t>(std::stoul(text, nullptr, 16));
}

std::optional<Figure> figure_in(const Row& row, const std::string& low, const std::string& high,
                                double factor) {
    const std::string& first = row.at(low).empty() ? row.at(high) : row.at(low);
    const std::string& last = row.at(high).empty() ? row.at(low) : row.at(high);
    if (first.empty()) return std::nullopt;
    return Figure{std::stod(first) * factor, std::stod(last) * factor};
}

void expect_same(const std::string& what, const std::optional<Figure>& ours,
                 const std::optional<Figure>& reference) {
    ASSERT_EQ(ours.has_value(), reference.has_value()) << what;
    if (!ours) return;
    EXPECT_NEAR(ours->low, reference->low, reference->low * 1e-6) << what;
    EXPECT_NEAR(ours->high, reference->high, reference->high * 1e-6) << what;
}

std::optional<Figure> known(const Fact<Figure>& fact) {
    return fact.known() ? std::optional(*fact) : std::nullopt;
}

std::optional<Figure> peak_of(const BoardRow& row, const std::string& metric) {
    const Peak* peak = row.peak(metric);
    return peak != nullptr ? std::optional(peak->value) : std::nullopt;
}

void expect_figures(const BoardRow& ours, const Row& csv) {
    const std::string key = ours.board.key + " ";
    const double share = 1.0 / ours.functions_per_board;
    expect_same(key + "memory", known(ours.memory_gb), figure_in(csv, "mem_gb_low", "mem_gb_high", share));
    expect_same(key + "bandwidth", known(ours.memory_bandwidth_gb_s),
                figure_in(csv, "mem_bw_tbs_low", "mem_bw_tbs_high", 1000 * share));
    expect_same(key + "power", known(ours.tdp_w), figure_in(csv, "tdp_w_low", "tdp_w_high", 1));
    const std::vector<std::tuple<std::string, std::string, std::string>> peaks{
        {"fp64_tflops", "fp64_tflops_low", "fp64_tflops_high"},
        {"fp64_matrix_tflops", "fp64_matrix_tflops_low", "fp64_matrix_tflops_high"},
        {"fp32_tflops", "fp32_tflops_low", "fp32_tflops_high"},
        {"tf32_tflops", "tf32_dense_tflops", "tf32_dense_tflops"},
        {"fp16_tflops", "fp16_bf16_dense_tflops", "fp16_bf16_dense_tflops"},
        {"bf16_tflops", "fp16_bf16_dense_tflops", "fp16_bf16_dense_tflops"},
        {"fp8_tflops", "fp8_dense_tflops", "fp8_dense_tflops"},
        {"fp4_tflops", "fp4_dense_tflops_low", "fp4_dense_tflops_high"},
        {"int8_tops", "int8_dense_tops", "int8_dense_tops"},
    };
    for (const auto& [metric, low, high] : peaks) {
        expect_same(key + metric, peak_of(ours, metric), figure_in(csv, low, high, share));
    }
    if (const auto units = figure_in(csv, "sm_or_cu_low", "sm_or_cu_high", share);
        units && units->low == units->high) {
        ASSERT_TRUE(ours.board.compute_units.known()) << key;
        EXPECT_EQ(*ours.board.compute_units, static_cast<unsigned>(std::lround(units->low))) << key;
    }
    if (!csv.at("mem_reported_mib").empty()) {
        EXPECT_TRUE(ours.board.memory_bytes.is(std::stoull(csv.at("mem_reported_mib")) * 1048576)) << key;
    }
    EXPECT_EQ(ours.board.pcie_width.known(), !csv.at("pcie_lanes").empty()) << key;
    if (ours.board.pcie_width.known()) {
        EXPECT_EQ(*ours.board.pcie_width, std::stoul(csv.at("pcie_lanes"))) << key;
        EXPECT_EQ(generation(*ours.board.pcie_speed), std::stoul(csv.at("pcie_gen"))) << key;
    }
    if (!csv.at("llc_mb").empty()) {
        ASSERT_TRUE(ours.llc_mb.has_value()) << key;
        EXPECT_NEAR(*ours.llc_mb, std::stod(csv.at("llc_mb")) * share, 1e-6) << key;
    }
}

TEST(ReferenceData, EveryPciIdResolves) {
    const std::vector<Row> ids = read_csv("pci_ids.csv");
    if (ids.empty()) GTEST_SKIP() << "no pci_ids.csv in " << GPUCHECK_SHARED_DIR;
    const BoardTable& boards = embedded_boards();
    for (const Row& row : ids) {
        const Fact<Board> board =
            boards.match(function_with(hex(row.at("vendor_id")), hex(row.at("device_id"))));
        if (row.at("function") == "switch") {
            EXPECT_FALSE(board.known()) << row.at("name");
            EXPECT_NE(board.why().find("is no GPU"), std::string::npos) << board.why();
            continue;
        }
        ASSERT_TRUE(board.known()) << row.at("name") << ": " << board.why();
        EXPECT_EQ(board->virtual_function, row.at("function") == "vf") << row.at("name");
    }
    EXPECT_GT(ids.size(), 60U);
}

TEST(ReferenceData, FiguresEqualTheReferenceTable) {
    const std::vector<Row> ids = read_csv("pci_ids.csv"), specs = read_csv("gpu_specs.csv");
    if (ids.empty() || specs.empty()) GTEST_SKIP() << "no gpu_specs.csv in " << GPUCHECK_SHARED_DIR;
    // Ids that share a reference row with another board and leave out what differs (docs/specs.md).
    const std::vector<std::string> partial{"mi250", "mi300x-hf"};
    for (const Row& csv : specs) {
        std::size_t compared = 0;
        for (const Row& id : ids) {
            if (id.at("spec_name") != csv.at("name") || id.at("function") != "pf") continue;
            const Fact<Board> board =
                embedded_boards().match(function_with(hex(id.at("vendor_id")), hex(id.at("device_id"))));
            ASSERT_TRUE(board.known()) << csv.at("name");
            if (std::find(partial.begin(), partial.end(), board->key) != partial.end()) continue;
            expect_figures(*embedded_boards().find_row(board->key), csv);
            ++compared;
        }
        EXPECT_GE(compared, 1U) << csv.at("name") << " has no board row";
    }
}

TEST(ReferenceData, UnverifiedMarksAreCarriedOver) {
    const std::vector<Row> specs = read_csv("gpu_specs.csv");
    if (specs.empty()) GTEST_SKIP() << "no gpu_specs.csv in " << GPUCHECK_SHARED_DIR;
    const std::map<std::string, std::string> fields{
        {"mem_bw_tbs", "memory.bandwidth_gb_s"},  {"fp64_tflops", "peaks.fp64_tflops"},
        {"fp32_tflops", "peaks.fp32_tflops"},     {"int8_dense_tops", "peaks.int8_tops"},
        {"fp4_dense_tflops", "peaks.fp4_tflops"},
    };
    const std::vector<std::pair<std::string, std::string>> boards{
        {"B200-SXM-180GB", "b200-sxm-180gb"},
        {"B300-SXM-270GB", "b300-sxm-270gb"},
        {"GB200-186GB", "gb200-186gb"},
        {"L4", "l4"},
        {"A10", "a10"},
        {"RTX-PRO-6000-BSE", "rtx-pro-6000-server"}};
    std::size_t marks = 0;
    for (const Row& csv : specs) {
        for (const auto& [name, key] : boards) {
            if (csv.at("name") != name) continue;
            for (const auto& [column, field] : fields) {
                if (csv.at("unverified").find(column) == std::string::npos) continue;
                EXPECT_TRUE(embedded_boards().find_row(key)->is_unverified(field)) << key << " " << field;
                ++marks;
            }
        }
    }
    EXPECT_GT(marks, 8U);
}

}  // namespace
}  // namespace gpucheck
