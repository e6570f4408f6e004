// Finds reports that no GPU wrote: a node that invents perfect numbers would else be the fleet's best.
#include <algorithm>
#include <array>
#include <cmath>
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

/// The most that is believed, as docs/experiments.md has it for a single machine: makers print NVIDIA's
/// matrix peaks at a boost clock that boards exceed, and caches still hold a part of what was written.
std::optional<double> most_believed(const std::string& board, std::string_view metric) {
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
    if (memory)
        return row->memory_bandwidth_gb_s.known() ? std::optional(row->memory_bandwidth_gb_s->high * above)
                                                  : std::nullopt;
    const Peak* peak = row->peak(pair->peak);
    return peak == nullptr ? std::nullopt : std::optional(peak->value.high * above);
}

void suspect(Deliberation& work, std::size_t node, std::string rule, std::string text, int gpu = -1) {
    work.mark(node, gpu, "implausible");
    work.add(node, Decision::quarantine, std::move(rule), std::move(text), gpu);
}

void judge_peaks(Deliberation& work, const WorkGroup& group, std::string_view metric,
                 const std::vector<Cell>& column) {
    const auto most = most_believed(group.group.key.board, metric);
    if (!most) return;
    std::size_t last = work.nodes.size();
    for (const Cell& cell : column) {
        if (cell.value <= *most || cell.node == last) continue;
        last = cell.node;
        suspect(work, cell.node, "impossible",
                "GPU " + work.text(work.gpu(cell).bdf) + ": " + std::string(metric) + " " +
                    number(cell.value) + " is more than a " + group.group.key.board + " can do (" +
                    number(*most) + ")",
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

}  // namespace

void judge_plausibility(Deliberation& work, const WorkGroup& group, std::string_view metric,
                        const std::vector<Cell>& column) {
    judge_peaks(work, group, metric, column);
    struct Range {
        std::uint32_t node;
        float range;
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
            ranges.push_back({column[first].node, (high - low) / high, end - first});
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
    if (peers && (usual < 1e-4 || alike_by_chance(column, fewest, ranges.size()) > 0.01)) return;
    for (const Range& each : ranges) {
        Plausibility& node = work.plausibility[each.node];
        ++node.spreads;
        if (each.range == 0) ++node.identical;
        // Of four GPUs' independent noise one node in 8,000 has a twentieth of the usual range, of eight one
        // in 10^8; and it takes half of its measurements.
        if (peers && each.range < 0.05 * usual) ++node.uniform;
    }
}

void find_liars(Deliberation& work) {
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
