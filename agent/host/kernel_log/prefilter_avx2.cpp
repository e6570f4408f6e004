// The AVX2 side of the prefilter: 32 positions a step. Compiled for every x86-64, called only where the
// processor has AVX2.
#include "agent/host/kernel_log/prefilter.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>

namespace gpucheck::host {

__attribute__((target("avx2"))) std::size_t find_avx2(const Prefilter& filter, std::string_view data,
                                                      std::size_t from) {
    constexpr std::size_t kStep = 32;
    const __m256i nibble = _mm256_set1_epi8(15);
    __m256i low[Prefilter::kWindow], high[Prefilter::kWindow];
    for (std::size_t k = 0; k < Prefilter::kWindow; ++k) {
        low[k] = _mm256_broadcastsi128_si256(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(filter.low[k].data())));
        high[k] = _mm256_broadcastsi128_si256(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(filter.high[k].data())));
    }
    std::size_t at = from;
    for (; at + kStep + Prefilter::kWindow <= data.size(); at += kStep) {
        __m256i hit = _mm256_set1_epi8(-1);
        for (std::size_t k = 0; k < Prefilter::kWindow; ++k) {
            const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data.data() + at + k));
            const __m256i low_nibbles = _mm256_and_si256(bytes, nibble);
            const __m256i high_nibbles = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble);
            hit = _mm256_and_si256(hit, _mm256_and_si256(_mm256_shuffle_epi8(low[k], low_nibbles),
                                                         _mm256_shuffle_epi8(high[k], high_nibbles)));
        }
        if (_mm256_testz_si256(hit, hit) != 0) continue;
        alignas(32) std::uint8_t masks[kStep];
        _mm256_store_si256(reinterpret_cast<__m256i*>(masks), hit);
        auto places =
            ~static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(hit, _mm256_setzero_si256())));
        for (; places != 0; places &= places - 1) {
            const auto place = static_cast<std::size_t>(__builtin_ctz(places));
            if (!filter.windows[Prefilter::hash_of(data.data() + at + place)]) continue;
            const std::size_t found = filter.confirm(data, at + place, masks[place], from);
            if (found != Prefilter::kNone) return found;
        }
    }
    // The tail; a text may begin before `at` although its window stands behind it, so `from` stays what it
    // is.
    const auto* bytes = reinterpret_cast<const unsigned char*>(data.data());
    for (; at + Prefilter::kWindow <= data.size(); ++at) {
        const unsigned mask = filter.exact[0][bytes[at]] & filter.exact[1][bytes[at + 1]] &
                              filter.exact[2][bytes[at + 2]] & filter.exact[3][bytes[at + 3]];
        if (mask == 0 || !filter.windows[Prefilter::hash_of(data.data() + at)]) continue;
        const std::size_t found = filter.confirm(data, at, mask, from);
        if (found != Prefilter::kNone) return found;
    }
    return Prefilter::kNone;
}

__attribute__((target("avx2"))) std::size_t count_newlines_avx2(std::string_view data) {
    const __m256i newline = _mm256_set1_epi8('\n');
    std::size_t count = 0, at = 0;
    while (at + 32 <= data.size()) {
        __m256i sums = _mm256_setzero_si256();
        const std::size_t rounds = std::min<std::size_t>((data.size() - at) / 32, 255);
        for (std::size_t i = 0; i < rounds; ++i, at += 32) {
            const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data.data() + at));
            sums = _mm256_sub_epi8(sums, _mm256_cmpeq_epi8(bytes, newline));
        }
        const __m256i wide = _mm256_sad_epu8(sums, _mm256_setzero_si256());
        alignas(32) std::uint64_t parts[4];
        _mm256_store_si256(reinterpret_cast<__m256i*>(parts), wide);
        count += parts[0] + parts[1] + parts[2] + parts[3];
    }
    for (; at < data.size(); ++at) count += data[at] == '\n' ? 1U : 0U;
    return count;
}

}  // namespace gpucheck::host
#endif
