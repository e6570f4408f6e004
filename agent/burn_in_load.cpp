// Adds up moments under load; see burn_in_load.h.
#include "agent/burn_in_load.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpucheck {
namespace {

struct Bits {
    std::uint64_t bits;
    const char* cause;
    bool wanted;  ///< a limit that somebody chose, or the ordinary end of a power budget
};
// nvml.h, nvmlClocksEventReason*.
constexpr std::array kNvml{
    Bits{0x1, "gpu_idle", true},
    Bits{0x2, "applications_clocks", true},
    Bits{0x4, "sw_power_cap", true},
    Bits{0x8, "hw_slowdown", false},
    Bits{0x10, "sync_boost", true},
    Bits{0x20, "sw_thermal_slowdown", false},
    Bits{0x40, "hw_thermal_slowdown", false},
    Bits{0x80, "hw_power_brake", false},
    Bits{0x100, "display_clocks", true},
};
// Linux amdgpu_smu.h: power and current limits are ordinary under load, temperatures (32 to 45) and PROCHOT
// (46, 47) are not. Only gpu_metrics 1.3 (MI200) has these bits.
constexpr std::array kAmdgpu{
    Bits{0x000000000000ffff, "power_limit", true},
    Bits{0x00000000ffff0000, "current_limit", true},
    Bits{0x00003fff00000000, "thermal", false},
    Bits{0x0000c00000000000, "prochot", false},
};
struct Residency {
    Fact<std::uint64_t> AmdResidency::*total;
    const char* cause;
    bool wanted;
};
// gpu_metrics from 1.6 on: running totals beside the total of samples.
constexpr std::array kResidencies{
    Residency{&AmdResidency::prochot, "prochot", false},
    Residency{&AmdResidency::ppt, "ppt", true},
    Residency{&AmdResidency::socket_thermal, "socket_thermal", false},
    Residency{&AmdResidency::vr_thermal, "vr_thermal", false},
    Residency{&AmdResidency::hbm_thermal, "hbm_thermal", false},
};

double share(std::uint64_t part, std::uint64_t all) {
    return all == 0 ? 0 : std::min(1.0, static_cast<double>(part) / static_cast<double>(all));
}

template <class Table>
bool count_causes(std::uint64_t mask, const Table& table, std::map<std::string, std::uint64_t>& seen) {
    bool unwanted = false;
    for (const Bits& each : table) {
        if ((mask & each.bits) == 0) continue;
        ++seen[each.cause];
        unwanted = unwanted || !each.wanted;
    }
    return unwanted;
}

}  // namespace

void LoadHistory::Series::add(const Fact<double>& fact) {
    if (!fact.known() || !std::isfinite(*fact)) {
        if (values.empty()) why = fact.known() ? Missing{fact.source(), "no number"} : fact.missing();
        return;
    }
    values.push_back(*fact);
    source = fact.source();
}

std::vector<double> LoadHistory::Series::sorted() const {
    std::vector<double> all = values;
    std::sort(all.begin(), all.end());
    return all;
}

Fact<Quantity> LoadHistory::Series::quantity(const char* name, const char* unit) const {
    if (values.empty()) return why;
    const std::vector<double> all = sorted();
    Quantity quantity;
    quantity.name = name;
    quantity.unit = unit;
    quantity.samples = all.size();
    quantity.median = all[all.size() / 2];
    quantity.min = all.front();
    quantity.max = all.back();
    return {quantity, source};
}

void LoadHistory::Counter::add(const Fact<std::uint64_t>& fact) {
    if (!fact.known()) {
        if (!last) why = fact.missing();
        return;
    }
    source = fact.source();
    ++readings;
    constexpr std::uint64_t kWidth = std::uint64_t{1} << 32;
    if (last && *fact >= *last) {
        grown += *fact - *last;
    } else if (last) {
        // The firmware's totals are 32 bits wide and wrap after weeks; what else falls was reset, and shows
        // what was counted since.
        grown += wraps && *last >= kWidth / 2 && *last < kWidth ? kWidth - *last + *fact : *fact;
    }
    last = *fact;
}

Fact<std::uint64_t> LoadHistory::Counter::growth() const {
    if (readings == 1) return Missing{source, "one reading only"};
    return last ? Fact<std::uint64_t>(grown, source) : Fact<std::uint64_t>(why);
}

void LoadHistory::add(const LoadSample& sample) {
    ++samples_;
    power_.add(sample.power_w);
    limit_.add(sample.power_limit_w);
    temperature_.add(sample.temperature_c);
    memory_temperature_.add(sample.memory_temperature_c);
    clock_.add(sample.clock_mhz);
    if (sample.ecc_read) {
        corrected_.add(sample.ecc_corrected);
        uncorrected_.add(sample.ecc_uncorrected);
    }
    if (sample.busy.known()) {
        ++busy_known_;
        busy_ += *sample.busy ? 1 : 0;
        busy_source_ = sample.busy.source();
    } else {
        busy_why_ = sample.busy.missing();
    }
    add_reasons(sample);
    add_link(sample);
}

