// Redaction that needs no memory of earlier replacements: secrets by their label, binary files; see redact.h.
#include <algorithm>
#include <array>
#include <set>

#include "agent/capture/patterns.h"
#include "agent/capture/redact.h"
#include "agent/host/environment.h"

namespace gpucheck::capture {
namespace {

// Labels of secrets; "key" alone is none ("keyboard", "key: value").
constexpr std::array<std::string_view, 13> kLabels{
    "password", "passwd", "passphrase", "secret",      "token",         "credential", "credentials",
    "api_key",  "apikey", "api-key",    "private_key", "authorization", "auth_key"};

bool ends_a_label(std::string_view text, std::size_t end) {
    std::size_t start = end;
    while (start > 0 && (is_word_byte(text[start - 1]) || text[start - 1] == '_' || text[start - 1] == '-'))
        --start;
    const std::string label = lower(text.substr(start, end - start));
    return std::any_of(kLabels.begin(), kLabels.end(),
                       [&](std::string_view known) { return label.ends_with(known); });
}

// The words between NULs.
std::vector<std::string_view> words_of(std::string_view content) {
    std::vector<std::string_view> words;
    while (!content.empty()) {
        const std::size_t end = content.find('\0');
        words.push_back(content.substr(0, end));
        if (end == std::string_view::npos) break;
        content.remove_prefix(end + 1);
    }
    return words;
}

std::uint32_t le32(std::string_view bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i > 0; --i) value = (value << 8) | static_cast<unsigned char>(bytes[at + i - 1]);
    return value;
}

}  // namespace

namespace {

bool ends_a_path(std::string_view text, std::size_t end) {
    std::size_t start = end;
    while (start > 0 && ((text[start - 1] >= 'a' && text[start - 1] <= 'z') || text[start - 1] == '_'))
        --start;
    return start > 0 && start < end && text[start - 1] == '/';
}

}  // namespace

std::string without_secrets(std::string_view original) {
    const std::string cleaned = host::without_credentials(original);
    const std::string_view text = cleaned;
    constexpr std::string_view kQuotes = " \t\"'\\";  // the backslash: JSON within JSON
    std::string result;
    for (std::size_t i = 0; i < text.size();) {
        result += text[i++];
        if ((text[i - 1] != '=' && text[i - 1] != ':') || i == 1) continue;
        std::size_t label_end = i - 1;
        while (label_end > 0 && kQuotes.find(text[label_end - 1]) != std::string_view::npos) --label_end;
        if (!ends_a_label(text, label_end)) continue;
        while (i < text.size() && kQuotes.find(text[i]) != std::string_view::npos) result += text[i++];
        // "PUT http://169.254.169.254/latest/api/token": {...} is a request and its answer.
        if (i < text.size() && text[i] == '{' && ends_a_path(text, label_end)) continue;
        const char quote = text[i - 1];
        for (const std::string_view scheme : {std::string_view("Bearer "), std::string_view("Basic ")}) {
            if (!text.substr(i).starts_with(scheme)) continue;
            result += scheme;
            i += scheme.size();
        }
        const bool quoted = quote == '"' || quote == '\'';
        // Without quotes a secret ends at a blank and not at a comma: better too much than half of it.
        const std::string_view ends = quoted ? (quote == '"' ? "\"\\\n" : "'\n") : " \t\r\n\"'&}";
        const std::size_t end = std::min(text.size(), text.find_first_of(ends, i));
        if (end > i) result += "REDACTED";
        i = end;
    }
    return result;
}

std::string without_device_serial(std::string config) {
    constexpr std::size_t kFirst = 0x100, kMostCapabilities = 4096 / 8;
    constexpr std::uint32_t kDeviceSerialNumber = 3;
    std::size_t at = kFirst;
    for (std::size_t seen = 0; seen < kMostCapabilities && at >= kFirst && at + 4 <= config.size(); ++seen) {
        const std::uint32_t header = le32(config, at);
        if (header == 0 || header == 0xffffffffU) break;
        if ((header & 0xffffU) == kDeviceSerialNumber) {
            for (std::size_t i = at + 4; i < at + 12 && i < config.size(); ++i) config[i] = '\0';
        }
        at = (header >> 20) & ~std::uint32_t{3};
    }
    return config;
}

std::string command_line(const std::string& content) {
    const std::vector<std::string_view> words = words_of(content);
    if (words.empty()) return {};
    const std::string_view program = words[0].substr(words[0].rfind('/') + 1);
    constexpr std::array<std::string_view, 8> kVendors{"nv-", "nvidia-", "nvlsm", "dcgm",
                                                       "nv_", "amd",     "rocm",  "gpuagent"};
    const bool vendor = std::any_of(kVendors.begin(), kVendors.end(),
                                    [&](std::string_view prefix) { return program.starts_with(prefix); });
    std::string result;
    for (std::size_t i = 0; i < (vendor ? words.size() : 1); ++i) {
        result += i == 0 ? words[0].substr(0, words[0].find(' '))
                         : words[i];  // some daemons rewrite their title with blanks
        result += '\0';
    }
    return result;
}

std::string environment_block(const std::string& content) {
    std::string result;
    for (const std::string_view entry : words_of(content)) {
        const std::size_t equals = entry.find('=');
        if (equals == std::string_view::npos || !host::is_relevant_variable(entry.substr(0, equals)))
            continue;
        result += std::string(entry.substr(0, equals + 1)) +
                  host::presentable_value(entry.substr(0, equals), entry.substr(equals + 1));
        result += '\0';
    }
    return result;
}

bool is_known_binary(std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    constexpr std::array<std::string_view, 4> kNames{"config", "gpu_metrics", "compatible", "pp_table"};
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
           path.starts_with("/sys/firmware/efi/efivars/SecureBoot-");
}

}  // namespace gpucheck::capture
