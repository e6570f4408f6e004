// The scalar side of the prefilter and the choice between it and AVX2; see prefilter.h.
#include "agent/host/kernel_log/prefilter.h"

#include <algorithm>
#include <cstring>

namespace gpucheck::host {
namespace {

// How common a byte is in kernel logs, roughly: windows are put where bytes are rare.
unsigned commonness(char c) {
    if (c == ' ') return 12;
    if (std::strchr("eatoinrs", c) != nullptr) return 8;
    if (c >= 'a' && c <= 'z') return 4;
    if ((c >= '0' && c <= '9') || std::strchr(".:[]-=,", c) != nullptr) return 5;
    return 1;
}

std::size_t rarest_window(std::string_view text) {
    std::size_t best = 0;
    unsigned best_score = ~0U;
    for (std::size_t i = 0; i + Prefilter::kWindow <= text.size(); ++i) {
        unsigned score = 0;
        for (std::size_t k = 0; k < Prefilter::kWindow; ++k) score += commonness(text[i + k]);
        if (score < best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

std::size_t scalar(const Prefilter& filter, std::string_view data, std::size_t from) {
    return filter.find_scalar(data, from);
}

Prefilter::Text text_with_window(const std::string& text) {
    return {text, rarest_window(text)};
}

}  // namespace

Prefilter::Prefilter(const std::vector<std::string>& texts) : find_(scalar) {
    std::vector<Text> sorted;
    for (const std::string& text : texts) {
        if (text.size() >= kWindow) sorted.push_back(text_with_window(text));
    }
    // Windows that look alike share a bucket: a bucket then admits few other combinations.
    std::sort(sorted.begin(), sorted.end(), [](const Text& a, const Text& b) {
        return a.text.compare(a.offset, kWindow, b.text, b.offset, kWindow) < 0;
    });
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const std::size_t bucket = i * kBuckets / sorted.size();
        const auto bit = static_cast<std::uint8_t>(1U << bucket);
        for (std::size_t k = 0; k < kWindow; ++k) {
            const auto byte = static_cast<unsigned char>(sorted[i].text[sorted[i].offset + k]);
            exact[k][byte] |= bit;
            low[k][byte & 15U] |= bit;
            high[k][byte >> 4U] |= bit;
        }
        buckets[bucket].push_back(std::move(sorted[i]));
    }
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) find_ = find_avx2;
#endif
}

bool Prefilter::vectorised() const {
    return find_ != scalar;
}

std::size_t Prefilter::confirm(std::string_view data, std::size_t at, unsigned mask, std::size_t from) const {
    std::size_t first = kNone;
    for (; mask != 0; mask &= mask - 1) {
        for (const Text& text : buckets[static_cast<std::size_t>(__builtin_ctz(mask))]) {
            if (at < from + text.offset) continue;
            const std::size_t begin = at - text.offset;
            if (data.size() - begin < text.text.size()) continue;
            if (std::memcmp(data.data() + begin, text.text.data(), text.text.size()) == 0)
                first = std::min(first, begin);
        }
    }
    return first;
}

std::size_t Prefilter::find_scalar(std::string_view data, std::size_t from) const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(data.data());
    for (std::size_t i = from; i + kWindow <= data.size(); ++i) {
        const unsigned mask =
            exact[0][bytes[i]] & exact[1][bytes[i + 1]] & exact[2][bytes[i + 2]] & exact[3][bytes[i + 3]];
        if (mask == 0) continue;
        const std::size_t found = confirm(data, i, mask, from);
        if (found != kNone) return found;
    }
    return kNone;
}

std::size_t count_newlines(std::string_view data) {
#if defined(__x86_64__)
    static const bool avx2 = __builtin_cpu_supports("avx2") != 0;
    if (avx2) return count_newlines_avx2(data);
#endif
    return static_cast<std::size_t>(std::count(data.begin(), data.end(), '\n'));
}

}  // namespace gpucheck::host
