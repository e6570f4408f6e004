// From raw fields of gpu_metrics to facts; see gpu_metrics_fields.h. Units: Linux
// drivers/gpu/drm/amd/include/kgd_pp_interface.h.
#include "agent/vendor/gpu_metrics_fields.h"

#include <array>
#include <limits>
#include <utility>
#include <variant>

namespace gpucheck::vendor {
namespace {

using Place = std::variant<Fact<int>*, Fact<unsigned>*, Fact<std::uint64_t>*, Fact<std::vector<unsigned>>*,
                           Fact<std::vector<std::uint64_t>>*>;

struct Field {
    Metric metric;
    std::string_view name;
    Place (*place)(AmdMetrics&);
    std::uint64_t most;  ///< a larger value is no reading
};

constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMostDegrees = 250;  // no silicon lives above
constexpr std::uint64_t kMostWatts = 20000;  // a rack's
constexpr std::uint64_t kMostMegahertz = 60000;
constexpr std::uint64_t kMostLanes = 64, kMostSpeed = 10000, kMostPartitions = 64;
constexpr std::int64_t kLeastDegrees = -100;
constexpr std::uint64_t kLinkNotThere = 2;  // AMDGPU_XGMI_LINK_NA of kgd_pp_interface.h

#define GPUCHECK_METRIC(metric, name, member, most)                                  \
    Field {                                                                          \
        Metric::metric, name, [](AmdMetrics& m) -> Place { return &m.member; }, most \
    }
const std::array<Field, kMetrics> kFields{
    GPUCHECK_METRIC(hotspot, "temperature_hotspot", hotspot_c, kMostDegrees),
    GPUCHECK_METRIC(memory, "temperature_mem", memory_c, kMostDegrees),
    GPUCHECK_METRIC(vr_soc, "temperature_vrsoc", vr_soc_c, kMostDegrees),
    GPUCHECK_METRIC(edge, "temperature_edge", edge_c, kMostDegrees),
    GPUCHECK_METRIC(power, "socket_power", socket_power_w, kMostWatts),
    GPUCHECK_METRIC(gfx_activity, "average_gfx_activity", gfx_activity_percent, 100),
    GPUCHECK_METRIC(memory_activity, "average_umc_activity", memory_activity_percent, 100),
    GPUCHECK_METRIC(energy, "energy_accumulator", energy_uj, kAny),
    GPUCHECK_METRIC(accumulation, "accumulation_counter", residency.accumulation_counter, kAny),
    GPUCHECK_METRIC(prochot, "prochot_residency_acc", residency.prochot, kAny),
    GPUCHECK_METRIC(ppt, "ppt_residency_acc", residency.ppt, kAny),
    GPUCHECK_METRIC(socket_thermal, "socket_thm_residency_acc", residency.socket_thermal, kAny),
    GPUCHECK_METRIC(vr_thermal, "vr_thm_residency_acc", residency.vr_thermal, kAny),
    GPUCHECK_METRIC(hbm_thermal, "hbm_thm_residency_acc", residency.hbm_thermal, kAny),
    GPUCHECK_METRIC(throttle_status, "throttle_status", residency.throttle_status, kAny),
    GPUCHECK_METRIC(independent_throttle, "indep_throttle_status", residency.independent_throttle_status,
                    kAny),
    GPUCHECK_METRIC(clock_lock, "gfxclk_lock_status", gfxclk_lock_status, kAny),
    GPUCHECK_METRIC(pcie_width, "pcie_link_width", links.pcie_width, kMostLanes),
    GPUCHECK_METRIC(pcie_speed, "pcie_link_speed", links.pcie_speed_tenth_gts, kMostSpeed),
    GPUCHECK_METRIC(xgmi_width, "xgmi_link_width", links.xgmi_width, kMostLanes),
    GPUCHECK_METRIC(xgmi_speed, "xgmi_link_speed", links.xgmi_speed_gbps, kMostSpeed),
    GPUCHECK_METRIC(l0_recovery, "pcie_l0_to_recov_count_acc", links.pcie_l0_to_recovery, kAny),
    GPUCHECK_METRIC(replays, "pcie_replay_count_acc", links.pcie_replays, kAny),
    GPUCHECK_METRIC(rollovers, "pcie_replay_rover_count_acc", links.pcie_replay_rollovers, kAny),
    GPUCHECK_METRIC(naks_sent, "pcie_nak_sent_count_acc", links.pcie_naks_sent, kAny),
    GPUCHECK_METRIC(naks_received, "pcie_nak_rcvd_count_acc", links.pcie_naks_received, kAny),
    GPUCHECK_METRIC(other_end, "pcie_lc_perf_other_end_recovery", links.pcie_other_end_recovery, kAny),
    GPUCHECK_METRIC(xgmi_read, "xgmi_read_data_acc", links.xgmi_read_kb, kAny),
    GPUCHECK_METRIC(xgmi_write, "xgmi_write_data_acc", links.xgmi_write_kb, kAny),
    GPUCHECK_METRIC(xgmi_status, "xgmi_link_status", links.xgmi_link_up, kLinkNotThere),
    GPUCHECK_METRIC(firmware_stamp, "firmware_timestamp", firmware_timestamp_ns, kAny),
    GPUCHECK_METRIC(gfxclk, "current_gfxclk", gfxclk_mhz, kMostMegahertz),
    GPUCHECK_METRIC(socclk, "current_socclk", socclk_mhz, kMostMegahertz),
    GPUCHECK_METRIC(uclk, "current_uclk", uclk_mhz, kMostMegahertz),
    GPUCHECK_METRIC(partitions, "num_partition", partitions, kMostPartitions),
};
#undef GPUCHECK_METRIC

const Field& field_of(Metric metric) {
    return kFields[static_cast<std::size_t>(metric)];
}

// In the unit of the fact; nullopt when it does not fit.
std::optional<std::uint64_t> in_our_unit(Metric metric, MetricUnit unit, std::uint64_t value) {
    std::uint64_t by = 1, over = 1;
    if (metric == Metric::energy) {
        by = 15625;  // a step is 2^-16 J, which the header rounds to 15.259 uJ
        over = 1024;
    } else if (metric == Metric::firmware_stamp) {
        by = unit == MetricUnit::ns ? 1 : 10;
    } else if (metric == Metric::pcie_speed) {
        by = unit == MetricUnit::gigatransfers ? 10 : 1;
    } else if (metric == Metric::xgmi_speed && unit == MetricUnit::tenth_gigatransfers) {
        over = 10;
    }
    if (by == 1) return value / over;
    const std::uint64_t whole = value / over, rest = value % over;
    std::uint64_t result = 0;
    if (__builtin_mul_overflow(whole, by, &result)) return std::nullopt;
    if (__builtin_add_overflow(result, rest * by / over, &result)) return std::nullopt;
    return result;
}

Missing malformed(const std::string& source, std::uint64_t value) {
    return Missing{source, "malformed: " + std::to_string(value)};
}

Fact<int> degrees(const Field& field, std::uint64_t raw, const std::string& source) {
    const auto value = static_cast<std::int64_t>(raw);
    if (value < kLeastDegrees || value > static_cast<std::int64_t>(field.most)) return malformed(source, raw);
    return Fact<int>(static_cast<int>(value), source);
}

template <class T>
Fact<T> number(const Field& field, MetricUnit unit, std::uint64_t raw, const std::string& source) {
    const std::optional<std::uint64_t> value = in_our_unit(field.metric, unit, raw);
    if (!value || *value > field.most || *value > std::numeric_limits<T>::max())
        return malformed(source, raw);
    return Fact<T>(static_cast<T>(*value), source);
}

// What is there, in order: slots of dies and links that a board does not have are all ones.
template <class T>
Fact<std::vector<T>> numbers(const Field& field, const RawMetric& raw, const std::string& source) {
    std::vector<T> result;
    for (const std::optional<std::uint64_t>& value : raw.values) {
        if (!value || (field.metric == Metric::xgmi_status && *value == kLinkNotThere)) continue;
        const Fact<T> one = number<T>(field, raw.unit, *value, source);
        if (!one.known()) return one.missing();
        result.push_back(*one);
    }
    if (result.empty()) return Missing{source, "not available"};
    return Fact<std::vector<T>>(std::move(result), source);
}

}  // namespace

std::string_view kernel_name(Metric metric) {
    return field_of(metric).name;
}

void store_metric(AmdMetrics& metrics, Metric metric, const RawMetric& raw, const std::string& file) {
    const Field& field = field_of(metric);
    const std::string source = file + " " + std::string(field.name);
    const Place place = field.place(metrics);
    if (auto* const* vector = std::get_if<Fact<std::vector<unsigned>>*>(&place)) {
        **vector = numbers<unsigned>(field, raw, source);
        return;
    }
    if (auto* const* vector = std::get_if<Fact<std::vector<std::uint64_t>>*>(&place)) {
        **vector = numbers<std::uint64_t>(field, raw, source);
        return;
    }
    const bool there = !raw.values.empty() && raw.values.front().has_value();
    const std::uint64_t value = there ? *raw.values.front() : 0;
    const Missing missing{source, "not available"};
    if (auto* const* fact = std::get_if<Fact<int>*>(&place)) {
        **fact = there ? degrees(field, value, source) : Fact<int>(missing);
    } else if (auto* const* word = std::get_if<Fact<unsigned>*>(&place)) {
        **word = there ? number<unsigned>(field, raw.unit, value, source) : Fact<unsigned>(missing);
    } else if (auto* const* wide = std::get_if<Fact<std::uint64_t>*>(&place)) {
        **wide = there ? number<std::uint64_t>(field, raw.unit, value, source) : Fact<std::uint64_t>(missing);
    }
}

std::optional<std::uint64_t> little_endian(std::string_view bytes, std::size_t offset, unsigned width,
                                           bool is_signed) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < width; ++i)
        value |= std::uint64_t{static_cast<unsigned char>(bytes[offset + i])} << (8 * i);
    const std::uint64_t ones = width == 8 ? kAny : (std::uint64_t{1} << (8 * width)) - 1;
    if (value == ones) return std::nullopt;
    if (is_signed && width < 8 && (value >> (8 * width - 1)) != 0) value |= ~ones;
    return value;
}

}  // namespace gpucheck::vendor
