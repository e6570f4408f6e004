// Finds memory that is slower than the board's: 16-byte accesses over all channels, each result verified word
// by word, because a bandwidth without a check of the content proves nothing (RVS's babel comments its check
// out).
#include "kernels/hash.h"
#include "kernels/report.h"

namespace gpucheck::kernels {

constexpr u32 kInFlight = 4;  // loads that a thread has under way

GPU_FN Pair linear_pair(u64 base, u64 step, u64 pair) {
    const u64 first = linear_word(base, step, 2 * pair);
    return {first, first + step};
}

/// Where a thread starts and how far all threads advance together, in pairs.
GPU_FN u64 first_pair() {
    return u64{block_index()} * block_size() + thread_index();
}
GPU_FN u64 all_threads() {
    return u64{grid_size()} * block_size();
}

GPU_KERNEL(1024) stream_write(Pair* to, u64 pairs, u64 base, u64 step) {
    const u64 stride = all_threads();
    for (u64 i = first_pair(); i < pairs; i += stride) store_streaming(to + i, linear_pair(base, step, i));
}

GPU_KERNEL(1024) stream_copy(Pair* to, const Pair* from, u64 pairs) {
    const u64 stride = all_threads();
    u64 i = first_pair();
    for (; i + (kInFlight - 1) * stride < pairs; i += kInFlight * stride) {
        Pair values[kInFlight];
        GPU_UNROLL for (u32 j = 0; j < kInFlight; ++j) values[j] = load_streaming(from + i + j * stride);
        GPU_UNROLL for (u32 j = 0; j < kInFlight; ++j) store_streaming(to + i + j * stride, values[j]);
    }
    for (; i < pairs; i += stride) store_streaming(to + i, load_streaming(from + i));
}

/// to = b + factor * c in 64-bit integers: exact, and linear in the index when b and c are.
GPU_KERNEL(1024) stream_triad(Pair* to, const Pair* b, const Pair* c, u64 pairs, u64 factor) {
    const u64 stride = all_threads();
    u64 i = first_pair();
    for (; i + (kInFlight - 1) * stride < pairs; i += kInFlight * stride) {
        Pair left[kInFlight], right[kInFlight];
        GPU_UNROLL for (u32 j = 0; j < kInFlight; ++j) {
            left[j] = load_streaming(b + i + j * stride);
            right[j] = load_streaming(c + i + j * stride);
        }
        GPU_UNROLL for (u32 j = 0; j < kInFlight; ++j) {
            store_streaming(to + i + j * stride,
                            {left[j].x + factor * right[j].x, left[j].y + factor * right[j].y});
        }
    }
    for (; i < pairs; i += stride) {
        const Pair left = load_streaming(b + i), right = load_streaming(c + i);
        store_streaming(to + i, {left.x + factor * right.x, left.y + factor * right.y});
    }
}

/// Reads everything; result->checksum is the sum of all words modulo 2^64, result->checked their number.
GPU_KERNEL(1024) stream_read(const Pair* from, u64 pairs, CheckResult* result) {
    const u64 stride = all_threads();
    u64 i = first_pair(), sum = 0, words = 0;
    for (; i + (kInFlight - 1) * stride < pairs; i += kInFlight * stride) {
        Pair values[kInFlight];
        GPU_UNROLL for (u32 j = 0; j < kInFlight; ++j) values[j] = load_streaming(from + i + j * stride);
        GPU_UNROLL for (u32 j = 0; j < kInFlight; ++j) sum += values[j].x + values[j].y;
        words += 2 * kInFlight;
    }
    for (; i < pairs; i += stride, words += 2) {
        const Pair value = load_streaming(from + i);
        sum += value.x + value.y;
    }
    add_of_block(&result->checksum, sum);
    add_of_block(&result->checked, words);
}

/// Compares every word with base + index * step. `offset` (bytes) is where `from` lies in the whole.
GPU_KERNEL(1024)
stream_verify(const Pair* from, u64 pairs, u64 base, u64 step, u64 offset, CheckResult* result) {
    const u64 stride = all_threads();
    const u32 unit = unit_id();
    u64 words = 0;
    u32 wrong = 0;
    for (u64 i = first_pair(); i < pairs; i += stride, words += 2) {
        const Pair got = load_streaming(from + i), expected = linear_pair(base, step, i);
        const MemoryPlace place{Experiment::memory_stream, 0, unit, offset + i * 16};
        if (got.x != expected.x) wrong += report_word(result, place, 0, expected.x, got.x);
        if (got.y != expected.y) wrong += report_word(result, place, 8, expected.y, got.y);
    }
    count_unit(result, unit, unit_id(), words != 0 ? 1 : 0, wrong);
    add_of_block(&result->checked, words);
}

}  // namespace gpucheck::kernels
