// Parses the two tables of a PCI function: its error counters and its memory windows. A count that could not
// be parsed must not read as "no errors", nor a window as "not there".
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>

#include "agent/host/pci_parse.h"
#include "agent/host/sysroot.h"

namespace gpucheck::host {
namespace {

constexpr std::size_t kMaxCounters = 128;  // the kernel prints at most 32 bits and a total
constexpr unsigned kBars = 6;  // lines after them are the expansion ROM, SR-IOV and bridge windows

Missing malformed(const std::string& source, std::string_view line) {
    return {source,
            is_text(line) ? "malformed: '" + std::string(line.substr(0, 40)) + "'" : "malformed: not text"};
}

std::optional<NamedCount> counter_from(std::string_view line) {
    const std::size_t blank = line.rfind(' ');
    if (blank == std::string_view::npos || blank == 0) return std::nullopt;
    NamedCount counter;
    counter.name = trim(line.substr(0, blank));
    const char* end = line.data() + line.size();
    const auto result = std::from_chars(line.data() + blank + 1, end, counter.count);
    if (result.ec != std::errc{} || result.ptr != end || counter.name.empty()) return std::nullopt;
    return counter;
}

std::optional<std::uint64_t> sum_of(const std::vector<NamedCount>& counters) {
    std::uint64_t sum = 0;
    for (const NamedCount& counter : counters) {
        if (counter.count > std::numeric_limits<std::uint64_t>::max() - sum) return std::nullopt;
        sum += counter.count;
    }
    return sum;
}

// Takes "0x..." and the blanks after it from the front.
std::optional<std::uint64_t> take_hex(std::string_view& text) {
    if (!text.starts_with("0x")) return std::nullopt;
    std::uint64_t value = 0;
    const auto result = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (result.ec != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
    if (!text.empty() && text.front() != ' ') return std::nullopt;
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(' ')));
    return value;
}

}  // namespace

Fact<AerCounters> aer_from(const Fact<std::string>& text) {
    if (!text.known()) return text.missing();
    AerCounters counters;
    std::optional<std::uint64_t> total;
    std::size_t lines = 0;
    for (const std::string_view raw : lines_of(text.value())) {
        const std::string_view line = trim(raw);
        if (line.empty()) continue;
        std::optional<NamedCount> counter = is_text(line) ? counter_from(line) : std::nullopt;
        if (!counter || ++lines > kMaxCounters) return malformed(text.source(), line);
        if (counter->name.starts_with("TOTAL_ERR")) {
            if (total) return malformed(text.source(), line);
            total = counter->count;
        } else if (counter->count != 0) {
            counters.nonzero.push_back(std::move(*counter));
        }
    }
    if (lines == 0) return Missing{text.source(), "empty"};
    if (!total) total = sum_of(counters.nonzero);
    if (!total) return Missing{text.source(), "malformed: the counts overflow"};
    counters.total = *total;
    return Fact<AerCounters>(std::move(counters), text.source());
}

Fact<std::vector<Bar>> bars_from(const Fact<std::string>& text) {
    if (!text.known()) return text.missing();
    std::vector<Bar> bars;
    unsigned index = 0;
    for (const std::string_view raw : lines_of(text.value())) {
        if (index == kBars) break;
        std::string_view rest = trim(raw);
        const std::optional<std::uint64_t> start = take_hex(rest), end = take_hex(rest),
                                           flags = take_hex(rest);
        if (!start || !end || !flags || !rest.empty() || *end < *start)
            return malformed(text.source(), trim(raw));
        // No register has 2^64 bytes: the size would be 0, which means that there is none.
        const std::uint64_t size = *end - *start + 1;
        if (size == 0) return malformed(text.source(), trim(raw));
        const bool absent = *start == 0 && *end == 0;
        if (!absent) bars.push_back({index, *start, size, *flags});
        ++index;
    }
    if (index == 0) return Missing{text.source(), "empty"};
    return Fact<std::vector<Bar>>(std::move(bars), text.source());
}

}  // namespace gpucheck::host
