// The table of comparable figures and how a rate is held to them; see burn_floors.h.
#include "checks/burn_floors.h"

#include <algorithm>
#include <array>

#include "checks/amd_facts.h"

namespace gpucheck {
namespace {

using namespace std::string_view_literals;

// BabelStream and our kernels move the same bytes in the same loops; two tuned libraries on one GPU still
// differ by up to 18 % (gpu_specs of the cost tables), so that only less than 85 % is the board's fault.
constexpr double kOtherKernel = 0.85;

// What is not here is compared with nothing: no FP32 GEMM (the experiments have none), no BabelStream Mul,
// Add or Dot, no gemm of ours (its kernel is not the vendor's library), no RCCL or xGMI figure.
constexpr std::array kComparisons{
    Comparison{"memory_copy_gb_s"sv, "memory_copy_gb_s"sv, "BabelStream Copy"sv, kOtherKernel},
    Comparison{"memory_triad_gb_s"sv, "memory_triad_gb_s"sv, "BabelStream Triad"sv, kOtherKernel},
    // DCGM's plugin is the Triad of STREAM, its figure three quarters of what NVIDIA measured.
    Comparison{"memory_triad_gb_s"sv, "memory_gb_s"sv, "memory_bandwidth plugin"sv, 1},
    // RVS gst multiplies from memory with random data and counts its best interval; with operands in
    // registers a board does at least that.
    Comparison{"matrix_fp64_tflops"sv, "fp64_matrix_tflops"sv, "gst, random data"sv, 1},
    Comparison{"matrix_fp16_tflops"sv, "fp16_tflops"sv, "gst, random data"sv, 1},
    Comparison{"matrix_bf16_tflops"sv, "bf16_tflops"sv, "gst, random data"sv, 1},
    Comparison{"matrix_fp8_tflops"sv, "fp8_tflops"sv, "gst, random data"sv, 1},
    Comparison{"matrix_int8_tops"sv, "int8_tops"sv, "gst, random data"sv, 1},
};

struct PeakOf {
    std::string_view measured, peak;
};
constexpr std::array kPeaks{
    PeakOf{"memory_read_gb_s"sv, "memory_gb_s"sv},
    PeakOf{"memory_write_gb_s"sv, "memory_gb_s"sv},
    PeakOf{"memory_copy_gb_s"sv, "memory_gb_s"sv},
    PeakOf{"memory_triad_gb_s"sv, "memory_gb_s"sv},
    PeakOf{"matrix_fp64_tflops"sv, "fp64_matrix_tflops"sv},
    PeakOf{"fp64_tflops"sv, "fp64_matrix_tflops"sv},
    PeakOf{"matrix_tf32_tflops"sv, "tf32_tflops"sv},
    PeakOf{"tf32_tflops"sv, "tf32_tflops"sv},
    PeakOf{"matrix_fp16_tflops"sv, "fp16_tflops"sv},
    PeakOf{"fp16_tflops"sv, "fp16_tflops"sv},
    PeakOf{"matrix_bf16_tflops"sv, "bf16_tflops"sv},
    PeakOf{"bf16_tflops"sv, "bf16_tflops"sv},
    PeakOf{"matrix_fp8_tflops"sv, "fp8_tflops"sv},
    PeakOf{"fp8_tflops"sv, "fp8_tflops"sv},
    PeakOf{"matrix_fp8_e5m2_tflops"sv, "fp8_tflops"sv},
    PeakOf{"fp8_e5m2_tflops"sv, "fp8_tflops"sv},
    PeakOf{"matrix_int8_tops"sv, "int8_tops"sv},
    PeakOf{"int8_tops"sv, "int8_tops"sv},
    PeakOf{"matrix_fp4_tflops"sv, "fp4_tflops"sv},
    PeakOf{"fp4_tflops"sv, "fp4_tflops"sv},
    PeakOf{"matrix_wgmma_tf32_tflops"sv, "tf32_tflops"sv},
    PeakOf{"matrix_wgmma_fp16_tflops"sv, "fp16_tflops"sv},
    PeakOf{"matrix_wgmma_bf16_tflops"sv, "bf16_tflops"sv},
    PeakOf{"matrix_wgmma_fp8_tflops"sv, "fp8_tflops"sv},
    PeakOf{"matrix_wgmma_fp8_e5m2_tflops"sv, "fp8_tflops"sv},
    PeakOf{"matrix_wgmma_int8_tops"sv, "int8_tops"sv},
};

// No memory is faster than its pins, and AMD prints matrix peaks at the highest clock. NVIDIA prints them at
// a boost clock that boards exceed: 989 TFLOP/s of an H100 are 132 SMs at 1830 MHz, and it clocks up to 1980.
constexpr double kAbovePeak = 1.05, kAboveBoostClock = 1.15;
// Of one gibibyte that was only written up to 128 MiB still lie in the largest NVIDIA caches when time stops.
constexpr double kAboveWritten = 1.15;
// Virtual machines lose 1 to 3 % (MLPerf Inference, virtualised H200 systems).
constexpr double kVirtual = 0.97;

const BoardRate* find(const std::vector<BoardRate>& rates, std::string_view metric, std::string_view test) {
    for (const BoardRate& rate : rates) {
        if (rate.metric == metric && std::string_view(rate.test).starts_with(test) && rate.value > 0)
            return &rate;
    }
    return nullptr;
}

std::string with_unit(double value, const Quantity& quantity) {
    return number_text(value) + " " + quantity.unit;
}

std::string observed_text(const MeasuredRate& rate) {
    const Quantity& quantity = *rate.quantity;
    std::string name = rate.result->experiment;
    if (!rate.result->variant.empty()) name += " " + rate.result->variant;
    return name + ": " + with_unit(quantity.median, quantity) + " (" + number_text(quantity.min) + " to " +
           number_text(quantity.max) + " in " + count_of(quantity.samples, "sample") + ")";
}

/// More than the board can do: nullopt when it is not, or when no peak is known.
std::optional<Finding> impossible(const Device& gpu, const MeasuredRate& rate) {
    const auto pair = std::find_if(kPeaks.begin(), kPeaks.end(),
                                   [&](const PeakOf& each) { return each.measured == rate.metric; });
    if (pair == kPeaks.end() || !gpu.board.known()) return std::nullopt;
    const BoardRate* peak = find(gpu.board->peaks, pair->peak, "");
    if (peak == nullptr) return std::nullopt;
    const bool memory = rate.metric.starts_with("memory_");
    const bool boosted = !memory && gpu.vendor == Vendor::nvidia;
    const double above = rate.metric == "memory_write_gb_s" ? kAboveWritten
                         : boosted                          ? kAboveBoostClock
                                                            : kAbovePeak;
    if (rate.quantity->median <= peak->value * above) return std::nullopt;
    return finding("burn.rate.implausible", Verdict::unknown, gpu.bdf,
                   "at most " + with_unit(peak->value, *rate.quantity) + " (" + peak->source + ")",
                   observed_text(rate), rate.result->ran.source());
}

struct Demand {
    double least = 0, fails_below = 0;
    std::string text;
};

/// The highest floor that this rate may be held to.
std::optional<Demand> demand(const Snapshot& snapshot, const Device& gpu, const MeasuredRate& rate,
                             const Share& part, const Share& power) {
    std::optional<Demand> highest;
    for (const Comparison& pair : kComparisons) {
        if (pair.measured != rate.metric) continue;
        const BoardRate* floor = find(gpu.board->floors, pair.floor, pair.test);
        if (floor == nullptr) continue;
        const bool guest = in_guest(snapshot, gpu);
        const double least = floor->value * part.factor * power.factor * (guest ? kVirtual : 1);
        if (highest && highest->least >= least) continue;
        std::string how = with_unit(floor->value, *rate.quantity) + part.text + power.text;
        if (guest) how += " x 97 % in a virtual machine";
        const bool scaled = how.find(" x ") != std::string::npos;
        highest = Demand{least, least * pair.fails_below,
                         "at least " + (scaled ? with_unit(least, *rate.quantity) + " = " : std::string()) +
                             how + " (" + floor->test + "; " + floor->source + ")"};
    }
    return highest;
}

}  // namespace

Finding judge_rate(const Snapshot& snapshot, const Device& gpu, const MeasuredRate& rate,
                   const RateWords& words) {
    const std::string observed = observed_text(rate);
    const std::string& source = rate.result->ran.source();
    const auto not_held = [&](const std::string& why) {
        return finding(words.id, Verdict::not_applicable, gpu.bdf, "a floor of this board for this test",
                       why + "; judged against the other GPUs of this machine alone; " + observed, source);
    };
    if (!gpu.board.known()) return not_held("the board is not known");
    if (std::optional<Finding> found = impossible(gpu, rate)) return std::move(*found);
    const Share part = partition_share(gpu), power = power_share(gpu);
    if (part.factor <= 0) return not_held("how large this part of the board is, is not known");
    const std::optional<Demand> floor = demand(snapshot, gpu, rate, part, power);
    if (!floor) return not_held("nobody published what a healthy " + gpu.board->name + " reaches here");
    const Quantity& quantity = *rate.quantity;
    if (quantity.median >= floor->least)
        return finding(words.id, Verdict::pass, gpu.bdf, floor->text, observed, source);
    // Floors are of best intervals: one sample that reaches it shows that the board can.
    const bool fails = quantity.samples >= kRepeated && quantity.max < floor->fails_below;
    return finding(words.slow, fails ? Verdict::fail : Verdict::warn, gpu.bdf, floor->text, observed, source);
}

}  // namespace gpucheck
