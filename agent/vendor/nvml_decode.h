// What NVML's answers mean, and which of them cannot be true: a library that fills a struct with rubbish must
// not pass for a measurement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/vendor/nvml_abi.h"

namespace gpucheck::vendor::nvml {

/// "NOT_SUPPORTED", "GPU_IS_LOST", ...; codes that nvml.h 13 does not know: "ERROR_77".
std::string name_of(Return code);

// Each is nullopt when the answer cannot be true ("malformed").

/// Text up to its NUL; no NUL within `size`, bytes that are no UTF-8 and control characters are malformed.
std::optional<std::string> decode_text(const char* text, std::size_t size);
std::optional<bool> decode_flag(std::uint64_t raw);
/// All ones is "never written", whatever the limit.
std::optional<std::uint64_t> decode_count(std::uint64_t raw, std::uint64_t max = ~std::uint64_t{1});
std::optional<unsigned> decode_unsigned(unsigned raw, unsigned max);
/// -100 to 250 degrees.
std::optional<int> decode_celsius(std::int64_t raw);

/// The member of the union that value_type names; negative numbers and fractions are malformed as counts.
std::optional<std::uint64_t> unsigned_of(const FieldValue& value);
std::optional<std::int64_t> signed_of(const FieldValue& value);
/// FI 220 and 222: exponent in bits 0 to 7, mantissa in bits 8 to 11 (nvml.h NVML_NVLINK_BER_*): mantissa *
/// 10^-exponent errors per bit.
std::optional<double> decode_ber(std::uint64_t raw);

/// The flag, wherever the driver wrote it; `words[0]` was struct_version(8, 1) and the rest all ones before
/// the call.
std::optional<bool> decode_unrepairable(const UnrepairableMemory& memory);

std::optional<std::string> decode_compute_mode(unsigned raw);
std::optional<std::string> decode_virtualization(unsigned raw);
std::optional<std::string> decode_recovery_action(std::uint64_t raw);
std::optional<std::string> decode_fabric_state(unsigned raw);
std::optional<std::string> decode_health_summary(unsigned raw);
std::optional<std::string> decode_remote_type(unsigned raw);
/// "b85e8d6c-9a7b-4e9b-ae5a-1c1d0f4f7a10"
std::string decode_uuid(const unsigned char (&bytes)[16]);
/// sysfs spelling; a bus, device or domain beyond PCI's limits is malformed. NVML names function 0 only.
std::optional<std::string> decode_address(const PciInfo& info);

}  // namespace gpucheck::vendor::nvml
