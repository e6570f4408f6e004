// The telemetry table; see list_telemetry.h.
#include "agent/list_telemetry.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "agent/list_cells.h"
#include "agent/list_values.h"
#include "agent/report/layout.h"

namespace gpucheck::listing {
namespace {

Total total(const Fact<std::uint64_t>& fact, std::uint64_t times = 1) {
    Total result;
    result.known = fact.known() && !__builtin_mul_overflow(*fact, times, &result.value);
    return result;
}

Total sum(const Total& left, const Total& right) {
    Total result;
    result.known =
        left.known && right.known && !__builtin_add_overflow(left.value, right.value, &result.value);
    return result;
}

Total ras_total(const Device& gpu, Fact<std::uint64_t> RasBlock::*kind) {
    const RasSum ras = ras_sum(gpu, kind);
    return {ras.complete && ras.any, ras.count};
}

const Totals* find(const Earlier& earlier, const Bdf& bdf) {
    for (std::size_t i = 0; i < earlier.count; ++i) {
        if (earlier.gpus[i].bdf == bdf) return &earlier.gpus[i];
    }
    return nullptr;
}

// How much a total grew; not known when it went back (a driver that was loaded again).
Total growth(const Total& before, const Total& now) {
    if (!before.known || !now.known || now.value < before.value) return {};
    return {true, now.value - before.value};
}

std::string grown_cell(const Total& before, const Total& now) {
    const Total more = growth(before, now);
    return more.known ? "+" + std::to_string(more.value) : "?";
}

std::string percent(double share) {
    char text[16];
    std::snprintf(text, sizeof text, "%.0f%%", 100 * std::clamp(share, 0.0, 1.0));
    return text;
}

std::string share_cell(const Total& part, double whole) {
    if (!part.known || !(whole > 0)) return "?";
    return percent(static_cast<double>(part.value) / whole);
}

// Watts over the interval, from energy: a look at power sees one moment only.
std::string mean_power_cell(const Totals& before, const Totals& now, double seconds) {
    const Total energy = growth(before.energy_uj, now.energy_uj);
    if (!energy.known || !(seconds > 0)) return "?";
    char text[32];
    std::snprintf(text, sizeof text, "%.0f", static_cast<double>(energy.value) / 1e6 / seconds);
    return text;
}

// Time share below the wanted clocks: at the power limit/because of heat.
std::string throttled_cell(const Device& gpu, const Totals& before, const Totals& now, double seconds) {
    if (gpu.vendor == Vendor::amd) {
        const Total steps = growth(before.steps, now.steps);
        const double whole = steps.known ? static_cast<double>(steps.value) : 0;
        return share_cell(growth(before.power_steps, now.power_steps), whole) + "/" +
               share_cell(growth(before.thermal_steps, now.thermal_steps), whole);
    }
    return share_cell(growth(before.power_ns, now.power_ns), seconds * 1e9) + "/" +
           share_cell(growth(before.thermal_ns, now.thermal_ns), seconds * 1e9);
}

struct Column {
    std::string_view header;
    std::string (*cell)(const Device&);
};
constexpr std::array kColumns{
    Column{"TEMP C", temperature_cell},   Column{"MEM C", memory_temperature_cell},
    Column{"POWER W", power_cell},        Column{"SM MHZ", clock_cell},
    Column{"MEM MHZ", memory_clock_cell}, Column{"GPU %", busy_cell},
    Column{"MEM %", memory_busy_cell},    Column{"MEMORY MIB", memory_cell},
    Column{"ECC UE/CE", ecc_cell},        Column{"REPAIRS", repair_cell},
    Column{"PSTATE", pstate_cell},        Column{"THROTTLED BY", throttle_cell},
    Column{"LINKS UP", links_cell},       Column{"MIG", mig_cell},
};
constexpr std::array<std::string_view, 3> kRates{"MEAN W", "NEW UE/CE", "THROTTLED PWR/HEAT"};

std::vector<std::string> rate_cells(const Device& gpu, const Earlier& earlier) {
    const Totals* before = find(earlier, gpu.bdf);
    if (before == nullptr) return std::vector<std::string>(kRates.size(), "?");
    const Totals now = totals_of(gpu);
    return {mean_power_cell(*before, now, earlier.seconds),
            grown_cell(before->uncorrectable, now.uncorrectable) + "/" +
                grown_cell(before->correctable, now.correctable),
            throttled_cell(gpu, *before, now, earlier.seconds)};
}

}  // namespace

Totals totals_of(const Device& gpu) {
    Totals totals;
    totals.bdf = gpu.bdf;
    if (gpu.vendor == Vendor::amd) {
        const AmdMetrics& metrics = gpu.telemetry.first.amd.metrics;
        const AmdResidency& residency = metrics.residency;
        totals.energy_uj = total(metrics.energy_uj);
        totals.uncorrectable = ras_total(gpu, &RasBlock::uncorrectable);
        totals.correctable = ras_total(gpu, &RasBlock::correctable);
        totals.steps = total(residency.accumulation_counter);
        totals.power_steps = total(residency.ppt);
        totals.thermal_steps = sum(sum(total(residency.socket_thermal), total(residency.vr_thermal)),
                                   sum(total(residency.hbm_thermal), total(residency.prochot)));
        return totals;
    }
    const NvidiaTelemetry& nvidia = gpu.telemetry.first.nvidia;
    totals.energy_uj = total(nvidia.power.energy_mj, 1000);
    totals.uncorrectable = total(nvidia.ecc.volatile_uncorrectable);
    totals.correctable = total(nvidia.ecc.volatile_correctable);
    totals.power_ns = total(nvidia.clocks.power_cap_ns);
    totals.thermal_ns = total(nvidia.clocks.thermal_ns);
    return totals;
}

std::string telemetry_table(const Snapshot& snapshot, std::size_t width, const Earlier& earlier) {
    std::vector<std::string> header{"GPU"};
    for (const Column& column : kColumns) header.emplace_back(column.header);
    if (earlier.gpus != nullptr) header.insert(header.end(), kRates.begin(), kRates.end());
    std::vector<std::vector<std::string>> rows;
    for (const Device& gpu : snapshot.gpus) {
        std::vector<std::string> row{gpu.bdf.str()};
        for (const Column& column : kColumns) row.push_back(column.cell(gpu));
        if (earlier.gpus != nullptr) {
            for (std::string& rate : rate_cells(gpu, earlier)) row.push_back(std::move(rate));
        }
        rows.push_back(std::move(row));
    }
    bool any = false;
    for (std::size_t column = 1; column < header.size(); ++column) {
        const bool blank =
            std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return is_blank(row[column]); });
        any = any || !blank;
        if (!blank) continue;
        for (auto& row : rows) row[column].clear();  // report::Table leaves such a column out
    }
    if (!any) return {};
    report::Table table(header);
    for (auto& row : rows) table.add(std::move(row));
    std::string text;
    for (const std::string& line : table.lines(width)) text += line + "\n";
    return text;
}

}  // namespace gpucheck::listing
