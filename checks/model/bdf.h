// One PCI address type, so that "0000:83:00.0", NVML's "00000000:83:00.0" and KFD's location_id are never
// compared as text and a fault is never pinned on the wrong GPU.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpucheck {

/// A PCI address: domain:bus:device.function.
struct Bdf {
    std::uint32_t domain = 0;
    std::uint8_t bus = 0;
    std::uint8_t device = 0;    ///< 0..31
    std::uint8_t function = 0;  ///< 0..7

    auto operator<=>(const Bdf&) const = default;

    /// Accepts "0000:83:00.0", "83:00.0", 8-digit NVML domains, upper case, and kernel-log forms without a
    /// function ("0000:83:00"). Anything else, surrounding blanks included, is nullopt.
    static std::optional<Bdf> parse(std::string_view text);

    /// KFD's `location_id` and `domain` (reference: Linux kfd_topology.c). The function bits carry the
    /// partition number on partitioned MI300, so callers that want the physical function must clear
    /// `function`.
    static Bdf from_kfd(std::uint32_t location_id, std::uint32_t domain);

    /// The sysfs spelling: "0000:83:00.0", lower case, domain of at least 4 digits.
    std::string str() const;
};

}  // namespace gpucheck
