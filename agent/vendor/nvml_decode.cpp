// Turns NVML's raw answers into values, refusing those that no GPU can give.
#include "agent/vendor/nvml_decode.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "checks/json/utf8.h"
#include "checks/model/bdf.h"

namespace gpucheck::vendor::nvml {
namespace {

template <class Raw>
std::optional<std::string> nth(Raw raw, std::initializer_list<const char*> names) {
    if (raw >= names.size()) return std::nullopt;
    return std::string(names.begin()[raw]);
}

}  // namespace

std::string name_of(Return code) {
    static constexpr const char* kNames[] = {"SUCCESS",
                                             "UNINITIALIZED",
                                             "INVALID_ARGUMENT",
                                             "NOT_SUPPORTED",
                                             "NO_PERMISSION",
                                             "ALREADY_INITIALIZED",
                                             "NOT_FOUND",
                                             "INSUFFICIENT_SIZE",
                                             "INSUFFICIENT_POWER",
                                             "DRIVER_NOT_LOADED",
                                             "TIMEOUT",
                                             "IRQ_ISSUE",
                                             "LIBRARY_NOT_FOUND",
                                             "FUNCTION_NOT_FOUND",
                                             "CORRUPTED_INFOROM",
                                             "GPU_IS_LOST",
                                             "RESET_REQUIRED",
                                             "OPERATING_SYSTEM",
                                             "LIB_RM_VERSION_MISMATCH",
                                             "IN_USE",
                                             "MEMORY",
                                             "NO_DATA",
                                             "VGPU_ECC_NOT_SUPPORTED",
                                             "INSUFFICIENT_RESOURCES",
                                             "FREQ_NOT_SUPPORTED",
                                             "ARGUMENT_VERSION_MISMATCH",
                                             "DEPRECATED",
                                             "NOT_READY",
                                             "GPU_NOT_FOUND",
                                             "INVALID_STATE",
                                             "RESET_TYPE_NOT_SUPPORTED"};
    if (code < std::size(kNames)) return kNames[code];
    return code == kUnknown ? "UNKNOWN" : "ERROR_" + std::to_string(code);
}

std::optional<std::string> decode_text(const char* text, std::size_t size) {
    const void* end = std::memchr(text, '\0', size);
    if (end == nullptr) return std::nullopt;
    std::string_view found(text, static_cast<std::size_t>(static_cast<const char*>(end) - text));
    while (!found.empty() && found.back() == ' ') found.remove_suffix(1);  // board serials are padded
    if (found.empty() || !is_utf8(found)) return std::nullopt;
    for (const char c : found) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
    }
    return std::string(found);
}

std::optional<bool> decode_flag(std::uint64_t raw) {
    if (raw > 1) return std::nullopt;
    return raw == 1;
}

std::optional<std::uint64_t> decode_count(std::uint64_t raw, std::uint64_t max) {
    if (raw == ~std::uint64_t{0} || raw > max) return std::nullopt;
    return raw;
}

std::optional<unsigned> decode_unsigned(unsigned raw, unsigned max) {
    if (raw == ~0U || raw > max) return std::nullopt;
    return raw;
}

std::optional<int> decode_celsius(std::int64_t raw) {
    if (raw < -100 || raw > 250) return std::nullopt;
    return static_cast<int>(raw);
}

std::optional<std::uint64_t> unsigned_of(const FieldValue& value) {
    if (value.value_type == kUnsignedLongLong) return decode_count(value.value.as_unsigned_long_long);
    if (value.value_type == kUnsignedLong) return decode_count(value.value.as_unsigned_long);
    if (value.value_type == kUnsigned) return decode_unsigned(value.value.as_unsigned, ~1U);
    const std::optional<std::int64_t> number = signed_of(value);
    if (!number || *number < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*number);
}

std::optional<std::int64_t> signed_of(const FieldValue& value) {
    constexpr double kExact = 9007199254740992.0;  // 2^53: up to here a double counts
    switch (value.value_type) {
        case kDouble: {
            const double number = value.value.as_double;
            if (!(std::fabs(number) < kExact) || number != std::trunc(number)) return std::nullopt;
            return static_cast<std::int64_t>(number);
        }
        case kUnsigned:
            return value.value.as_unsigned;
        case kUnsignedLong:
        case kUnsignedLongLong: {
            const std::uint64_t number = value.value.as_unsigned_long_long;
            if (number > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
            return static_cast<std::int64_t>(number);
        }
        case kSignedLongLong:
            return value.value.as_signed_long_long;
        case kSigned:
            return value.value.as_signed;
        case kUnsignedShort:
            return value.value.as_unsigned_short;
        default:
            return std::nullopt;
    }
}

std::optional<double> decode_ber(std::uint64_t raw) {
    if (raw > 0xfff) return std::nullopt;
    const auto mantissa = static_cast<double>((raw >> 8) & 0xf);
    const double rate = mantissa * std::pow(10.0, -static_cast<double>(raw & 0xff));
    if (rate > 1.0) return std::nullopt;
    return rate;
}

std::optional<bool> decode_unrepairable(const UnrepairableMemory& memory) {
    const unsigned first = memory.words[0], second = memory.words[1];
    if (first == struct_version(8, 1)) return decode_flag(second);
    if (second != ~0U) return std::nullopt;
    return decode_flag(first);
}

std::optional<std::string> decode_compute_mode(unsigned raw) {
    return nth(raw, {"default", "exclusive_thread", "prohibited", "exclusive_process"});
}

std::optional<std::string> decode_virtualization(unsigned raw) {
    return nth(raw, {"none", "passthrough", "vgpu", "host_vgpu", "host_vsga"});
}

std::optional<std::string> decode_recovery_action(std::uint64_t raw) {
    return nth(raw, {"none", "reset", "reboot", "drain_p2p", "drain_and_reset", "recover_imex"});
}

std::optional<std::string> decode_fabric_state(unsigned raw) {
    return nth(raw, {"not_supported", "not_started", "in_progress", "completed"});
}

std::optional<std::string> decode_health_summary(unsigned raw) {
    return nth(raw, {"not_available", "healthy", "unhealthy", "limited_capacity"});
}

std::optional<std::string> decode_remote_type(unsigned raw) {
    return nth(raw, {"gpu", "cpu", "switch"});
}

std::string decode_uuid(const unsigned char (&bytes)[16]) {
    std::string text;
    for (std::size_t i = 0; i < 16; ++i) {
        char hex[4];
        std::snprintf(hex, sizeof hex, "%02x", bytes[i]);
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += hex;
    }
    return text;
}

std::optional<std::string> decode_address(const PciInfo& info) {
    if (info.domain == ~0U || info.bus > 0xff || info.device > 31) return std::nullopt;
    return Bdf{info.domain, static_cast<std::uint8_t>(info.bus), static_cast<std::uint8_t>(info.device), 0}
        .str();
}

}  // namespace gpucheck::vendor::nvml
