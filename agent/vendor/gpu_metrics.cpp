// The layouts of gpu_metrics; see gpu_metrics.h. Offsets follow from the structs of Linux
// drivers/gpu/drm/amd/include/kgd_pp_interface.h and their natural alignment; tests lay them out again.
#include "agent/vendor/gpu_metrics.h"

#include <array>
#include <initializer_list>
#include <span>
#include <utility>

#include "agent/vendor/gpu_metrics_attributes.h"
#include "agent/vendor/gpu_metrics_fields.h"

namespace gpucheck::vendor {
namespace {

struct Slot {
    Metric metric;
    std::uint16_t offset;
    std::uint8_t width, count = 1;
};

constexpr unsigned kHeader = 4;  // struct metrics_table_header: u16 size, u8 format, u8 content

constexpr std::array kLayout3{
    Slot{Metric::edge, 4, 2},
    Slot{Metric::hotspot, 6, 2},
    Slot{Metric::memory, 8, 2},
    Slot{Metric::vr_soc, 12, 2},
    Slot{Metric::gfx_activity, 16, 2},
    Slot{Metric::memory_activity, 18, 2},
    Slot{Metric::power, 22, 2},
    Slot{Metric::energy, 24, 8},
    Slot{Metric::gfxclk, 54, 2},
    Slot{Metric::socclk, 56, 2},
    Slot{Metric::uclk, 58, 2},
    Slot{Metric::throttle_status, 68, 4},
    Slot{Metric::pcie_width, 74, 2},
    Slot{Metric::pcie_speed, 76, 2},
    Slot{Metric::firmware_stamp, 96, 8},
    Slot{Metric::independent_throttle, 112, 8},
};

// From 1.4 on the first sixteen bytes are the same.
constexpr std::array kSensors{
    Slot{Metric::hotspot, 4, 2}, Slot{Metric::memory, 6, 2},        Slot{Metric::vr_soc, 8, 2},
    Slot{Metric::power, 10, 2},  Slot{Metric::gfx_activity, 12, 2}, Slot{Metric::memory_activity, 14, 2},
};

constexpr std::array kLayout4{
    Slot{Metric::energy, 24, 8},          Slot{Metric::throttle_status, 40, 4},
    Slot{Metric::clock_lock, 44, 4},      Slot{Metric::pcie_width, 48, 2},
    Slot{Metric::pcie_speed, 50, 2},      Slot{Metric::xgmi_width, 52, 2},
    Slot{Metric::xgmi_speed, 54, 2},      Slot{Metric::l0_recovery, 80, 8},
    Slot{Metric::replays, 88, 8},         Slot{Metric::rollovers, 96, 8},
    Slot{Metric::xgmi_read, 104, 8, 8},   Slot{Metric::xgmi_write, 168, 8, 8},
    Slot{Metric::firmware_stamp, 232, 8}, Slot{Metric::gfxclk, 240, 2, 8},
    Slot{Metric::socclk, 256, 2, 4},      Slot{Metric::uclk, 280, 2},
};

constexpr std::array kLayout5{
    Slot{Metric::energy, 88, 8},          Slot{Metric::throttle_status, 104, 4},
    Slot{Metric::clock_lock, 108, 4},     Slot{Metric::pcie_width, 112, 2},
    Slot{Metric::pcie_speed, 114, 2},     Slot{Metric::xgmi_width, 116, 2},
    Slot{Metric::xgmi_speed, 118, 2},     Slot{Metric::l0_recovery, 144, 8},
    Slot{Metric::replays, 152, 8},        Slot{Metric::rollovers, 160, 8},
    Slot{Metric::naks_sent, 168, 4},      Slot{Metric::naks_received, 172, 4},
    Slot{Metric::xgmi_read, 176, 8, 8},   Slot{Metric::xgmi_write, 240, 8, 8},
    Slot{Metric::firmware_stamp, 304, 8}, Slot{Metric::gfxclk, 312, 2, 8},
    Slot{Metric::socclk, 328, 2, 4},      Slot{Metric::uclk, 352, 2},
};

// The 1.6 that the kernel had for a while and took back ("Remove gpu_metrics_v1_6 temporarily"); some DKMS
// drivers have it. The same revision as the later one, other offsets, other size.
constexpr std::array kLayout6Early{
    Slot{Metric::energy, 88, 8},          Slot{Metric::accumulation, 104, 4},
    Slot{Metric::prochot, 108, 4},        Slot{Metric::ppt, 112, 4},
    Slot{Metric::socket_thermal, 116, 4}, Slot{Metric::vr_thermal, 120, 4},
    Slot{Metric::hbm_thermal, 124, 4},    Slot{Metric::throttle_status, 128, 4},
    Slot{Metric::clock_lock, 132, 4},     Slot{Metric::pcie_width, 136, 2},
    Slot{Metric::pcie_speed, 138, 2},     Slot{Metric::xgmi_width, 140, 2},
    Slot{Metric::xgmi_speed, 142, 2},     Slot{Metric::l0_recovery, 168, 8},
    Slot{Metric::replays, 176, 8},        Slot{Metric::rollovers, 184, 8},
    Slot{Metric::naks_sent, 192, 4},      Slot{Metric::naks_received, 196, 4},
    Slot{Metric::xgmi_read, 200, 8, 8},   Slot{Metric::xgmi_write, 264, 8, 8},
    Slot{Metric::firmware_stamp, 328, 8}, Slot{Metric::gfxclk, 336, 2, 8},
    Slot{Metric::socclk, 352, 2, 4},      Slot{Metric::uclk, 376, 2},
};

constexpr std::array kLayout6{
    Slot{Metric::energy, 16, 8},         Slot{Metric::accumulation, 32, 4},
    Slot{Metric::prochot, 36, 4},        Slot{Metric::ppt, 40, 4},
    Slot{Metric::socket_thermal, 44, 4}, Slot{Metric::vr_thermal, 48, 4},
    Slot{Metric::hbm_thermal, 52, 4},    Slot{Metric::clock_lock, 56, 4},
    Slot{Metric::pcie_width, 60, 2},     Slot{Metric::pcie_speed, 62, 2},
    Slot{Metric::xgmi_width, 64, 2},     Slot{Metric::xgmi_speed, 66, 2},
    Slot{Metric::l0_recovery, 96, 8},    Slot{Metric::replays, 104, 8},
    Slot{Metric::rollovers, 112, 8},     Slot{Metric::naks_sent, 120, 4},
    Slot{Metric::naks_received, 124, 4}, Slot{Metric::xgmi_read, 128, 8, 8},
    Slot{Metric::xgmi_write, 192, 8, 8}, Slot{Metric::firmware_stamp, 256, 8},
    Slot{Metric::gfxclk, 264, 2, 8},     Slot{Metric::socclk, 280, 2, 4},
    Slot{Metric::uclk, 304, 2},          Slot{Metric::partitions, 306, 2},
    Slot{Metric::other_end, 1656, 4},
};

// 1.7 and 1.8 differ behind num_partition alone: in what each partition's record holds.
constexpr std::array kLayout7{
    Slot{Metric::energy, 24, 8},          Slot{Metric::accumulation, 40, 4},
    Slot{Metric::prochot, 44, 4},         Slot{Metric::ppt, 48, 4},
    Slot{Metric::socket_thermal, 52, 4},  Slot{Metric::vr_thermal, 56, 4},
    Slot{Metric::hbm_thermal, 60, 4},     Slot{Metric::clock_lock, 64, 4},
    Slot{Metric::pcie_width, 68, 2},      Slot{Metric::pcie_speed, 70, 2},
    Slot{Metric::xgmi_width, 72, 2},      Slot{Metric::xgmi_speed, 74, 2},
    Slot{Metric::l0_recovery, 104, 8},    Slot{Metric::replays, 112, 8},
    Slot{Metric::rollovers, 120, 8},      Slot{Metric::naks_sent, 128, 4},
    Slot{Metric::naks_received, 132, 4},  Slot{Metric::xgmi_read, 136, 8, 8},
    Slot{Metric::xgmi_write, 200, 8, 8},  Slot{Metric::xgmi_status, 264, 2, 8},
    Slot{Metric::firmware_stamp, 288, 8}, Slot{Metric::gfxclk, 296, 2, 8},
    Slot{Metric::socclk, 312, 2, 4},      Slot{Metric::uclk, 336, 2},
    Slot{Metric::partitions, 338, 2},
};
constexpr std::array kBehind7{Slot{Metric::other_end, 2200, 4}};
constexpr std::array kBehind8Early{Slot{Metric::other_end, 3352, 4}};
constexpr std::array kBehind8{Slot{Metric::other_end, 3864, 4}};

struct Layout {
    unsigned content, size;
    std::array<std::span<const Slot>, 3> parts;
};
const std::array kLayouts{
    Layout{3, 120, {kLayout3}},
    Layout{4, 288, {kSensors, kLayout4}},
    Layout{5, 360, {kSensors, kLayout5}},
    Layout{6, 384, {kSensors, kLayout6Early}},
    Layout{6, 1664, {kSensors, kLayout6}},
    Layout{7, 2208, {kSensors, kLayout7, kBehind7}},
    Layout{8, 3360, {kSensors, kLayout7, kBehind8Early}},  // partitions without the total below host limit
    Layout{8, 3872, {kSensors, kLayout7, kBehind8}},
};

AmdMetrics all_missing(const std::string& source, std::string why) {
    AmdMetrics metrics;
    make_missing(metrics, Missing{source, std::move(why)});
    return metrics;
}

RawMetric raw_at(std::string_view bytes, const Slot& slot) {
    RawMetric raw;
    for (unsigned i = 0; i < slot.count; ++i)
        raw.values.push_back(
            little_endian(bytes, slot.offset + std::size_t{i} * slot.width, slot.width, false));
    return raw;
}

}  // namespace

AmdMetrics parse_gpu_metrics(std::string_view bytes, const std::string& source) {
    if (bytes.empty()) return all_missing(source, "empty");
    if (bytes.size() < kHeader)
        return all_missing(source, "truncated: " + std::to_string(bytes.size()) + " bytes");
    const auto byte = [&](std::size_t i) {
        return static_cast<unsigned>(static_cast<unsigned char>(bytes[i]));
    };
    const unsigned size = byte(0) | byte(1) << 8, format = byte(2), content = byte(3);
    const std::string layout = std::to_string(format) + "." + std::to_string(content);
    const Layout* known = nullptr;
    for (const Layout& each : kLayouts) {
        if (format == 1 && each.content == content && each.size == size) known = &each;
    }
    const bool attributes = format == 1 && content == 9;
    if (known == nullptr && !attributes)
        return all_missing(source, "unknown layout " + layout + ", " + std::to_string(size) + " bytes");
    if (bytes.size() < size) {
        return all_missing(
            source, "truncated: " + std::to_string(bytes.size()) + " of " + std::to_string(size) + " bytes");
    }
    AmdMetrics metrics = all_missing(source, "not in layout " + layout);
    metrics.layout = Fact<std::string>(layout, source);
    if (attributes) {
        if (std::string error = read_attributes(bytes, source, metrics); !error.empty())
            return all_missing(source, std::move(error));
        return metrics;
    }
    for (const std::span<const Slot> part : known->parts) {
        for (const Slot& slot : part) store_metric(metrics, slot.metric, raw_at(bytes, slot), source);
    }
    return metrics;
}

}  // namespace gpucheck::vendor
