// What a measurement may be judged by; see burn_facts.h.
#include "checks/burn_facts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "checks/amd_facts.h"
#include "checks/capacity.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

// A second of sampling: what is shorter says nothing about a state that lasts.
constexpr std::uint64_t kLeastSamples = 10;
// Memory that is a hundredth short of its share is no smaller share.
constexpr double kWhole = 0.97;

double part_of(const Fact<std::uint64_t>& mine, std::uint64_t all) {
    if (!mine.known() || all == 0) return 0;
    return std::min(1.0, static_cast<double>(*mine) / static_cast<double>(all));
}

Fact<double> watts(const Fact<std::uint64_t>& fact, double divisor) {
    if (!fact.known()) return fact.missing();
    const double value = static_cast<double>(*fact) / divisor;
    // A limit of nothing, or of ten kilowatts, is no limit of a board.
    if (value < 1 || value > 10000) return Missing{fact.source(), "no power limit: " + number_text(value)};
    return Fact<double>(value, fact.source());
}

}  // namespace

bool is_split(const Device& gpu) {
    return gpu.amd.kfd_nodes.size() > 1 || partitions_of(gpu).value_or(1) > 1 || slice_of(gpu) > 1 ||
           sliced(gpu);
}

bool may_be_split(const Device& gpu) {
    return is_split(gpu) ||
           (gpu.vendor == Vendor::nvidia && !gpu.telemetry.first.nvidia.state.mig_current.known());
}

NotApplicable without_burn_in(const Snapshot& snapshot) {
    if (snapshot.gpus.empty()) return "no GPU found";
    if (tested_gpus(snapshot).empty()) return "no experiment ran";
    return std::nullopt;
}

Gpus tested_gpus(const Snapshot& snapshot) {
    Gpus tested;
    for (const Device& gpu : snapshot.gpus) {
        const auto& results = gpu.burn_in.results;
        // What told nothing but that nothing ran was under no load.
        if (results.known() &&
            std::any_of(results->begin(), results->end(), [](const ExperimentResult& result) {
                return result.ran.is(true) || result.mismatches.known();
            }))
            tested.push_back(&gpu);
    }
    return tested;
}

std::optional<std::string> untimed(const Device& gpu) {
    bool simulated = false;
    for (const ExperimentResult& result : *gpu.burn_in.results) {
        if (result.timed.is(true)) return std::nullopt;
        simulated = simulated || result.timed.is(false);
    }
    return simulated ? "sizes set by hand or a simulated device: its times mean nothing"
                     : "nothing was timed";
}

Finding not_by_time(std::string_view id, const Device& gpu, const std::string& why) {
    return finding(id, Verdict::not_applicable, gpu.bdf, "a rate that was measured",
                   "not judged by time: " + why, gpu.burn_in.results.source());
}

std::vector<MeasuredRate> rates_of(const Device& gpu) {
    return sound_rates(*gpu.burn_in.results);
}

std::vector<MeasuredRate> rates_of(const Device& gpu, std::string_view prefix) {
    std::vector<MeasuredRate> rates = rates_of(gpu);
    std::erase_if(rates, [&](const MeasuredRate& rate) { return !rate.metric.starts_with(prefix); });
    return rates;
}

std::string rate_gap(const Device& gpu, std::string_view experiment, bool each) {
    std::string gap;
    bool any = false, rate = false;
    for (const ExperimentResult& result : *gpu.burn_in.results) {
        if (result.experiment != experiment) continue;
        any = true;
        rate = rate || (is_sound(result) && !result.quantities.empty());
        if (!is_sound(result) || !result.quantities.empty()) continue;
        gap += (gap.empty() ? "" : ", ") + result.experiment;
        if (!result.variant.empty()) gap += " " + result.variant;
        gap += ": ended before a second repetition";
    }
    if (!any) return std::string(experiment) + ": not run";
    return each || !rate ? gap : std::string();
}

Finding unmeasured(const Device& gpu, const std::string& gap) {
    return finding("burn.rate.unmeasured", Verdict::unknown, gpu.bdf, "a rate from repeated measurements",
                   gap, gpu.burn_in.results.source());
}

Share partition_share(const Device& gpu) {
    const Fact<std::uint64_t>& units = gpu.burn_in.units;
    // A whole GPU that shows fewer units than its board has is held to the whole board's floor; one that may
    // be a MIG instance, because nobody could ask, is not.
    const bool fewer = gpu.board.known() && gpu.board->compute_units.known() && units.known() &&
                       *units < *gpu.board->compute_units;
    if (!is_split(gpu)) return fewer && may_be_split(gpu) ? Share{0.0, ""} : Share{};
    const bool board = gpu.board.known() && gpu.board->compute_units.known();
    if (!board || !units.known()) return {0.0, ""};
    const unsigned all = *gpu.board->compute_units;
    const double by_units = part_of(units, all);
    Share share{by_units, " x " + std::to_string(*units) + " of " + std::to_string(all) + " units"};
    const Fact<std::uint64_t>& memory = gpu.board->memory_bytes;
    const double by_memory = memory.known() ? part_of(gpu.burn_in.total_bytes, *memory) : 1.0;
    if (by_memory > 0 && by_memory < share.factor * kWhole)
        share = {by_memory, " x " + number_text(by_memory * 100) + " % of the memory"};
    return share;
}

