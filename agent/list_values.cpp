// Telemetry of both vendors as cells; see list_values.h.
#include "agent/list_values.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "agent/list_cells.h"

namespace gpucheck::listing {
namespace {

const NvidiaTelemetry& nv(const Device& gpu) {
    return gpu.telemetry.first.nvidia;
}
const AmdTelemetry& amd(const Device& gpu) {
    return gpu.telemetry.first.amd;
}
bool is_amd(const Device& gpu) {
    return gpu.vendor == Vendor::amd;
}

// The first that is known; else the reason of the first.
template <class T>
const Fact<T>& first_known(const Fact<T>& first, const Fact<T>& second) {
    return first.known() || !second.known() ? first : second;
}

Fact<int> labelled(const Device& gpu, std::string_view label) {
    const auto& temperatures = amd(gpu).temperatures;
    if (!temperatures.known()) return temperatures.missing();
    for (const HwmonTemperature& each : *temperatures) {
        if (each.label == label) return each.celsius;
    }
    return Missing{temperatures.source(), "ENOENT"};
}

std::string watts(std::uint64_t value, std::uint64_t per_watt) {
    return std::to_string((value + per_watt / 2) / per_watt);
}

// The fastest die: those that sleep stand beside it at a few hundred MHz.
std::string fastest(const Fact<std::vector<unsigned>>& clocks, const Fact<unsigned>& otherwise) {
    if (!clocks.known() || clocks->empty()) return number_cell(otherwise);
    return std::to_string(*std::max_element(clocks->begin(), clocks->end()));
}

std::string mebibytes(const Fact<std::uint64_t>& bytes) {
    return cell(bytes, [](std::uint64_t value) { return std::to_string(value >> 20); });
}

std::string ras_half(const Device& gpu, Fact<std::uint64_t> RasBlock::*kind) {
    const RasSum sum = ras_sum(gpu, kind);
    if (sum.complete && !sum.any) return "-";
    if (sum.complete) return std::to_string(sum.count);
    return sum.count > 0 ? std::to_string(sum.count) + "+" : "?";
}

std::string join(std::string text, std::string_view part) {
    if (!text.empty()) text += ",";
    return text.append(part);
}

// nvml.h, nvmlClocksEventReason*.
std::string nvidia_reasons(std::uint64_t bits) {
    struct Reason {
        std::uint64_t bit;
        std::string_view word;
    };
    constexpr std::array kReasons{
        Reason{0x1, "idle"},        Reason{0x2, "app-clocks"},   Reason{0x4, "power-cap"},
        Reason{0x8, "hw-slowdown"}, Reason{0x10, "sync-boost"},  Reason{0x20, "sw-thermal"},
        Reason{0x40, "hw-thermal"}, Reason{0x80, "power-brake"}, Reason{0x100, "display"}};
    std::string text;
    for (const Reason& reason : kReasons) {
        if ((bits & reason.bit) != 0) text = join(std::move(text), reason.word);
        bits &= ~reason.bit;
    }
    if (bits != 0) text = join(std::move(text), "other");
    return text.empty() ? "none" : text;
}

// Bits of the throttler status that is the same on all ASICs (amdgpu_smu.h, SMU_THROTTLER_*).
std::string amd_reasons(std::uint64_t bits) {
    struct Range {
        unsigned low, high;
        std::string_view word;
    };
    constexpr std::array kRanges{Range{0, 15, "power"}, Range{16, 31, "current"}, Range{32, 55, "thermal"},
                                 Range{56, 63, "other"}};
    std::string text;
    for (const Range& range : kRanges) {
        const unsigned width = range.high - range.low + 1;
        if ((bits >> range.low & ((std::uint64_t{1} << width) - 1)) != 0)
            text = join(std::move(text), range.word);
    }
    return text.empty() ? "none" : text;
}

}  // namespace

RasSum ras_sum(const Device& gpu, Fact<std::uint64_t> RasBlock::*kind) {
    RasSum sum;
    const auto& blocks = amd(gpu).ras;
    if (!blocks.known()) {
        sum.complete = has_none(blocks.why());
        return sum;
    }
    sum.complete = true;
    for (const RasBlock& block : *blocks) {
        const Fact<std::uint64_t>& count = block.*kind;
        if (count.known()) {
            sum.any = true;
            if (__builtin_add_overflow(sum.count, *count, &sum.count)) sum.count = ~std::uint64_t{0};
        } else if (!count.absent()) {
            sum.complete = false;
        }
    }
    return sum;
}

std::string temperature_cell(const Device& gpu) {
    if (!is_amd(gpu)) return number_cell(nv(gpu).power.temperature_c);
    return number_cell(first_known(labelled(gpu, "junction"), amd(gpu).metrics.hotspot_c));
}

std::string memory_temperature_cell(const Device& gpu) {
    if (!is_amd(gpu)) return number_cell(nv(gpu).power.memory_temperature_c);
    return number_cell(first_known(labelled(gpu, "mem"), amd(gpu).metrics.memory_c));
}

std::string power_cell(const Device& gpu) {
    if (is_amd(gpu)) {
        const auto to_watts = [](std::uint64_t microwatts) { return watts(microwatts, 1000000); };
        const std::string now = amd(gpu).power_uw.known() ? cell(amd(gpu).power_uw, to_watts)
                                                          : number_cell(amd(gpu).metrics.socket_power_w);
        return now + "/" + cell(amd(gpu).power_cap_uw, to_watts);
    }
    const auto to_watts = [](std::uint64_t milliwatts) { return watts(milliwatts, 1000); };
    const NvPower& power = nv(gpu).power;
    return cell(power.power_mw, to_watts) + "/" +
           cell(first_known(power.limit_enforced_mw, power.limit_mw), to_watts);
}

std::string clock_cell(const Device& gpu) {
    return is_amd(gpu) ? fastest(amd(gpu).metrics.gfxclk_mhz, amd(gpu).sclk_mhz)
                       : number_cell(nv(gpu).clocks.sm_mhz);
}

std::string memory_clock_cell(const Device& gpu) {
    return number_cell(is_amd(gpu) ? first_known(amd(gpu).metrics.uclk_mhz, amd(gpu).mclk_mhz)
                                   : nv(gpu).clocks.memory_mhz);
}

std::string busy_cell(const Device& gpu) {
    return number_cell(is_amd(gpu)
                           ? first_known(amd(gpu).gpu_busy_percent, amd(gpu).metrics.gfx_activity_percent)
                           : nv(gpu).power.gpu_busy_percent);
}

std::string memory_busy_cell(const Device& gpu) {
    return number_cell(
        is_amd(gpu) ? first_known(amd(gpu).memory_busy_percent, amd(gpu).metrics.memory_activity_percent)
                    : nv(gpu).power.memory_busy_percent);
}

std::string memory_cell(const Device& gpu) {
    if (is_amd(gpu)) return mebibytes(gpu.amd.vram_used_bytes) + "/" + mebibytes(gpu.amd.vram_total_bytes);
    const NvIdentity& identity = nv(gpu).identity;
    return mebibytes(identity.memory_used_bytes) + "/" + mebibytes(identity.memory_total_bytes);
}

std::string ecc_cell(const Device& gpu) {
    if (is_amd(gpu)) {
        if (amd(gpu).ecc_memory.is(false)) return "off";
        return ras_half(gpu, &RasBlock::uncorrectable) + "/" + ras_half(gpu, &RasBlock::correctable);
    }
    const NvEcc& ecc = nv(gpu).ecc;
    if (ecc.current.is(false)) return "off";
    return number_cell(ecc.volatile_uncorrectable) + "/" + number_cell(ecc.volatile_correctable);
}

std::string repair_cell(const Device& gpu) {
    std::string text;
    if (is_amd(gpu)) {
        const Fact<BadPages>& pages = amd(gpu).bad_pages;
        if (!pages.known()) return unknown_cell(pages.why());
        text = number_cell(pages->retired) + " pages";
        if (pages->pending.known() && *pages->pending > 0)
            text += "," + number_cell(pages->pending) + " pending";
        if (pages->failed.known() && *pages->failed > 0) text += "," + number_cell(pages->failed) + " failed";
        return text;
    }
    const NvRepair& repair = nv(gpu).repair;
    if (repair.rows_correctable.known() && repair.rows_uncorrectable.known()) {
        text = std::to_string(*repair.rows_correctable + *repair.rows_uncorrectable) + " rows";
    } else if (repair.retired_pages_sbe.known() && repair.retired_pages_dbe.known()) {
        text = std::to_string(*repair.retired_pages_sbe + *repair.retired_pages_dbe) + " pages";
    } else {
        return unknown_cell(repair.rows_correctable.why());
    }
    if (repair.row_remap_pending.is(true) || repair.retired_pages_pending.is(true)) text += ",pending";
    if (repair.row_remap_failure.is(true)) text += ",failed";
    return text;
}

std::string pstate_cell(const Device& gpu) {
    if (is_amd(gpu)) return "";
    return cell(nv(gpu).clocks.pstate, [](unsigned state) { return "P" + std::to_string(state); });
}

std::string throttle_cell(const Device& gpu) {
    if (!is_amd(gpu)) return cell(nv(gpu).clocks.event_reasons, nvidia_reasons);
    const AmdResidency& residency = amd(gpu).metrics.residency;
    if (residency.independent_throttle_status.known())
        return amd_reasons(*residency.independent_throttle_status);
    if (residency.throttle_status.known()) return *residency.throttle_status == 0 ? "none" : "yes";
    return unknown_cell(residency.throttle_status.why());
}

std::string links_cell(const Device& gpu) {
    std::size_t up = 0;
    if (is_amd(gpu)) {
        const auto& links = amd(gpu).metrics.links.xgmi_link_up;
        if (!links.known()) return unknown_cell(links.why());
        up = static_cast<std::size_t>(std::count(links->begin(), links->end(), 1U));
        return std::to_string(up) + "/" + std::to_string(links->size());
    }
    const auto& links = nv(gpu).nvlinks;
    if (!links.known()) return unknown_cell(links.why());
    bool complete = true;
    for (const NvLink& link : *links) {
        up += link.active.is(true) ? 1 : 0;
        complete = complete && (link.active.known() || has_none(link.active.why()));
    }
    return (complete ? std::to_string(up) : "?") + "/" + std::to_string(links->size());
}

std::string mig_cell(const Device& gpu) {
    if (is_amd(gpu)) return "";
    const NvState& state = nv(gpu).state;
    if (!state.mig_current.is(true)) return cell(state.mig_current, [](bool) { return std::string("off"); });
    return cell(state.mig_instances, [](unsigned count) { return std::to_string(count) + " instances"; });
}

}  // namespace gpucheck::listing
