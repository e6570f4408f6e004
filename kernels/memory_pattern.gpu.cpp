// Finds memory that does not hold what was written: stuck bits, crossed address lines and weak cells, each
// told by its offset, its flipped bits and the compute unit that read it.
#include "kernels/hash.h"
#include "kernels/report.h"

namespace gpucheck::kernels {

/// `first_word` is the place of `to` in the whole of the tested memory, so that no two buffers hold the same
/// addresses.
GPU_KERNEL(1024) pattern_fill(Pair* to, u64 pairs, u64 first_word, u32 pattern, u64 seed) {
    const u64 stride = u64{grid_size()} * block_size();
    const Pattern kind = static_cast<Pattern>(pattern);
    for (u64 i = u64{block_index()} * block_size() + thread_index(); i < pairs; i += stride) {
        const u64 word = first_word + 2 * i;
        store_streaming(to + i, {pattern_word(kind, seed, word), pattern_word(kind, seed, word + 1)});
    }
}

GPU_KERNEL(1024)
pattern_check(const Pair* from, u64 pairs, u64 first_word, u32 pattern, u64 seed, CheckResult* result) {
    const u64 stride = u64{grid_size()} * block_size();
    const Pattern kind = static_cast<Pattern>(pattern);
    const u32 unit = unit_id();
    u64 words = 0;
    u32 wrong = 0;
    for (u64 i = u64{block_index()} * block_size() + thread_index(); i < pairs; i += stride, words += 2) {
        const Pair got = load_streaming(from + i);
        const u64 word = first_word + 2 * i;
        const u64 x = pattern_word(kind, seed, word), y = pattern_word(kind, seed, word + 1);
        const MemoryPlace place{Experiment::memory_pattern, pattern, unit, word * 8};
        if (got.x != x) wrong += report_word(result, place, 0, x, got.x);
        if (got.y != y) wrong += report_word(result, place, 8, y, got.y);
    }
    count_unit(result, unit, unit_id(), words != 0 ? 1 : 0, wrong);
    add_of_block(&result->checked, words);
}

}  // namespace gpucheck::kernels
