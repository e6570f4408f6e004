// Finds reports that no GPU wrote: a node that invents perfect numbers would else be the fleet's best.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "checks/specs/boards.h"
#include "fleet/analysis/deliberation.h"
#include "fleet/analysis/identity.h"

namespace gpucheck::fleet {
namespace {

constexpr std::size_t kFewestGpus = 4, kFewestNodes = 5;

struct PeakOf {
    std::string_view measured, peak;  ///< peak "": the memory's bandwidth
};
constexpr std::array kPeaks{PeakOf{"memory_read_gb_s", ""},
                            PeakOf{"memory_write_gb_s", ""},
                            PeakOf{"memory_copy_gb_s", ""},
                            PeakOf{"memory_triad_gb_s", ""},
                            PeakOf{"bf16_tflops", "bf16_tflops"},
                            PeakOf{"fp16_tflops", "fp16_tflops"},
                            PeakOf{"fp8_tflops", "fp8_tflops"},
                            PeakOf{"fp4_tflops", "fp4_tflops"},
                            PeakOf{"matrix_bf16_tflops", "bf16_tflops"},
                            PeakOf{"matrix_fp8_tflops", "fp8_tflops"}};

/// What a board is made for.
struct Made {
    double low = 0, high = 0;
    /// How much more than `high` is believed, as docs/experiments.md has it for a single machine: makers
    /// print NVIDIA's matrix peaks at a boost clock that boards exceed, and caches still hold a part of what
    /// was written.
    double above = 1;
};

std::optional<Made> made_for(const std::string& board, std::string_view metric) {
    const auto pair = std::find_if(kPeaks.begin(), kPeaks.end(),
                                   [&](const PeakOf& each) { return each.measured == metric; });
    if (pair == kPeaks.end()) return std::nullopt;
    static const auto loaded = BoardTable::load();
    const auto* table = std::get_if<BoardTable>(&loaded);
    const BoardRow* row = table == nullptr ? nullptr : table->find_row(board);
    if (row == nullptr) return std::nullopt;
    const bool memory = pair->peak.empty();
    const double above =
        (memory ? metric == "memory_write_gb_s" : row->board.vendor == Vendor::nvidia) ? 1.15 : 1.05;
    if (memory) {
        if (!row->memory_bandwidth_gb_s.known()) return std::nullopt;
        return Made{row->memory_bandwidth_gb_s->low, row->memory_bandwidth_gb_s->high, above};
    }
    const Peak* peak = row->peak(pair->peak);
    if (peak == nullptr) return std::nullopt;
    return Made{peak->value.low, peak->value.high, above};
}

/// DCGM's own floor is 75 % of what NVIDIA measured; below a fifth of the datasheet nothing was measured that
/// such a board does, and a whole fleet of it would be its own normal.
constexpr double kLeastOfDatasheet = 0.2;

/// The datasheet speaks of the whole board, and says nothing of one part of it.
bool is_whole(std::string_view mode) {
    return mode == "whole" || mode.starts_with("SPX");
}

void suspect(Deliberation& work, std::size_t node, std::string rule, std::string text, int gpu = -1) {
    work.mark(node, gpu, "implausible");
    work.add(node, Decision::quarantine, std::move(rule), std::move(text), gpu);
}

void judge_peaks(Deliberation& work, const WorkGroup& group, std::string_view metric,
                 const std::vector<Cell>& column) {
    const auto made = made_for(group.group.key.board, metric);
    if (!made) return;
    const double most = made->high * made->above;
    const double least = is_whole(group.group.key.mode) ? kLeastOfDatasheet * made->low : 0;
    std::size_t last = work.nodes.size();
    for (const Cell& cell : column) {
        const bool above = cell.value > most, below = cell.value < least;
        if ((!above && !below) || cell.node == last) continue;
        last = cell.node;
        const std::string what = "GPU " + work.text(work.gpu(cell).bdf) + ": " + std::string(metric) + " " +
                                 number(cell.value) + " is ";
        const std::string& board = group.group.key.board;
        suspect(work, cell.node, above ? "impossible" : "far too slow",
                above ? what + "more than a " + board + " can do (" + number(most) + ")"
                      : what + "less than a fifth of what a " + board + " is made for (" + number(made->low) +
                            "): a failed measurement, or a very sick GPU",
                static_cast<int>(cell.gpu));
    }
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
    return hash ^ (hash >> 29U);
}

/// All measurements of a node, in the order of GPUs and metrics; nullopt with fewer than eight different
/// numbers, which chance may repeat.
std::optional<std::uint64_t> fingerprint(const Deliberation& work, std::size_t node) {
    std::unordered_set<float> different;
    std::uint64_t hash = 1;
    for (const Gpu& gpu : work.report(node).gpus) {
        for (const Value& value : gpu.values) {
            if (!direction_of(work.text(value.metric)).judged) continue;
            std::uint32_t bits = 0;
            std::memcpy(&bits, &value.value, sizeof bits);
            hash = mixed(hash, bits);
            hash = mixed(hash, std::hash<std::string>{}(work.text(value.metric)));
            different.insert(value.value);
        }
    }
    return different.size() < 8 ? std::nullopt : std::optional(hash);
}

void find_copies(Deliberation& work) {
    std::unordered_map<std::uint64_t, std::size_t> first;
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t node = 0; node < work.nodes.size(); ++node) {
        if (!work.counts[node]) continue;
        const auto print = fingerprint(work, node);
        if (!print) continue;
        const auto [known, fresh] = first.emplace(*print, node);
        if (!fresh) pairs.emplace_back(known->second, node);
    }
    std::size_t told = work.nodes.size();
    for (const auto& [one, other] : pairs) {
        const auto text = [&](std::size_t own, std::size_t of) {
            return "its measurements are those of " + name_beside(work.report(own), work.report(of)) +
                   " to the last digit";
        };
        if (told != one) suspect(work, one, "copied", text(one, other));
        told = one;
        suspect(work, other, "copied", text(other, one));
    }
}

/// More digits than somebody rounds to: six of them alike on all GPUs of a node are no coarse measurement,
/// however many nodes have such numbers. (Values are floats, which hold seven.)
bool is_fine(float value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.5g", static_cast<double>(value));
    return std::strtof(text, nullptr) != value;
}

/// How many of `nodes` have the same number on all of `gpus` GPUs, if each number is as frequent as it is.
double alike_by_chance(const std::vector<Cell>& column, std::size_t gpus, std::size_t nodes) {
    std::vector<float> values;
    for (const Cell& cell : column) values.push_back(cell.value);
    std::sort(values.begin(), values.end());
    double expected = 0;
    for (std::size_t first = 0; first < values.size();) {
        std::size_t end = first;
        while (end < values.size() && values[end] == values[first]) ++end;
        expected += std::pow(static_cast<double>(end - first) / static_cast<double>(values.size()),
                             static_cast<double>(gpus));
        first = end;
    }
    return expected * static_cast<double>(nodes);
}

/// A zero among the measurements is none, and said: else it would be a metric that nobody has measured.
void find_no_speeds(Deliberation& work) {
    if (work.policy.accept_uncompared) return;
    for (std::size_t node = 0; node < work.nodes.size(); ++node) {
        if (!work.counts[node]) continue;
        const NodeReport& report = work.report(node);
        std::set<std::string> metrics;
        for (const Gpu& gpu : report.gpus) {
            for (const Value& value : gpu.values) {
                if (!is_speed(value.value) && direction_of(work.text(value.metric)).judged)
                    metrics.insert(work.text(value.metric));
            }
        }
        if (metrics.empty()) continue;
        work.add(node, Decision::no_evidence, "no speed",
                 *metrics.begin() +
                     (metrics.size() == 1 ? "" : " and " + std::to_string(metrics.size() - 1) + " more") +
                     " is 0 or no number on one of its GPUs: the measurement failed");
    }
}

}  // namespace

