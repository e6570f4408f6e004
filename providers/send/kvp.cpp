// Hyper-V's key-value pools; see send.h.
#include <algorithm>

#include "providers/send/send.h"

namespace gpucheck::faults {

Fact<std::string> kvp_value(std::string_view pool, std::string_view key, const std::string& source) {
    constexpr std::size_t kKey = 512, kValue = 2048;
    const auto text = [](std::string_view field) { return field.substr(0, field.find('\0')); };
    for (; pool.size() >= kKey + kValue; pool.remove_prefix(kKey + kValue)) {
        if (text(pool.substr(0, kKey)) != key) continue;
        const std::string_view value = text(pool.substr(kKey, kValue));
        const bool plain = !value.empty() && std::all_of(value.begin(), value.end(),
                                                         [](char c) { return c > ' ' && c < '\x7f'; });
        if (!plain) return Missing{source, "malformed: " + std::string(key)};
        return Fact<std::string>(std::string(value), source);
    }
    return Missing{source, "no " + std::string(key)};
}

}  // namespace gpucheck::faults
