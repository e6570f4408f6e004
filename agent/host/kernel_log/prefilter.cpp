// The scalar side of the prefilter and the choice between it and AVX2; see prefilter.h.
#include "agent/host/kernel_log/prefilter.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace gpucheck::host {
namespace {

// How common a byte is in kernel logs, in parts of about a thousand: windows are put where bytes are rare, and buckets are filled
// so that they admit little by chance.
double commonness(unsigned char byte) {
    const auto c = static_cast<char>(byte);
    if (c == ' ') return 110;
    if (byte >= 0x80 || byte < 0x20) return 0.5;
    if (c >= '0' && c <= '9') return 22;
    if (std::strchr("eatoinrsdc", c) != nullptr) return 32;
    if (c >= 'a' && c <= 'z') return 12;
    if (std::strchr(".:[]-=,/()_", c) != nullptr) return 14;
    return 3;
}

std::size_t rarest_window(std::string_view text) {
    std::size_t best = 0;
    double best_score = 0;
    for (std::size_t i = 0; i + Prefilter::kWindow <= text.size(); ++i) {
        double score = 1;
        for (std::size_t k = 0; k < Prefilter::kWindow; ++k) score *= commonness(static_cast<unsigned char>(text[i + k]));
        if (i == 0 || score < best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

// How often a bucket with these nibbles fires on ordinary text, up to a factor.
struct Nibbles {
    std::array<std::uint16_t, Prefilter::kWindow> low{}, high{};
    Nibbles with(std::string_view window) const {
        Nibbles more = *this;
        for (std::size_t k = 0; k < window.size(); ++k) {
            const auto byte = static_cast<unsigned char>(window[k]);
            more.low[k] = static_cast<std::uint16_t>(more.low[k] | (1U << (byte & 15U)));
            more.high[k] = static_cast<std::uint16_t>(more.high[k] | (1U << (byte >> 4U)));
        }
        return more;
    }
    double cost() const {
        double product = 1;
        for (std::size_t k = 0; k < Prefilter::kWindow; ++k) {
            double sum = 0;
            for (unsigned byte = 0; byte < 256; ++byte) {
                const bool admitted = ((low[k] >> (byte & 15U)) & 1U) != 0 && ((high[k] >> (byte >> 4U)) & 1U) != 0;
                sum += admitted ? commonness(static_cast<unsigned char>(byte)) / 1000 : 0;
            }
            product *= sum;
        }
        return product;
    }
};

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
    std::sort(sorted.begin(), sorted.end(), [](const Text& a, const Text& b) {
        return a.text.compare(a.offset, kWindow, b.text, b.offset, kWindow) < 0;
    });
    std::array<Nibbles, kBuckets> nibbles{};
    for (Text& text : sorted) {
        const std::string_view window = std::string_view(text.text).substr(text.offset, kWindow);
        std::size_t bucket = 0;
        double least = 0;
        for (std::size_t b = 0; b < kBuckets; ++b) {
            const double added = nibbles[b].with(window).cost() - nibbles[b].cost();
            if (b == 0 || added < least) {
                bucket = b;
                least = added;
            }
        }
        nibbles[bucket] = nibbles[bucket].with(window);
        const auto bit = static_cast<std::uint8_t>(1U << bucket);
        for (std::size_t k = 0; k < kWindow; ++k) {
            const auto byte = static_cast<unsigned char>(window[k]);
            exact[k][byte] |= bit;
            low[k][byte & 15U] |= bit;
            high[k][byte >> 4U] |= bit;
        }
        windows.set(hash_of(window.data()));
        buckets[bucket].push_back(std::move(text));
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
        if (!windows[hash_of(data.data() + i)]) continue;
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