void LoadHistory::add_reasons(const LoadSample& sample) {
    const AmdResidency& residency = sample.residency;
    if (residency.accumulation_counter.known()) {
        residency_total_.add(residency.accumulation_counter);
        for (const Residency& each : kResidencies) residency_[each.cause].add(residency.*each.total);
        return;
    }
    const bool nvml = sample.throttle_mask.known();
    const Fact<std::uint64_t>& mask = nvml ? sample.throttle_mask : residency.independent_throttle_status;
    if (!mask.known()) {
        // Each interface's own reason: the other one was not asked.
        const bool amd = sample.throttle_mask.why() == "not looked at";
        reasons_why_ = amd ? residency.accumulation_counter.missing() : sample.throttle_mask.missing();
        return;
    }
    ++masks_;
    mask_ |= nvml ? *mask : 0;
    reasons_source_ = mask.source();
    const bool unwanted = nvml ? count_causes(*mask, kNvml, seen_) : count_causes(*mask, kAmdgpu, seen_);
    throttled_ += unwanted ? 1 : 0;
}

void LoadHistory::add_link(const LoadSample& sample) {
    if (!sample.copying) return;
    if (!sample.link_generation.known()) {
        link_.why = sample.link_generation.missing();
        return;
    }
    ++link_.samples;
    link_.source = sample.link_generation.source();
    // A link that goes to rest between two copies shows less; so the width counts at the best speed alone.
    if (*sample.link_generation > link_.generation) {
        link_.generation = *sample.link_generation;
        link_.width.reset();
    }
    if (*sample.link_generation == link_.generation && sample.link_width.known())
        link_.width = std::min(link_.width.value_or(*sample.link_width), *sample.link_width);
}

void LoadHistory::state_reasons(LoadSamples& load) const {
    const auto total = residency_total_.growth();
    if (total.known() && *total > 0) {
        double worst = 0;
        for (const Residency& each : kResidencies) {
            const auto found = residency_.find(each.cause);
            const auto grown = found != residency_.end() ? found->second.growth() : Fact<std::uint64_t>();
            if (!grown.known() || *grown == 0) continue;
            load.throttled_by.push_back({each.cause, share(*grown, *total)});
            if (!each.wanted) worst = std::max(worst, share(*grown, *total));
        }
        load.throttled_share = Fact<double>(worst, total.source());
        load.throttle_mask = Missing{total.source(), "not reported: amdgpu counts causes"};
        return;
    }
    if (masks_ == 0) {
        const Missing why = total.known()
                                ? Missing{total.source(), "the firmware's sample counter stands still"}
                                : reasons_why_;
        load.throttled_share = why;
        load.throttle_mask = why;
        return;
    }
    for (const auto& [cause, count] : seen_) load.throttled_by.push_back({cause, share(count, masks_)});
    load.throttle_mask = Fact<std::uint64_t>(mask_, reasons_source_);
    load.throttled_share = Fact<double>(share(throttled_, masks_), reasons_source_);
}

void LoadHistory::state_link(LoadSamples& load) const {
    load.copy_samples = Fact<std::uint64_t>(link_.samples, "sampler");
    if (link_.samples == 0) {
        load.link_generation_max = link_.why;
        load.link_width_min = link_.why;
        return;
    }
    load.link_generation_max = Fact<std::uint64_t>(link_.generation, link_.source);
    load.link_width_min = link_.width ? Fact<std::uint64_t>(*link_.width, link_.source)
                                      : Fact<std::uint64_t>(Missing{link_.source, "no width"});
}

LoadSamples LoadHistory::summary(double seconds) const {
    LoadSamples load;
    load.samples = Fact<std::uint64_t>(samples_, "sampler");
    load.seconds = Fact<double>(seconds, "sampler");
    load.power_w = power_.quantity("power", "W");
    load.temperature_c = temperature_.quantity("temperature", "C");
    load.memory_temperature_c = memory_temperature_.quantity("memory temperature", "C");
    load.clock_mhz = clock_.quantity("clock", "MHz");
    // The lowest that was in force: what was slow then was slow for that reason.
    load.power_limit_w = limit_.values.empty() ? Fact<double>(limit_.why)
                                               : Fact<double>(limit_.sorted().front(), limit_.source);
    load.ecc_corrected = corrected_.growth();
    load.ecc_uncorrected = uncorrected_.growth();
    load.busy_share =
        busy_known_ != 0 ? Fact<double>(share(busy_, busy_known_), busy_source_) : Fact<double>(busy_why_);
    state_reasons(load);
    state_link(load);
    return load;
}

}  // namespace gpucheck
