// The figures inside the binary: unique, sourced, in range, and not the ones that articles get wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "checks/model/version.h"
#include "checks/specs/board_rows.h"
#include "checks/specs/boards.h"
#include "checks/specs/data_file.h"
#include "tests/specs/specs_folder.h"

extern "C" const char gpucheck_gpus_json_begin[];
extern "C" const char gpucheck_gpus_json_end[];

namespace gpucheck {
namespace {

TEST(BoardFigures, KeysAndIdsAreUnique) {
    std::set<std::string> keys;
    std::set<std::tuple<unsigned, unsigned, std::optional<std::uint32_t>>> ids;
    for (const BoardRow& row : embedded_boards().rows()) {
        EXPECT_TRUE(keys.insert(row.board.key).second) << row.board.key;
        EXPECT_FALSE(row.ids.empty());
        for (const BoardId& id : row.ids) {
            EXPECT_TRUE(ids.insert({id.vendor, id.device, id.subsystem}).second) << row.board.key;
            EXPECT_EQ(id.vendor == 0x10de, row.board.vendor == Vendor::nvidia) << row.board.key;
            EXPECT_TRUE(id.vendor == 0x10de || id.vendor == 0x1002) << row.board.key;
        }
        EXPECT_FALSE(row.ids.front().virtual_function)
            << row.board.key << ": the physical function comes first";
    }
}

TEST(BoardFigures, FloorsLieBetween40And100PercentOfTheirPeak) {
    std::size_t floors = 0;
    for (const BoardRow& row : embedded_boards().rows()) {
        for (const Floor& floor : row.floors) {
            const std::optional<Figure> peak = peak_of_floor(row, floor);
            ASSERT_TRUE(peak.has_value()) << row.board.key << " " << floor.metric;
            EXPECT_GE(floor.value, 0.40 * peak->high) << row.board.key << " " << floor.metric;
            EXPECT_LE(floor.value, peak->low) << row.board.key << " " << floor.metric;
            EXPECT_FALSE(floor.source.empty());
            ++floors;
        }
    }
    EXPECT_GT(floors, 60U);
}

const BoardRate* rate(const std::vector<BoardRate>& rates, std::string_view metric, std::string_view test) {
    const auto found = std::find_if(rates.begin(), rates.end(), [&](const BoardRate& each) {
        return each.metric == metric && std::string_view(each.test).starts_with(test);
    });
    return found != rates.end() ? &*found : nullptr;
}

TEST(BoardFigures, ChecksGetEveryPeakAndFloorOfTheRow) {
    for (const BoardRow& row : embedded_boards().rows()) {
        const Board& board = row.board;
        EXPECT_EQ(board.floors.size(), row.floors.size()) << board.key;
        EXPECT_EQ(board.peaks.size(), row.peaks.size() + (row.memory_bandwidth_gb_s.known() ? 1 : 0))
            << board.key;
        for (const BoardRate& each : board.peaks) {
            EXPECT_GT(each.value, 0) << board.key;
            EXPECT_NE(each.source.find(board.key), std::string::npos) << each.source;
        }
    }
    const Board* mi300x = embedded_boards().find("mi300x");
    ASSERT_NE(mi300x, nullptr);
    const BoardRate* bf16 = rate(mi300x->floors, "bf16_tflops", "gst");
    ASSERT_NE(bf16, nullptr);
    EXPECT_DOUBLE_EQ(bf16->value, 581 * 0.95) << "what the source's test accepts";
    ASSERT_NE(rate(mi300x->floors, "memory_copy_gb_s", "BabelStream Copy"), nullptr);
    EXPECT_DOUBLE_EQ(rate(mi300x->peaks, "memory_gb_s", "")->value, 5300);
    // Of a range the higher figure is the peak.
    const BoardRow* b200 = embedded_boards().find_row("b200-sxm-180gb");
    ASSERT_NE(b200, nullptr);
    EXPECT_DOUBLE_EQ(rate(b200->board.peaks, "memory_gb_s", "")->value, b200->memory_bandwidth_gb_s->high);
}

TEST(BoardFigures, FiguresArePlausible) {
    for (const BoardRow& row : embedded_boards().rows()) {
        const Board& board = row.board;
        if (board.memory_bytes.known() && row.memory_gb.known()) {
            // Nominal gigabytes against bytes shown: GiB sold as GB give 1.07, ECC and reserves take up to 8
            // %.
            const double ratio = static_cast<double>(*board.memory_bytes) / (row.memory_gb->low * 1e9);
            EXPECT_GT(ratio, 0.92) << board.key;
            EXPECT_LT(ratio, 1.12) << board.key;
        }
        if (row.memory_bytes_vf.known() && board.memory_bytes.known()) {
            EXPECT_LT(*row.memory_bytes_vf, *board.memory_bytes) << board.key;
        }
        if (row.tdp_w.known()) {
            EXPECT_GE(row.tdp_w->low, 60) << board.key;
            EXPECT_LE(row.tdp_w->high, 1500) << board.key;
        }
        if (board.compute_units.known()) {
            EXPECT_GE(*board.compute_units, 40U) << board.key;
            EXPECT_LE(*board.compute_units, 320U) << board.key;
        }
        for (const unsigned width : board.narrow_widths_by_design) {
            EXPECT_TRUE(!board.pcie_width.known() || width < *board.pcie_width) << board.key;
        }
        if (board.form == FormFactor::superchip && board.vendor == Vendor::nvidia) {
            EXPECT_FALSE(board.pcie_width.known())
                << board.key << ": the PCI link is a placeholder (nvtop PR#499)";
        }
        EXPECT_TRUE(!board.needs_nvswitch || board.form == FormFactor::sxm) << board.key;
        if (board.vendor == Vendor::nvidia) {
            ASSERT_TRUE(board.driver_min.known()) << board.key;
            EXPECT_GE(*compare_versions(*board.driver_min, "400"), 0) << board.key;
            EXPECT_FALSE(board.kernel_min.known()) << board.key;
        } else if (board.arch != "gfx908") {
            EXPECT_TRUE(board.kernel_min.known()) << board.key;
        }
    }
}

TEST(BoardFigures, UnverifiedMarksNameFiguresOfTheRowAndReachTheSource) {
    const BoardTable& boards = embedded_boards();
    for (std::size_t i = 0; i < boards.rows().size(); ++i) {
        const Json& json = boards.document()["boards"][i];
        for (const std::string& field : boards.rows()[i].unverified) {
            if (field == "form") continue;
            const std::string group = field.substr(0, field.find('.')),
                              member = field.substr(field.find('.') + 1);
            const Json* found = RowReader::member(json, group);
            ASSERT_NE(found, nullptr) << boards.rows()[i].board.key << " " << field;
            if (group == "floors") {
                const auto& floors = boards.rows()[i].floors;
                EXPECT_TRUE(std::any_of(
                    floors.begin(), floors.end(),
                    [&](const Floor& floor) { return floor.metric == member && floor.unverified; }))
                    << boards.rows()[i].board.key << " " << field;
            } else {
                EXPECT_NE(RowReader::member(*found, member), nullptr)
                    << boards.rows()[i].board.key << " " << field;
            }
        }
    }
    const Board* mi350x = boards.find("mi350x");
    ASSERT_NE(mi350x, nullptr);
    EXPECT_NE(mi350x->driver_min.source().find("(unverified)"), std::string::npos);
    EXPECT_EQ(mi350x->kernel_min.source().find("(unverified)"), std::string::npos);
}

TEST(BoardFigures, WhatIsNotKnownIsMissingAndSaysSo) {
    const Board* h20 = embedded_boards().find("h20");
    ASSERT_NE(h20, nullptr);
    EXPECT_EQ(h20->pcie_width.missing(), (Missing{"gpus.json h20", "no sourced figure for pcie.lanes"}));
    EXPECT_EQ(h20->memory_bytes.why(), "no sourced figure for memory.shown_bytes");
    // Documents disagree about the GB200's unit count: no expectation from a range.
    EXPECT_EQ(embedded_boards().find("gb200-186gb")->compute_units.why(),
              "sources disagree about compute.units");
    // MI250 and MI250X share an id and differ in units.
    EXPECT_FALSE(embedded_boards().find("mi250")->compute_units.known());
}

TEST(BoardFigures, LinksPowerAndEccReachTheBoard) {
    const Board* h100 = embedded_boards().find("h100-sxm-80gb");
    ASSERT_NE(h100, nullptr);
    EXPECT_TRUE(h100->links.is(18U));
    EXPECT_TRUE(h100->link_gb_s.is(900U));
    EXPECT_TRUE(h100->power_w.is(700U));
    EXPECT_TRUE(h100->ecc.is(true));
    // A range of datasheets is no expectation, and neither is a figure of two functions together.
    EXPECT_EQ(embedded_boards().find("h100-nvl-94gb")->power_w.why(), "sources disagree about power.tdp_w");
    EXPECT_EQ(embedded_boards().find("mi250x")->links.why(),
              "link.count is of all functions of the board together");
    EXPECT_TRUE(embedded_boards().find("mi300x")->links.is(7U));
    EXPECT_FALSE(embedded_boards().find("t4")->links.known());
    EXPECT_FALSE(embedded_boards().find("rtx-pro-6000-workstation")->ecc.known());
}

TEST(BoardFigures, NarrowByDesignCarriesToTheBoard) {
    const BoardTable& boards = embedded_boards();
    for (const char* key : {"a10g", "t4", "l4", "l40s"}) {
        EXPECT_EQ(boards.find(key)->narrow_widths_by_design, std::vector<unsigned>{8}) << key;
    }
    for (const char* key : {"h100-sxm-80gb", "mi300x", "a10"}) {
        EXPECT_TRUE(boards.find(key)->narrow_widths_by_design.empty()) << key;
    }
}

TEST(BoardFigures, MustHaveRows) {
    for (const char* key : {"mi350x",
                            "mi325x",
                            "mi300x",
                            "mi355x",
                            "mi308x",
                            "mi250x",
                            "mi210",
                            "mi300a",
                            "mi100",
                            "h200-sxm-141gb",
                            "h200-nvl-141gb",
                            "h100-sxm-80gb",
                            "h100-pcie-80gb",
                            "h100-nvl-94gb",
                            "a100-sxm-80gb",
                            "a100-pcie-80gb",
                            "a100-sxm-40gb",
                            "b200-sxm-180gb",
                            "gb200-186gb",
                            "b300-sxm-270gb",
                            "l40s",
                            "l4",
                            "a10",
                            "a10g",
                            "t4",
                            "rtx-pro-6000-server"}) {
        EXPECT_NE(embedded_boards().find(key), nullptr) << key;
    }
    EXPECT_EQ(embedded_boards().find(""), nullptr);
    EXPECT_EQ(embedded_boards().find("MI300X"), nullptr);
}

TEST(BoardFigures, TheFigureThatSeedArticlesGetWrong) {
    // Articles give the MI350X 128 GB, 2.8 TB/s and 300 W, which describes an MI250X and an MI210.
    const BoardRow* row = embedded_boards().find_row("mi350x");
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->board.arch, "gfx950");
    EXPECT_EQ(*row->memory_gb, (Figure{288, 288}));
    EXPECT_EQ(*row->memory_bandwidth_gb_s, (Figure{8000, 8000}));
    EXPECT_EQ(*row->tdp_w, (Figure{1000, 1000}));
    EXPECT_EQ(embedded_boards().find_row("mi355x")->peak("fp4_tflops")->value, (Figure{10066.3, 10066.3}));
    EXPECT_EQ(embedded_boards().find_row("b200-sxm-180gb")->peak("fp8_tflops")->value, (Figure{4500, 4500}));
}

TEST(BoardFigures, TheFileInsideTheBinaryNamesNoMemberTwice) {
    const std::string_view text(gpucheck_gpus_json_begin,
                                static_cast<std::size_t>(gpucheck_gpus_json_end - gpucheck_gpus_json_begin));
    const auto parsed = parse_data(text);
    EXPECT_TRUE(std::holds_alternative<Json>(parsed)) << std::get<std::string>(parsed);
}

}  // namespace
}  // namespace gpucheck
