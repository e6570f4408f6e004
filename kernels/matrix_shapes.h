// Which matrix instruction of each architecture is run, and how a launch tiles it: coverage and speed are
// counted from this one table, which the kernels are built from.
#pragma once

#include "kernels/number_formats.h"

namespace gpucheck::kernels {

/// Architectures whose matrix units we know. `none` has none of them (vector kernels only). sm90 and sm120
/// are what those have beside sm89: wgmma, and the formats below FP8.
enum class Target : u32 { none, gfx90a, gfx942, gfx950, sm80, sm89, sm90, sm120 };

struct MatrixShape {
    u32 m, n, k;                             // one instruction
    u32 a_elements, b_elements, d_elements;  // per lane
    u32 a_parts, b_parts;                    // independent chains of a wave: a_parts * b_parts
    u32 wave;                                // lanes; 0: the architecture lacks the type
};

constexpr u32 kSteps = 2;  // different products added to each chain

GPU_PURE MatrixShape mfma_shape(u32 m, u32 k, u32 parts) {
    return {m, m, k, m * k / 64, m * k / 64, m * m / 64, parts, parts, 64};
}
GPU_PURE MatrixShape mma_shape(u32 k) {
    return {16, 8, k, k / 2, k / 4, 4, 2, 4, 32};
}

/// wgmma: a warpgroup of 128 threads with 64 accumulators each, B in shared memory. Two chains of 128 columns
/// fit the registers, and read each B once for 64 rows.
GPU_PURE MatrixShape wgmma_shape(u32 k) {
    return {64, 128, k, k / 2, k, 64, 2, 1, 128};
}

/// FP8 and smaller on gfx950: the scaled instruction, the only one at full rate (AMD CDNA4 ISA).
GPU_PURE bool is_scaled(Target target, MatrixType type) {
    return target == Target::gfx950 &&
           (type == MatrixType::e4m3 || type == MatrixType::e5m2 || type == MatrixType::e2m3 ||
            type == MatrixType::e3m2 || type == MatrixType::e2m1);
}

GPU_PURE MatrixShape amd_shape(Target target, MatrixType type) {
    const bool gfx90a = target == Target::gfx90a, gfx950 = target == Target::gfx950;
    switch (type) {
        case MatrixType::f64:
            return mfma_shape(16, 4, 2);
        case MatrixType::tf32:
            return target == Target::gfx942 ? mfma_shape(32, 4, 2) : MatrixShape{};
        case MatrixType::f16:
        case MatrixType::bf16:
            return mfma_shape(32, gfx950 ? 16 : 8, 2);
        case MatrixType::i8:
            return mfma_shape(32, gfx950 ? 32 : gfx90a ? 8 : 16, 2);
        case MatrixType::e4m3:
        case MatrixType::e5m2:
            return gfx90a ? MatrixShape{} : mfma_shape(32, gfx950 ? 64 : 16, 2);
        case MatrixType::e2m3:
        case MatrixType::e3m2:
        case MatrixType::e2m1:
            return gfx950 ? mfma_shape(32, 64, 2) : MatrixShape{};
    }
    return MatrixShape{};
}

/// wgmma (PTX ISA, "Asynchronous warpgroup level matrix instructions"). FP64 has none.
GPU_PURE MatrixShape hopper_shape(MatrixType type) {
    switch (type) {
        case MatrixType::tf32:
            return wgmma_shape(8);
        case MatrixType::f16:
        case MatrixType::bf16:
            return wgmma_shape(16);
        case MatrixType::i8:
        case MatrixType::e4m3:
        case MatrixType::e5m2:
            return wgmma_shape(32);
        default:
            return MatrixShape{};
    }
}

/// mma.sync of kind f8f6f4 (PTX ISA). Only sm_120a has it: on sm_100a these formats need tcgen05.
GPU_PURE MatrixShape small_format_shape(MatrixType type) {
    const bool small = type == MatrixType::e2m3 || type == MatrixType::e3m2 || type == MatrixType::e2m1;
    return small ? mma_shape(32) : MatrixShape{};
}

/// mma.sync (PTX ISA): a legacy path on sm_90a and sm_100a, which are faster with wgmma and tcgen05.
GPU_PURE MatrixShape nvidia_shape(Target target, MatrixType type) {
    switch (type) {
        case MatrixType::f64:
            return {8, 8, 4, 1, 1, 2, 4, 4, 32};
        case MatrixType::tf32:
            return mma_shape(8);
        case MatrixType::f16:
        case MatrixType::bf16:
            return mma_shape(16);
        case MatrixType::i8:
            return mma_shape(32);
        case MatrixType::e4m3:
        case MatrixType::e5m2:
            return target == Target::sm89 ? mma_shape(32) : MatrixShape{};
        default:
            return MatrixShape{};
    }
}

GPU_PURE MatrixShape matrix_shape(Target target, MatrixType type) {
    switch (target) {
        case Target::gfx90a:
        case Target::gfx942:
        case Target::gfx950:
            return amd_shape(target, type);
        case Target::sm80:
        case Target::sm89:
            return nvidia_shape(target, type);
        case Target::sm90:
            return hopper_shape(type);
        case Target::sm120:
            return small_format_shape(type);
        case Target::none:
            break;
    }
    return MatrixShape{};
}

/// How an element lies in a register: its bits, and how far up in them the format's own bits begin. kind
/// f8f6f4 keeps each element in a byte, FP6 in the low bits and FP4 in the middle (CUTLASS, fp4_shift_A).
struct Storage {
    u32 bits, shift;
};
GPU_PURE Storage storage_of(Target target, MatrixType type) {
    if (target == Target::sm120) return {8, type == MatrixType::e2m1 ? 2u : 0u};
    return {number_format(type, Fp8::ocp).bits, 0};
}

/// Whether the kernels of a target may condemn a GPU. These two follow the documents and the assembler alone:
/// until a run on hardware is in docs/measured, a mismatch may be our own fault and is told as such.
GPU_PURE bool is_proven(Target target) {
    return target != Target::sm90 && target != Target::sm120;
}

GPU_PURE Fp8 fp8_of(Target target) {
    return target == Target::gfx942 ? Fp8::fnuz : Fp8::ocp;
}

/// Scale bytes of the scaled instructions are 127 (times one) or 128 (times two). One per line and not per
/// block of k: which k belong to which block is not needed to be right.
GPU_PURE u32 line_scale(u32 key, u32 line) {
    return mix32(key ^ (line + 0x5CA1Eu)) >> 31;
}

constexpr u32 kMatrixThreads = 256;

}  // namespace gpucheck::kernels
