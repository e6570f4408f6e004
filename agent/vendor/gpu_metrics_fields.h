// The values of gpu_metrics whatever their layout, and how each becomes a fact: one rule for "not available"
// and for units, so that no layout reads absence as a number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checks/model/amd_telemetry.h"

namespace gpucheck::vendor {

enum class Metric : std::uint8_t {
    hotspot,
    memory,
    vr_soc,
    edge,
    power,
    gfx_activity,
    memory_activity,
    energy,
    accumulation,
    prochot,
    ppt,
    socket_thermal,
    vr_thermal,
    hbm_thermal,
    throttle_status,
    independent_throttle,
    clock_lock,
    pcie_width,
    pcie_speed,
    xgmi_width,
    xgmi_speed,
    l0_recovery,
    replays,
    rollovers,
    naks_sent,
    naks_received,
    other_end,
    xgmi_read,
    xgmi_write,
    xgmi_status,
    firmware_stamp,
    gfxclk,
    socclk,
    uclk,
    partitions,
};
inline constexpr std::size_t kMetrics = static_cast<std::size_t>(Metric::partitions) + 1;

/// Units that a layout may state (enum amdgpu_metrics_attr_unit); `usual` is what kgd_pp_interface.h says of
/// the field.
enum class MetricUnit : std::uint8_t { usual, gigatransfers, tenth_gigatransfers, ns, ten_ns };

/// One field as it was read: nullopt is all ones of the field's width. Signed values are sign-extended.
struct RawMetric {
    std::vector<std::optional<std::uint64_t>> values;
    MetricUnit unit = MetricUnit::usual;
};

/// "temperature_hotspot", as the kernel's header names it.
std::string_view kernel_name(Metric metric);

/// Stores one field in its fact: a value, Missing "not available", or Missing "malformed: ..." for what no
/// GPU can have.
void store_metric(AmdMetrics& metrics, Metric metric, const RawMetric& raw, const std::string& file);

/// Little-endian value of `width` bytes (1, 2, 4, 8) at `offset`, which must lie within `bytes`; nullopt is
/// all ones.
std::optional<std::uint64_t> little_endian(std::string_view bytes, std::size_t offset, unsigned width,
                                           bool is_signed);

}  // namespace gpucheck::vendor
