// What a capture must hide, word by word; see redact.h. Files with rules of their own are in
// redact_files.cpp.
#include "agent/capture/redact.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>

#include "agent/capture/patterns.h"

namespace gpucheck::capture {
namespace {

bool starts_with_any(std::string_view path, std::initializer_list<std::string_view> prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return path.starts_with(prefix); });
}

std::string hex16(std::uint64_t value, std::size_t width) {
    std::array<char, 24> buffer{};
    const int length = std::snprintf(buffer.data(), buffer.size(), width >= 16 ? "%016llx" : "%llx",
                                     static_cast<unsigned long long>(value));
    return {buffer.data(), static_cast<std::size_t>(std::max(length, 0))};
}

// "gpu-7" and "rack3" are nobody's word; "apollo" might be one of a driver's.
bool is_distinctive(std::string_view name) {
    return name.size() >= 4 && name.find_first_of("0123456789-.") != std::string_view::npos;
}

bool is_boundary(char c) {
    return !is_word_byte(c);
}

}  // namespace

Vocabulary vocabulary_of(std::string_view path) {
    if (starts_with_any(path,
                        {"/proc/cmdline", "/proc/version", "/proc/sys/kernel/hostname",
                         "/proc/sys/kernel/domainname", "/sys/devices/virtual/dmi/", "/sys/class/dmi/"})) {
        return path == "/proc/version" ? Vocabulary::machine : Vocabulary::people;
    }
    const bool machine = starts_with_any(
        path, {"/sys/", "/proc/", "/usr/", "/lib/", "/opt/", "/boot/", "/var/lib/dpkg/", "/var/lib/dkms/",
               "/var/lib/rpm/", "/etc/os-release", "/etc/ld.so", "/etc/modprobe.d/"});
    return machine ? Vocabulary::machine : Vocabulary::people;
}

void Redactor::learn_word(std::string_view word, std::string replacement, bool distinctive) {
    constexpr std::size_t kLongestWord = 253;  // of a host name: RFC 1035
    if (word.size() < 2 || word.size() > kLongestWord || word == replacement) return;
    words_.try_emplace(lower(word), Word{std::move(replacement), distinctive});
    longest_word_ = std::max(longest_word_, word.size());
}

void Redactor::learn_host(std::string_view name) {
    while (!name.empty() && name.back() == '.') name.remove_suffix(1);
    const std::string_view first = name.substr(0, name.find('.'));
    if (first.empty() || is_everyday_name(first) ||
        name.find_first_not_of("0123456789.") == std::string_view::npos)
        return;
    const std::string replacement = pseudonyms_.of(Identity::host, first);
    constexpr std::size_t kShort =
        4;  // "vm" is a word of every log; such a name goes only where a name stands
    if (first.size() >= kShort) learn_word(first, replacement, is_distinctive(first));
    if (first == name) return;
    learn_word(name, replacement + ".example.invalid", true);
    const std::string_view domain = name.substr(first.size() + 1);
    if (domain.find('.') != std::string_view::npos) learn_word(domain, "example.invalid", true);
}

void Redactor::learn_hardware_id(std::string_view value, int base) {
    std::uint64_t id = 0;
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), id, base);
    if (parsed.ec != std::errc{} || parsed.ptr != value.data() + value.size()) return;
    if (id < (std::uint64_t{1} << 32)) return;  // short numbers are too common to be replaced as words
    const std::uint64_t invented = pseudonyms_.of_hardware_id(id);
    learn_word(hex16(id, 16), hex16(invented, 16), true);
    learn_word(hex16(id, 1), hex16(invented, 1), true);
    learn_word("0x" + hex16(id, 1), "0x" + hex16(invented, 1), true);
    learn_word(std::to_string(id), std::to_string(invented), true);
}

void Redactor::learn_serial(std::string_view path, std::string_view value) {
    if (path.ends_with("unique_id")) return learn_hardware_id(value, 16);
    const std::string replacement = pseudonyms_.of(Identity::serial, value);
    const bool has_digit = value.find_first_of("0123456789") != std::string_view::npos;
    if (value.size() >= 6 && has_digit) learn_word(value, replacement, true);
}

// The longest known word that starts here and ends at a boundary.
std::size_t Redactor::word_at(std::string_view text, std::size_t at, bool only_distinctive,
                              std::string& replacement) const {
    if (at > 0 && !is_boundary(text[at - 1])) return 0;
    const std::size_t longest = std::min(text.size() - at, longest_word_);
    for (std::size_t length = longest; length > 1; --length) {
        if (at + length < text.size() && !is_boundary(text[at + length])) continue;
        const auto found = words_.find(lower(text.substr(at, length)));
        if (found == words_.end() || (only_distinctive && !found->second.distinctive)) continue;
        replacement = found->second.replacement;
        return length;
    }
    return 0;
}

// "/home/NAME": a name that /etc/passwd need not know (LDAP, containers).
std::size_t Redactor::home_at(std::string_view text, std::size_t at, std::string& replacement) {
    constexpr std::string_view kHome = "/home/";
    if (!text.substr(at).starts_with(kHome)) return 0;
    std::size_t end = at + kHome.size();
    while (end < text.size() &&
           (is_word_byte(text[end]) || std::string_view("-._@").find(text[end]) != std::string_view::npos))
        ++end;
    const std::string_view name = text.substr(at + kHome.size(), end - at - kHome.size());
    if (name.empty() || is_everyday_name(name)) return 0;
    replacement = std::string(kHome) + pseudonyms_.of(Identity::user, name);
    return end - at;
}