void judge_plausibility(Deliberation& work, const WorkGroup& group, std::string_view metric,
                        const std::vector<Cell>& column) {
    judge_peaks(work, group, metric, column);
    struct Range {
        std::uint32_t node;
        float range, high;
        std::size_t gpus;
    };
    std::vector<Range> ranges;
    for (std::size_t first = 0; first < column.size();) {
        std::size_t end = first;
        float low = column[first].value, high = low;
        for (; end < column.size() && column[end].node == column[first].node; ++end) {
            low = std::min(low, column[end].value);
            high = std::max(high, column[end].value);
        }
        if (end - first >= kFewestGpus && high > 0)
            ranges.push_back({column[first].node, (high - low) / high, high, end - first});
        first = end;
    }
    if (ranges.empty()) return;
    std::vector<float> all;
    std::size_t fewest = ranges.front().gpus;
    for (const Range& each : ranges) {
        all.push_back(each.range);
        fewest = std::min(fewest, each.gpus);
    }
    const bool peers = all.size() >= kFewestNodes;
    const double usual = peers ? median_of(all) : 0;
    // Where alike GPUs are usual the numbers are coarse, and say nothing about who wrote them.
    const bool coarse = peers && (usual < 1e-4 || alike_by_chance(column, fewest, ranges.size()) > 0.01);
    for (const Range& each : ranges) {
        if (coarse && !(each.range == 0 && is_fine(each.high))) continue;
        Plausibility& node = work.plausibility[each.node];
        ++node.spreads;
        if (each.range == 0) ++node.identical;
        // Of four GPUs' independent noise one node in 8,000 has a twentieth of the usual range, of eight one
        // in 10^8; and it takes half of its measurements.
        if (peers && !coarse && each.range < 0.05 * usual) ++node.uniform;
    }
}

void find_liars(Deliberation& work) {
    find_no_speeds(work);
    for (std::size_t node = 0; node < work.nodes.size(); ++node) {
        const Plausibility& found = work.plausibility[node];
        const std::string of = " of " + std::to_string(found.spreads) + " measurements";
        if (found.identical >= 3 || (found.identical >= 2 && found.uniform >= 2))
            suspect(work, node, "identical",
                    "all its GPUs report the same number to the last digit in " +
                        std::to_string(found.identical) + of);
        else if (found.uniform >= 2 && 2 * found.uniform >= found.spreads)
            suspect(work, node, "no spread",
                    "its GPUs differ by less than a twentieth of what others' do in " +
                        std::to_string(found.uniform) + of);
    }
    find_copies(work);
}

}  // namespace gpucheck::fleet
