// Chips, their nodes, their faults; see synthetic.h.
#include "tests/fleet/generate/synthetic.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gpucheck::fleet {
namespace {

/// Typical rates of a board, all measured by the same kernels. Bandwidth and matrix rates of healthy boards
/// are those of checks/cost/data/board_rates.json; the rest are proportions that only have to be the same for
/// all.
struct BoardRates {
    const char* board;
    const char* instance_type;
    const char* driver;
    const char* newer_driver;
    const char* firmware;
    const char* mode;
    double memory_gb_s, bf16_tflops, fp8_tflops;
};
constexpr std::array kBoards{BoardRates{"h100-sxm-80gb", "gpu-h100-8", "nvidia 570.133.20",
                                        "nvidia 575.57.08", "96.00.74.00.01", "whole", 3080, 780, 1270},
                             BoardRates{"h200-sxm-141gb", "gpu-h200-8", "nvidia 570.133.20",
                                        "nvidia 575.57.08", "96.00.99.00.01", "whole", 4250, 775, 1300},
                             BoardRates{"mi300x", "gpu-mi300x-8", "amdgpu 6.12.12", "amdgpu 6.14.14",
                                        "113-M3000100-103", "SPX/NPS1", 4200, 620, 1180}};

const BoardRates& rates_of(const std::string& board) {
    const auto found = std::find_if(kBoards.begin(), kBoards.end(),
                                    [&](const BoardRates& each) { return board == each.board; });
    return found == kBoards.end() ? kBoards.front() : *found;
}

constexpr std::array<std::string_view, 7> kFaults{"slow_memory",  "slow_matrix", "one_gpu", "bad_rack",
                                                  "wrong_driver", "liar",        "lemon"};

enum class Kind { memory, matrix, link, launch, other };
struct MetricShape {
    const char* name;  ///< sorted
    Kind kind;
    double share;  ///< of the board's rate of this kind, or the value itself
};
constexpr std::array kMetrics{MetricShape{"bf16_tflops", Kind::matrix, 0.80},
                              MetricShape{"capacity_bytes", Kind::other, 85520809984},
                              MetricShape{"fp8_tflops", Kind::matrix, 1.30},
                              MetricShape{"host_link_both_gb_s", Kind::link, 86},
                              MetricShape{"host_link_d2h_gb_s", Kind::link, 52},
                              MetricShape{"host_link_h2d_gb_s", Kind::link, 54},
                              MetricShape{"launch_us", Kind::launch, 4.2},
                              MetricShape{"matrix_bf16_tflops", Kind::matrix, 1.0},
                              MetricShape{"matrix_fp8_tflops", Kind::matrix, 1.63},
                              MetricShape{"memory_copy_gb_s", Kind::memory, 0.93},
                              MetricShape{"memory_read_gb_s", Kind::memory, 1.0},
                              MetricShape{"memory_triad_gb_s", Kind::memory, 0.95},
                              MetricShape{"memory_write_gb_s", Kind::memory, 0.97},
                              MetricShape{"power_w", Kind::other, 610}};

constexpr std::size_t kKinds = 4;

double width_of(const Lottery& lottery, std::size_t kind) {
    return std::array{lottery.memory, lottery.matrix, lottery.link, lottery.launch}[kind] / 100 / 4;
}

/// A chip's place among chips, in standard deviations.
double place(Dice& dice, Lottery::Shape shape) {
    switch (shape) {
        case Lottery::Shape::normal:
            return dice.normal();
        case Lottery::Shape::flat:
            return (dice.uniform() - 0.5) * std::sqrt(12.0);
        case Lottery::Shape::lower_tail: {
            // The negated logarithm of a uniform number has mean and standard deviation 1, and one tail.
            const double x = dice.uniform();
            return 1 + std::log(x < 1e-9 ? 1e-9 : x);
        }
        case Lottery::Shape::heavy_tails: {
            // Student's t with five degrees of freedom, brought to standard deviation 1.
            double squares = 0;
            for (int i = 0; i < 5; ++i) {
                const double each = dice.normal();
                squares += each * each;
            }
            return dice.normal() / std::sqrt(squares / 5) / std::sqrt(5.0 / 3);
        }
    }
    return 0;
}

std::uint64_t seed_of(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
    Dice dice(seed * 0x9e3779b97f4a7c15U + a);
    return dice.next() ^ (b * 0xbf58476d1ce4e5b9U + 0x94d049bb133111ebU);
}

std::string uuid(std::uint64_t high, std::uint64_t low) {
    char text[40];
    std::snprintf(text, sizeof text, "%08x-%04x-7%03x-8%03x-%012llx", static_cast<unsigned>(high >> 32U),
                  static_cast<unsigned>(high >> 16U & 0xffffU), static_cast<unsigned>(high & 0xfffU),
                  static_cast<unsigned>(low >> 52U), static_cast<unsigned long long>(low & 0xffffffffffffU));
    return text;
}

std::string numbered(const char* format, std::size_t number) {
    char text[40];
    std::snprintf(text, sizeof text, format, static_cast<unsigned long>(number));
    return text;
}

double fault_factor(Fault fault, Kind kind, bool this_gpu, bool memory_side) {
    switch (fault) {
        case Fault::slow_memory:
            return kind == Kind::memory ? 0.94 : 1;
        case Fault::slow_matrix:
            return kind == Kind::matrix ? 0.92 : 1;
        case Fault::bad_rack:
            return kind == Kind::matrix ? 0.93 : 1;
        case Fault::one_gpu:
            if (!this_gpu) return 1;
            return memory_side ? (kind == Kind::memory ? 0.94 : 1) : (kind == Kind::matrix ? 0.86 : 1);
        default:
            return 1;
    }
}

}  // namespace

