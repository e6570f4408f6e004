// The attribute list of gpu_metrics 1.9; see gpu_metrics_attributes.h. Linux
// drivers/gpu/drm/amd/include/kgd_pp_interface.h (AMDGPU_METRICS_ENC_ATTR, enum amdgpu_metrics_attr_*) and
// pm/swsmu/smu_cmn.h, whose struct is packed: encodings and values follow each other without padding.
#include "agent/vendor/gpu_metrics_attributes.h"

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>

#include "agent/vendor/gpu_metrics_fields.h"

namespace gpucheck::vendor {
namespace {

constexpr std::size_t kFirst = 8;  // header and i32 count
constexpr unsigned kMostAttributes = 1024;

struct Known {
    unsigned id;
    Metric metric;
};
constexpr std::array kKnown{
    Known{0, Metric::hotspot},      Known{1, Metric::memory},          Known{2, Metric::vr_soc},
    Known{3, Metric::power},        Known{4, Metric::gfx_activity},    Known{5, Metric::memory_activity},
    Known{7, Metric::energy},       Known{9, Metric::accumulation},    Known{10, Metric::prochot},
    Known{11, Metric::ppt},         Known{12, Metric::socket_thermal}, Known{13, Metric::vr_thermal},
    Known{14, Metric::hbm_thermal}, Known{15, Metric::clock_lock},     Known{16, Metric::pcie_width},
    Known{17, Metric::pcie_speed},  Known{18, Metric::xgmi_width},     Known{19, Metric::xgmi_speed},
    Known{24, Metric::l0_recovery}, Known{25, Metric::replays},        Known{26, Metric::rollovers},
    Known{27, Metric::naks_sent},   Known{28, Metric::naks_received},  Known{29, Metric::xgmi_read},
    Known{30, Metric::xgmi_write},  Known{31, Metric::xgmi_status},    Known{32, Metric::firmware_stamp},
    Known{33, Metric::gfxclk},      Known{34, Metric::socclk},         Known{37, Metric::uclk},
    Known{38, Metric::partitions},  Known{39, Metric::other_end},
};

std::optional<Metric> metric_of(std::uint64_t id) {
    for (const Known& known : kKnown) {
        if (known.id == id) return known.metric;
    }
    return std::nullopt;
}

MetricUnit unit_of(std::uint64_t unit) {
    switch (unit) {
        case 4:
            return MetricUnit::ns;
        case 5:
            return MetricUnit::ten_ns;
        case 6:
            return MetricUnit::gigatransfers;
        case 7:
            return MetricUnit::tenth_gigatransfers;
        default:
            return MetricUnit::usual;
    }
}

struct Encoding {
    std::uint64_t unit, type, id, count;
};

Encoding decoded(std::uint64_t bits) {
    return {bits >> 24 & 0xff, bits >> 20 & 0xf, bits >> 10 & 0x3ff, bits & 0x3ff};
}

std::string truncated_at(std::uint64_t attribute, std::uint64_t count) {
    return "truncated: attribute " + std::to_string(attribute) + " of " + std::to_string(count) +
           " is not whole";
}

}  // namespace

std::string read_attributes(std::string_view bytes, const std::string& source, AmdMetrics& metrics) {
    if (bytes.size() < kFirst) return "truncated: " + std::to_string(bytes.size()) + " bytes";
    const std::uint64_t count = little_endian(bytes, 4, 4, false).value_or(0xffffffff);
    if (count == 0 || count > kMostAttributes) return "malformed: " + std::to_string(count) + " attributes";
    constexpr std::array<unsigned, 8> kWidths{1, 1, 2, 2, 4, 4, 8, 8};  // u8 s8 u16 s16 u32 s32 u64 s64
    std::bitset<kMetrics> seen;
    std::size_t at = kFirst;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (bytes.size() - at < 8) return truncated_at(i, count);
        const std::optional<std::uint64_t> bits = little_endian(bytes, at, 8, false);
        at += 8;
        const Encoding encoding = decoded(bits.value_or(~std::uint64_t{0}));
        if (!bits || (*bits >> 32) != 0 || encoding.type >= kWidths.size())
            return "malformed: attribute " + std::to_string(i) + " is of no known type";
        const unsigned width = kWidths[encoding.type];
        if (bytes.size() - at < encoding.count * width) return truncated_at(i, count);
        if (const std::optional<Metric> metric = metric_of(encoding.id)) {
            if (seen.test(static_cast<std::size_t>(*metric)))
                return "malformed: " + std::string(kernel_name(*metric)) + " twice";
            seen.set(static_cast<std::size_t>(*metric));
            RawMetric raw;
            raw.unit = unit_of(encoding.unit);
            for (std::uint64_t n = 0; n < encoding.count; ++n)
                raw.values.push_back(little_endian(bytes, at + n * width, width, encoding.type % 2 == 1));
            store_metric(metrics, *metric, raw, source);
        }
        at += encoding.count * width;
    }
    return {};
}

}  // namespace gpucheck::vendor