Fact<double> power_limit_w(const Device& gpu) {
    const Fact<double>& sampled = gpu.burn_in.load.power_limit_w;
    if (sampled.known() && *sampled >= 1 && *sampled <= 10000) return sampled;
    if (gpu.vendor == Vendor::amd) return watts(amd_newest(gpu, &AmdTelemetry::power_cap_uw), 1e6);
    return watts(newest(gpu, &NvidiaTelemetry::power, &NvPower::limit_enforced_mw), 1e3);
}

Fact<double> default_power_limit_w(const Device& gpu) {
    const bool amd = gpu.vendor == Vendor::amd;
    Fact<double> shipped = amd ? watts(amd_newest(gpu, &AmdTelemetry::power_cap_default_uw), 1e6)
                               : watts(newest(gpu, &NvidiaTelemetry::power, &NvPower::limit_default_mw), 1e3);
    if (gpu.board.known() && gpu.board->power_w.known()) {
        const Fact<unsigned>& board = gpu.board->power_w;
        // A board with a lower default than its row was made slower by whoever owns it, or is another SKU.
        if (!shipped.known() || *board > *shipped) return Fact<double>(*board, board.source());
    }
    return shipped;
}

Share power_share(const Device& gpu) {
    const Fact<double> limit = power_limit_w(gpu), shipped = default_power_limit_w(gpu);
    // Configured differences are no faults: an H200 capped by its owner was 17 to 23 % slower, an MI355X at
    // 1000 of 1400 W 16 to 18 % (MLPerf Inference, closed division). In proportion is less than that.
    if (!limit.known() || !shipped.known() || *limit >= *shipped) return {};
    return {*limit / *shipped, " x " + number_text(*limit) + " of " + number_text(*shipped) + " W"};
}

std::optional<LinkUnderLoad> link_under_load(const Device& gpu) {
    const LoadSamples& load = gpu.burn_in.load;
    if (!gpu.burn_in.results.known() || !load.copy_samples.known() || *load.copy_samples < kRepeated ||
        !load.link_generation_max.known() || *load.link_generation_max == 0 || *load.link_generation_max > 7)
        return std::nullopt;
    const auto& results = *gpu.burn_in.results;
    const bool copied = std::any_of(results.begin(), results.end(), [](const ExperimentResult& result) {
        return result.experiment == "host_link" && result.ran.is(true);
    });
    if (!copied) return std::nullopt;
    LinkUnderLoad link;
    link.generation = static_cast<unsigned>(*load.link_generation_max);
    link.samples = *load.copy_samples;
    link.source = load.link_generation_max.source() + ", " + std::to_string(*load.copy_samples) +
                  " samples during copies";
    const Fact<std::uint64_t>& width = load.link_width_min;
    if (width.known() && *width <= 32 && is_link_width(static_cast<unsigned>(*width)))
        link.width = static_cast<unsigned>(*width);
    return link;
}

Finding unsampled(std::string_view id, const Device& gpu, std::string expected, const Missing& missing) {
    const bool by_design = not_offered(missing) || not_reported(missing) || missing.why == "ENOENT" ||
                           missing.why.starts_with("not in layout") || missing.why == "NOT_SUPPORTED";
    if (by_design || untimed(gpu))
        return finding(id, Verdict::not_applicable, gpu.bdf, std::move(expected), missing.why,
                       missing.source);
    return finding("burn.load.unread", Verdict::unknown, gpu.bdf, std::move(expected), missing.why,
                   missing.source);
}

std::optional<Finding> too_few_samples(std::string_view id, const Device& gpu, const std::string& expected) {
    const Fact<std::uint64_t>& samples = gpu.burn_in.load.samples;
    if (!samples.known()) return unsampled(id, gpu, expected, samples.missing());
    if (*samples >= kLeastSamples) return std::nullopt;
    return unsampled(id, gpu, expected, Missing{samples.source(), count_of(*samples, "sample") + " only"});
}

std::string number_text(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", number);
    // %g turns to an exponent from 10^4 on.
    if (std::isfinite(number) && std::fabs(number) >= 10000 && std::fabs(number) < 1e9)
        std::snprintf(text, sizeof text, "%.0f", number);
    return text;
}

double median_of(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace gpucheck
