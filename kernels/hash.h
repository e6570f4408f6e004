// Where the data of every experiment comes from: functions of a seed and a position alone, the same on the
// device and on the host, so that a wrong value is told by its own position and no golden copy has to survive
// in the same memory.
#pragma once

#include "kernels/results.h"

namespace gpucheck::kernels {

/// Mixes all bits of a counter (the 32-bit finaliser of MurmurHash3, public domain, by Austin Appleby).
GPU_PURE u32 mix32(u32 x) {
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    return x ^ (x >> 16);
}

/// The same for 64 bits (SplitMix64's output function, public domain, by Sebastiano Vigna).
GPU_PURE u64 mix64(u64 x) {
    x ^= x >> 30;
    x *= 0xBF58476D1CE4E5B9ull;
    x ^= x >> 27;
    x *= 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

constexpr u64 kGolden = 0x9E3779B97F4A7C15ull;

/// Word `index` of a stream array: base + index * step, all bits toggling, its sum known in closed form.
struct Linear {
    u64 base, step;
};

GPU_PURE u64 linear_word(u64 base, u64 step, u64 index) {
    return base + index * step;
}

/// Word `index` of a memory pattern. Offsets and not addresses: the same on every run and in the host's
/// reference.
GPU_PURE u64 pattern_word(Pattern pattern, u64 seed, u64 index) {
    switch (pattern) {
        case Pattern::own_address:
            return index * 8;
        case Pattern::inverse_address:
            return ~(index * 8);
        case Pattern::random:
            return mix64(seed + index * kGolden);
        case Pattern::inverse_random:
            return ~mix64(seed + index * kGolden);
        case Pattern::walking_one:
            return 1ull << ((index + seed) % 64);
        case Pattern::walking_zero:
            return ~(1ull << ((index + seed) % 64));
    }
    return 0;
}

/// Names one operand fragment: which launch, wave, round, step of k, side (0 = A, 1 = B, 2 = C) and chain.
GPU_PURE u32 fragment_key(u64 seed, u32 wave, u32 round, u32 step, u32 side, u32 part) {
    const u64 where = (u64{wave} << 32) ^ (u64{round} << 12) ^ (step << 8) ^ (side << 4) ^ part;
    return static_cast<u32>(mix64(mix64(seed + kGolden) ^ where) >> 16);
}

/// Two operands of 16 random bits, for k = 2 * pair (low half) and 2 * pair + 1.
GPU_PURE u32 operand_pair(u32 key, u32 line, u32 pair) {
    return mix32((key + line * 0x9E3779B1u) ^ (pair * 0x85EBCA77u));
}

/// The accumulator's start value: an integer of -512..511 that an instruction without effect would leave.
GPU_PURE i32 start_value(u32 key, u32 row, u32 column) {
    return static_cast<i32>(mix32(key + row * 0x9E3779B1u + column * 0xC2B2AE3Du) >> 22) - 512;
}

}  // namespace gpucheck::kernels
