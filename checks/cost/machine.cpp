// Names, bytes and all-reduce times; see machine.h.
#include "checks/cost/machine.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace gpucheck::cost {
namespace {

template <class Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view name) {
    for (std::size_t i = 0; i < N; ++i) {
        if (names[i] == name) return static_cast<Enum>(i);
    }
    return std::nullopt;
}

constexpr std::array<std::string_view, 6> kFabrics{"unknown", "nvlink3", "nvlink4",
                                                   "nvlink5", "pcie4",   "xgmi"};
constexpr std::array<std::string_view, 4> kPrecisions{"fp16", "fp8", "fp4", "mxfp4"};
constexpr std::array<std::string_view, 4> kBases{"measured", "given", "published", "datasheet"};

// alpha + t8 * (bytes / 8 MiB)^exponent microseconds; a pair for 2, 4 and 8 GPUs. A three-number fit to the
// all-reduce tables of NVIDIA's aiconfigurator (14 % off a single measured size in the median); the xGMI row
// was tuned to published latencies and is no measurement.
struct AllReduce {
    double exponent;
    std::array<double, 3> alpha_us, t8_us;
};
constexpr std::array<AllReduce, 6> kAllReduce{{
    {1, {0, 0, 0}, {0, 0, 0}},
    {0.75, {5.0, 6.0, 8.0}, {76, 106, 121}},
    {0.75, {2.9, 3.3, 3.5}, {35, 60, 76}},
    {0.75, {5.0, 5.5, 5.8}, {17, 42, 50}},
    {1.00, {8, 14, 30}, {420, 2440, 10000}},
    {0.60, {9, 10, 12}, {190, 185, 125}},
}};
constexpr double kTableBytes = 8388608;

std::optional<std::size_t> column_of(Fabric fabric, unsigned n) {
    if (fabric == Fabric::unknown) return std::nullopt;
    if (n == 2) return 0;
    if (n == 4) return 1;
    if (n == 8) return 2;
    return std::nullopt;
}

}  // namespace

std::string_view name_of(Fabric fabric) {
    return kFabrics[static_cast<std::size_t>(fabric)];
}
std::optional<Fabric> fabric_from(std::string_view name) {
    return find<Fabric>(kFabrics, name);
}
std::string_view name_of(Precision precision) {
    return kPrecisions[static_cast<std::size_t>(precision)];
}
std::optional<Precision> precision_from(std::string_view name) {
    return find<Precision>(kPrecisions, name);
}
std::string_view name_of(Basis basis) {
    return kBases[static_cast<std::size_t>(basis)];
}

bool same_format(Precision a, Precision b) {
    const auto four = [](Precision p) { return p == Precision::fp4 || p == Precision::mxfp4; };
    return a == b || (four(a) && four(b));
}

double bytes_of(Precision precision) {
    constexpr std::array<double, 4> kBytes{2, 1, 0.5625, 0.53125};
    return kBytes[static_cast<std::size_t>(precision)];
}

std::optional<double> all_reduce_s(Fabric fabric, unsigned n, double bytes) {
    const auto column = column_of(fabric, n);
    if (!column) return std::nullopt;
    const AllReduce& row = kAllReduce[static_cast<std::size_t>(fabric)];
    return (row.alpha_us[*column] + row.t8_us[*column] * std::pow(bytes / kTableBytes, row.exponent)) * 1e-6;
}

std::optional<double> all_reduce_latency_s(Fabric fabric, unsigned n) {
    const auto column = column_of(fabric, n);
    if (!column) return std::nullopt;
    return kAllReduce[static_cast<std::size_t>(fabric)].alpha_us[*column] * 1e-6;
}

}  // namespace gpucheck::cost