// "Board Serial Number: 1650000000000", "SerialNumber: X", "PARTUUID=1f2e3d4c-02": the words stay, the value
// goes.
std::size_t Redactor::labelled_serial_at(std::string_view text, std::size_t at, std::string& replacement) {
    constexpr std::string_view kLabel = "serial";
    std::size_t i = at;
    for (const std::string_view disk : {std::string_view("UUID="), std::string_view("PARTUUID=")}) {
        if (!text.substr(at).starts_with(disk)) continue;
        i += disk.size();
        while (i < text.size() && (is_word_byte(text[i]) || text[i] == '-')) ++i;
        const std::string_view id = text.substr(at + disk.size(), i - at - disk.size());
        if (id.size() < 6 || uuid_at(id, 0) == id.size()) return 0;
        replacement = std::string(disk) + pseudonyms_.of(Identity::serial, id);
        return i - at;
    }
    if (lower(text.substr(at, kLabel.size())) != kLabel) return 0;
    i += kLabel.size();
    const auto skip = [&](std::string_view bytes) {
        while (i < text.size() && bytes.find(text[i]) != std::string_view::npos) ++i;
    };
    skip(" _-");
    for (const std::string_view word :
         {std::string_view("number"), std::string_view("no."), std::string_view("no")}) {
        if (lower(text.substr(i, word.size())) != word) continue;
        i += word.size();
        break;
    }
    skip(" \t\"");
    if (i >= text.size() || (text[i] != ':' && text[i] != '=')) return 0;
    ++i;
    skip(" \t\"");
    const std::size_t value = i;
    while (i < text.size() && (is_word_byte(text[i]) || text[i] == '-' || text[i] == '_')) ++i;
    const std::string_view serial = text.substr(value, i - value);
    if (serial.size() < 6 || serial.find_first_of("0123456789") == std::string_view::npos) return 0;
    replacement = std::string(text.substr(at, value - at)) + pseudonyms_.of(Identity::serial, serial);
    return i - at;
}

std::size_t Redactor::identity_at(std::string_view text, std::size_t at, Vocabulary vocabulary,
                                  std::string& replacement) {
    struct Rule {
        std::size_t (*length)(std::string_view, std::size_t);
        Identity identity;
    };
    static constexpr std::array<Rule, 4> kRules{Rule{uuid_at, Identity::uuid}, Rule{mac_at, Identity::mac},
                                                Rule{ipv6_at, Identity::ipv6},
                                                Rule{email_at, Identity::email}};
    for (const Rule& rule : kRules) {
        if (const std::size_t length = rule.length(text, at)) {
            replacement = pseudonyms_.of(rule.identity, text.substr(at, length));
            return length;
        }
    }
    if (vocabulary == Vocabulary::people) {
        if (const std::size_t length = ipv4_at(text, at)) {
            replacement = pseudonyms_.of(Identity::ipv4, text.substr(at, length));
            return length;
        }
    }
    return 0;
}

std::string Redactor::text(std::string_view original, Vocabulary vocabulary) {
    const std::string cleaned = without_secrets(original);
    const std::string_view text = cleaned;
    std::string result, replacement;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        std::size_t length = 0;
        if (is_word_byte(text[i]) && (i == 0 || is_boundary(text[i - 1]))) {
            length = word_at(text, i, vocabulary == Vocabulary::machine, replacement);
            if (length == 0) length = identity_at(text, i, vocabulary, replacement);
            if (length == 0) length = labelled_serial_at(text, i, replacement);
        } else if (text[i] == ':') {
            length = identity_at(text, i, vocabulary, replacement);
        } else if (text[i] == '/') {
            length = home_at(text, i, replacement);
        }
        if (length == 0) {
            result += text[i++];
        } else {
            result += replacement;
            i += length;
        }
    }
    return result;
}

std::string Redactor::path(std::string_view original) {
    std::string result, replacement;
    for (std::size_t i = 0; i < original.size();) {
        std::size_t length = uuid_at(original, i);
        if (length > 0) replacement = pseudonyms_.of(Identity::uuid, original.substr(i, length));
        if (length == 0 && original[i] == '/') length = home_at(original, i, replacement);
        if (length == 0 && (i == 0 || original[i - 1] == '/')) {
            const std::string_view name = original.substr(i, original.find('/', i) - i);
            const auto found = words_.find(lower(name));
            if (found != words_.end() &&
                name.size() == 32) {  // a machine id; other words may be the kernel's
                replacement = found->second.replacement;
                length = name.size();
            }
        }
        result += length > 0 ? replacement : std::string(1, original[i]);
        i += std::max<std::size_t>(length, 1);
    }
    return result;
}

void Redactor::learn(const host::Sysroot& source) {
    for (const char* file : {"/proc/sys/kernel/hostname", "/etc/hostname"}) {
        if (const Fact<std::string> name = source.read_line(file); name.known()) learn_host(*name);
    }
    learn_files(source);
}

}  // namespace gpucheck::capture
