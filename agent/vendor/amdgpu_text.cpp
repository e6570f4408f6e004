// Line by line through amdgpu's text files; see amdgpu_text.h. Formats: Linux
// drivers/gpu/drm/amd/amdgpu/amdgpu_ras.c (amdgpu_ras_sysfs_read, amdgpu_ras_sysfs_badpages_read) and
// pm/amdgpu_pm.c (pp_dpm_*).
#include "agent/vendor/amdgpu_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "agent/host/sysroot.h"

namespace gpucheck::vendor {
namespace {

using host::lines_of;
using host::trim;

std::string_view stripped(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    return trim(text);
}

template <class T>
std::optional<T> whole(std::string_view text, int base = 10) {
    if (base == 16) {
        if (!text.starts_with("0x")) return std::nullopt;
        text.remove_prefix(2);
    }
    T value{};
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value, base);
    if (text.empty() || result.ec != std::errc{} || result.ptr != end) return std::nullopt;
    return value;
}

Missing malformed(const std::string& source, std::string_view line) {
    if (!host::is_text(line)) return Missing{source, "malformed: not text"};
    return Missing{source, "malformed: '" + std::string(line.substr(0, 60)) + "'"};
}

bool is_word(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

// A sentence of the driver, as opposed to junk.
bool is_sentence(std::string_view line) {
    constexpr std::size_t kLongest = 120;
    return line.size() <= kLongest && std::all_of(line.begin(), line.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ' ' || c == ',' || c == '.';
           });
}

RasBlock all_missing(std::string name, const Missing& missing) {
    return RasBlock{std::move(name), missing, missing, missing};
}

struct Flag {
    unsigned retired = 0, pending = 0, failed = 0;
    bool count(std::string_view flag) {
        if (flag.size() != 1) return false;
        switch (flag[0]) {
            case 'R':
                ++retired;
                return true;
            case 'P':
                ++pending;
                return true;
            case 'F':
                ++failed;
                return true;
            default:
                return false;
        }
    }
};

struct Level {
    unsigned mhz = 0;
    bool current = false;
};

// "1: 800Mhz *": an index or S, the clock, and a star on the current one.
std::optional<Level> level_of(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const std::string_view index = stripped(line.substr(0, colon));
    if (index != "S" && !whole<unsigned>(index)) return std::nullopt;
    std::string_view rest = stripped(line.substr(colon + 1));
    Level level;
    if (rest.ends_with('*')) {
        level.current = true;
        rest.remove_suffix(1);
        rest = stripped(rest);
    }
    if (rest.size() < 4) return std::nullopt;
    const std::string_view unit = rest.substr(rest.size() - 3);
    constexpr unsigned kMostMegahertz = 60000;
    const auto mhz = whole<unsigned>(rest.substr(0, rest.size() - 3));
    if ((unit != "Mhz" && unit != "MHz") || !mhz || *mhz > kMostMegahertz) return std::nullopt;
    level.mhz = *mhz;
    return level;
}

}  // namespace

RasBlock parse_err_count(std::string name, const Fact<std::string>& content) {
    if (!content.known()) return all_missing(std::move(name), content.missing());
    const std::string& source = content.source();
    if (stripped(*content).empty()) return all_missing(std::move(name), {source, "empty"});
    RasBlock block = all_missing(std::move(name), {source, "ENOENT"});
    for (const std::string_view raw : lines_of(*content)) {
        const std::string_view line = stripped(raw);
        if (line.empty()) continue;
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos && is_sentence(line))
            return all_missing(std::move(block.name), {source, std::string(line)});
        const std::string_view kind = line.substr(0, std::min(colon, line.size()));
        const auto count = colon == std::string_view::npos
                               ? std::nullopt
                               : whole<std::uint64_t>(stripped(line.substr(colon + 1)));
        if (!is_word(kind) || !count) return all_missing(std::move(block.name), malformed(source, line));
        Fact<std::uint64_t>* place = kind == "ue"   ? &block.uncorrectable
                                     : kind == "ce" ? &block.correctable
                                     : kind == "de" ? &block.deferred
                                                    : nullptr;
        if (place == nullptr) continue;
        if (place->known()) return all_missing(std::move(block.name), malformed(source, line));
        *place = Fact<std::uint64_t>(*count, source);
    }
    return block;
}

Fact<BadPages> parse_bad_pages(const Fact<std::string>& content) {
    if (!content.known()) return content.missing();
    const std::string& source = content.source();
    Flag flags;
    for (const std::string_view raw : lines_of(*content)) {
        const std::string_view line = stripped(raw);
        if (line.empty()) continue;
        const std::size_t first = line.find(':'), last = line.rfind(':');
        if (first == last) return malformed(source, line);
        const bool numbers = whole<std::uint64_t>(stripped(line.substr(0, first)), 16) &&
                             whole<std::uint64_t>(stripped(line.substr(first + 1, last - first - 1)), 16);
        if (!numbers || !flags.count(stripped(line.substr(last + 1)))) return malformed(source, line);
    }
    BadPages pages;
    pages.retired = Fact<unsigned>(flags.retired, source);
    pages.pending = Fact<unsigned>(flags.pending, source);
    pages.failed = Fact<unsigned>(flags.failed, source);
    return Fact<BadPages>(std::move(pages), source);
}

DpmClocks parse_dpm(const Fact<std::string>& content) {
    if (!content.known()) return {content.missing(), content.missing()};
    const std::string& source = content.source();
    std::optional<unsigned> highest, now;
    for (const std::string_view raw : lines_of(*content)) {
        const std::string_view line = stripped(raw);
        if (line.empty()) continue;
        const std::optional<Level> level = level_of(line);
        if (!level || (level->current && now)) return {malformed(source, line), malformed(source, line)};
        highest = std::max(highest.value_or(0), level->mhz);
        if (level->current) now = level->mhz;
    }
    if (!highest) return {Missing{source, "empty"}, Missing{source, "empty"}};
    return {now ? Fact<unsigned>(*now, source) : Fact<unsigned>(Missing{source, "no level is current"}),
            Fact<unsigned>(*highest, source)};
}

}  // namespace gpucheck::vendor