std::uint64_t Dice::next() {
    // SplitMix64 (Steele, Lea and Flood, 2014).
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30U) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27U) * 0x94d049bb133111ebU;
    return z ^ z >> 31U;
}

double Dice::uniform() {
    return static_cast<double>(next() >> 11U) * 0x1.0p-53;
}

double Dice::normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return std::clamp(radius * std::cos(6.283185307179586 * uniform()), -6.0, 6.0);
}

std::size_t Dice::below(std::size_t count) {
    return static_cast<std::size_t>(uniform() * static_cast<double>(count));
}

const char* name_of(Fault fault) {
    return kFaults[static_cast<std::size_t>(fault)].data();
}

std::optional<Fault> fault_from(std::string_view name) {
    const auto found = std::find(kFaults.begin(), kFaults.end(), name);
    if (found == kFaults.end()) return std::nullopt;
    return static_cast<Fault>(found - kFaults.begin());
}

bool is_known_board(std::string_view key) {
    return std::any_of(kBoards.begin(), kBoards.end(),
                       [&](const BoardRates& each) { return key == each.board; });
}

std::vector<Fault> usual_eight() {
    return {Fault::slow_memory, Fault::slow_memory, Fault::slow_matrix,  Fault::one_gpu,
            Fault::bad_rack,    Fault::bad_rack,    Fault::wrong_driver, Fault::liar};
}

Generator::Generator(const Recipe& recipe) : recipe_(recipe), fault_of_(recipe.nodes, -1) {
    plant();
}

void Generator::plant() {
    Dice dice(seed_of(recipe_.seed, 0xfa17, 0));
    std::size_t rack = recipe_.nodes, in_rack = 0;
    for (const Fault fault : recipe_.faults) {
        if (truth_.size() >= recipe_.nodes) break;
        std::size_t node = 0;
        do {
            node = dice.below(recipe_.nodes);
            if (fault != Fault::bad_rack) continue;
            if (rack == recipe_.nodes) rack = node / recipe_.in_rack;
            node = rack * recipe_.in_rack + in_rack++;
            if (in_rack == recipe_.in_rack) rack = recipe_.nodes, in_rack = 0;
            node = std::min(node, recipe_.nodes - 1);
        } while (fault_of_[node] >= 0);
        fault_of_[node] = static_cast<int>(truth_.size());
        const bool single = fault == Fault::one_gpu || fault == Fault::lemon;
        truth_.push_back(
            {numbered("node-%06lu", node), fault, single ? static_cast<int>(dice.below(recipe_.gpus)) : -1});
    }
}

