// Builds the machines of burnt.h.
#include "tests/burn_checks/burnt.h"

#include <cstdlib>
#include <utility>

#include "tests/checks/healthy_amd_telemetry.h"
#include "tests/checks/healthy_telemetry.h"

namespace gpucheck {
namespace {

using U64 = std::uint64_t;

ExperimentResult measured(const char* experiment, const char* variant, const char* unit, double rate,
                          U64 samples) {
    ExperimentResult result;
    result.experiment = experiment;
    result.variant = variant;
    result.ran = fact(true);
    result.timed = fact(true);
    result.values_checked = result.values_expected = fact(U64{1000});
    result.mismatches = fact(U64{0});
    result.quantities = {{variant, unit, rate, rate * 0.99, rate * 1.01, samples}};
    return result;
}

struct Rates {
    double copy, triad, bf16, h2d, peer;
};

std::vector<ExperimentResult> results_of(const Rates& rates, const std::string& next) {
    std::vector<ExperimentResult> results{
        measured("launch", "", "us", 7, 200),
        measured("matrix", "bf16", "TFLOP/s", rates.bf16, 3),
        measured("matrix", "e4m3", "TFLOP/s", rates.bf16 * 1.9, 3),
        measured("memory_stream", "read", "GB/s", rates.copy * 1.02, 10),
        measured("memory_stream", "write", "GB/s", rates.copy * 0.98, 10),
        measured("memory_stream", "copy", "GB/s", rates.copy, 10),
        measured("memory_stream", "triad", "GB/s", rates.triad, 10),
        measured("host_link", "h2d", "GB/s", rates.h2d, 8),
        measured("host_link", "d2h", "GB/s", rates.h2d * 1.01, 8),
        measured("host_link", "both", "GB/s", rates.h2d * 1.7, 8),
    };
    if (next.empty()) return results;
    results.push_back(measured("peer", "direct", "GB/s", rates.peer, 4));
    results.back().peer = next;
    return results;
}

Quantity spread(double usual, double most) {
    return {"", "", usual, usual * 0.3, most, 600};
}

LoadSamples load_of(double watts, double limit) {
    LoadSamples load;
    load.samples = fact(U64{600});
    load.seconds = fact(30.0);
    load.power_w = fact(spread(watts * 0.8, watts));
    load.temperature_c = fact(spread(55, 64));
    load.memory_temperature_c = fact(spread(60, 71));
    load.clock_mhz = fact(spread(1700, 1980));
    load.throttle_mask = fact(U64{4});
    load.throttled_share = fact(0.0);
    load.throttled_by = {{"sw_power_cap", 0.4}};
    load.power_limit_w = fact(limit);
    load.ecc_corrected = load.ecc_uncorrected = fact(U64{0});
    load.copy_samples = fact(U64{40});
    load.link_generation_max = fact(U64{5});
    load.link_width_min = fact(U64{16});
    load.busy_share = fact(0.7);
    return load;
}

void burn(Snapshot& machine, const Rates& rates, double watts, double limit, U64 units) {
    const std::size_t count = machine.gpus.size();
    for (std::size_t i = 0; i < count; ++i) {
        Device& gpu = machine.gpus[i];
        // No two healthy GPUs are equal: half a percent from one to the next.
        const double own = 1 + 0.005 * static_cast<double>(i % 4);
        const std::string next = count > 1 ? machine.gpus[(i + 1) % count].bdf.str() : "";
        gpu.burn_in.results = Fact<std::vector<ExperimentResult>>(
            results_of(
                {rates.copy * own, rates.triad * own, rates.bf16 * own, rates.h2d * own, rates.peer * own},
                next),
            "experiments");
        gpu.burn_in.units = fact(units);
        gpu.burn_in.load = load_of(watts, limit);
    }
}

void set_figures(Snapshot& machine, std::vector<BoardRate> peaks, std::vector<BoardRate> floors,
                 unsigned watts) {
    for (Device& gpu : machine.gpus) {
        Board board = *gpu.board;
        board.peaks = peaks;
        board.floors = floors;
        board.power_w = fact(watts);
        gpu.board = fact(board);
    }
}

}  // namespace

Snapshot burnt_h100_x8() {
    Snapshot machine = telling_h100_x8();
    set_figures(machine,
                {{"memory_gb_s", 3350, "printed", "datasheet"},
                 {"bf16_tflops", 989.4, "printed", "datasheet"},
                 {"fp8_tflops", 1978.9, "printed", "datasheet"}},
                {{"memory_gb_s", 1905, "memory_bandwidth plugin", "DCGM"},
                 {"fp32_tflops", 29.25, "FP32 GEMM", "DCGM"},
                 {"host_link_gb_s", 48, "pinned copy, one way", "NHC"}},
                700);
    burn(machine, {2900, 2850, 640, 54, 360}, 640, 700, 132);
    return machine;
}

Snapshot burnt_mi300x_x8() {
    Snapshot machine = telling_mi300x_x8();
    set_figures(machine,
                {{"memory_gb_s", 5300, "printed", "datasheet"},
                 {"bf16_tflops", 1307.4, "printed", "datasheet"},
                 {"fp8_tflops", 2614.9, "printed", "datasheet"}},
                {{"memory_copy_gb_s", 4177.285, "BabelStream Copy", "AMD system acceptance guide"},
                 {"memory_mul_gb_s", 4067.069, "BabelStream Mul", "AMD system acceptance guide"},
                 {"memory_triad_gb_s", 3885.301, "BabelStream Triad", "AMD system acceptance guide"},
                 {"bf16_tflops", 551.95, "gst, random data, best interval", "RVS"},
                 {"fp8_tflops", 1154.25, "gst, random data, best interval", "RVS"},
                 {"fp32_tflops", 94.1, "rocBLAS SGEMM 4000", "AMD system acceptance guide"},
                 {"host_link_gb_s", 48, "pinned copy, one way", "NHC"}},
                750);
    for (Device& gpu : machine.gpus) {
        std::vector<KfdPeer> peers;
        for (const Device& other : machine.gpus) {
            if (other.bdf != gpu.bdf) peers.push_back({other.amd.kfd_nodes.front().node, 15});
        }
        gpu.amd.kfd_nodes.front().xgmi_peers = fact(peers);
    }
    burn(machine, {4300, 4050, 820, 55, 48}, 700, 750, 304);
    return machine;
}

Snapshot alone(Snapshot machine) {
    machine.gpus.resize(1);
    each_result(machine.gpus[0], [](ExperimentResult& result) {
        if (result.experiment == "peer") result.quantities.clear();
    });
    return machine;
}

ExperimentResult& result_of(Device& gpu, std::string_view experiment, std::string_view variant) {
    for (const ExperimentResult& result : *gpu.burn_in.results) {
        if (result.experiment == experiment && result.variant == variant)
            return const_cast<ExperimentResult&>(result);
    }
    std::abort();
}

void set_rate(Device& gpu, std::string_view experiment, std::string_view variant, double rate) {
    Quantity& quantity = result_of(gpu, experiment, variant).quantities.at(0);
    quantity.median = rate;
    quantity.min = rate * 0.99;
    quantity.max = rate * 1.01;
}

std::string observed_by(const Check& check, const Snapshot& machine) {
    const Findings said = complaints(check, machine);
    return said.size() == 1 ? said[0].observed : std::to_string(said.size()) + " complaints";
}

std::string expected_by(const Check& check, const Snapshot& machine) {
    const Findings said = complaints(check, machine);
    return said.size() == 1 ? said[0].expected : std::to_string(said.size()) + " complaints";
}

}  // namespace gpucheck