NodeReport Generator::report(std::size_t index, std::size_t day, Vocabulary& names) const {
    const BoardRates& rates = rates_of(recipe_.boards[index % recipe_.boards.size()]);
    const Planted* planted =
        fault_of_[index] < 0 ? nullptr : &truth_[static_cast<std::size_t>(fault_of_[index])];
    Dice run(seed_of(recipe_.seed, 1000 + day, index));
    NodeReport report;
    report.node = numbered("node-%06lu", index);
    report.key = "synthetic/" + report.node;
    report.report_id = uuid(run.next(), run.next());
    char created[32];
    std::snprintf(created, sizeof created, "2026-11-%02uT10:%02u:%02uZ", static_cast<unsigned>(day % 28 + 1),
                  static_cast<unsigned>(index / 60 % 60), static_cast<unsigned>(index % 60));
    report.created = created;
    report.boot_id = uuid(run.next(), run.next());
    Dice node(seed_of(recipe_.seed, 1, index));
    const bool drifted =
        node.uniform() < recipe_.drift * static_cast<double>(day + 1) / static_cast<double>(recipe_.days);
    report.provider = names.intern("synthetic");
    report.instance_type = names.intern(rates.instance_type);
    report.region = names.intern("region-1");
    report.zone = names.intern(numbered("zone-%lu", index * 4 / recipe_.nodes));
    report.driver = names.intern(planted != nullptr && planted->fault == Fault::wrong_driver
                                     ? (rates.driver[0] == 'n' ? "nvidia 535.129.03" : "amdgpu 6.8.5")
                                 : drifted ? rates.newer_driver
                                           : rates.driver);
    report.kernel = names.intern("6.8.0-55-generic");
    report.os = names.intern("Ubuntu 24.04.2 LTS");
    report.tool_version = names.intern("0.1.0");
    report.profile = names.intern("boot");
    report.labels = {{names.intern("rack"), names.intern(numbered("rack-%04lu", index / recipe_.in_rack))}};
    report.verdict = Verdict::pass;
    report.gpus_expected = report.gpus_found = report.gpus_bound = static_cast<int>(recipe_.gpus);
    std::array<double, kKinds> of_node{};
    for (double& each : of_node) each = node.normal() * recipe_.lottery.node_share;
    for (std::size_t g = 0; g < recipe_.gpus; ++g) {
        Dice chip(seed_of(recipe_.seed, 2 + g, index));
        Gpu gpu;
        gpu.bdf = names.intern(numbered("0000:%02lx:00.0", 0x11 + 0x10 * g));
        gpu.board = names.intern(rates.board);
        gpu.identity = "GPU-" + uuid(chip.next(), chip.next());
        gpu.firmware = names.intern(rates.firmware);
        gpu.verdict = Verdict::pass;
        gpu.mode = names.intern(rates.mode);
        gpu.memory_gib = 85520809984.0F / (1024.0F * 1024 * 1024);
        gpu.link_width = 16;
        gpu.link_generation = gpu.link_generation_rest = 5;
        std::array<double, kKinds> place_of{};
        for (double& each : place_of) each = place(chip, recipe_.lottery.shape);
        const bool this_gpu = planted != nullptr && planted->gpu == static_cast<int>(g);
        for (const MetricShape& metric : kMetrics) {
            double value = metric.share;
            if (metric.kind == Kind::memory) value *= rates.memory_gb_s;
            if (metric.kind == Kind::matrix)
                value *= metric.share > 1.2 ? rates.fp8_tflops / 1.63 : rates.bf16_tflops;
            if (metric.kind != Kind::other) {
                const auto kind = static_cast<std::size_t>(metric.kind);
                const double away = width_of(recipe_.lottery, kind) * (place_of[kind] + of_node[kind]);
                value *= std::max(0.05, 1 + away + recipe_.lottery.run_noise / 100 * run.normal());
                if (planted != nullptr && planted->fault == Fault::liar)
                    value = metric.share * (metric.kind == Kind::memory   ? rates.memory_gb_s * 1.02
                                            : metric.kind == Kind::matrix ? rates.bf16_tflops * 1.06
                                                                          : 1.0);
                else if (planted != nullptr)
                    value *= fault_factor(planted->fault, metric.kind, this_gpu, fault_of_[index] % 2 == 0);
            } else if (metric.share < 1000) {
                value *= 1 + 0.02 * run.normal();
            }
            gpu.values.push_back({names.intern(metric.name), static_cast<float>(value)});
        }
        if (planted != nullptr && planted->fault == Fault::lemon && this_gpu && day % 2 == 0 &&
            day + 1 < recipe_.days) {
            gpu.verdict = report.verdict = Verdict::fail;
            Problem problem;
            problem.code = names.intern("xid.fatal");
            problem.check = names.intern("kernel.log");
            problem.verdict = Verdict::fail;
            problem.scope = names.intern("host");
            problem.action = names.intern("drain_and_replace");
            problem.subject = gpu.bdf;
            problem.gpu = static_cast<int>(g);
            report.problems.push_back(problem);
        }
        report.gpus.push_back(std::move(gpu));
    }
    return report;
}

Synthetic synthetic(const Recipe& recipe) {
    Synthetic made;
    const Generator generator(recipe);
    for (std::size_t day = 0; day < recipe.days; ++day) {
        for (std::size_t node = 0; node < recipe.nodes; ++node)
            made.fleet.reports.push_back(generator.report(node, day, made.fleet.names));
    }
    made.truth = generator.truth();
    return made;
}

}  // namespace gpucheck::fleet
