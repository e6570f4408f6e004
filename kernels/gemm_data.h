// Factors of a large matrix product of which every element is known without multiplying: a reference that the
// GPU had computed itself would carry its faults.
#pragma once

#include "kernels/matrix_layouts.h"

namespace gpucheck::kernels {

// A[i][k] = x_i * u_k + y_i * v_k, B[j][k] likewise with other numbers: x and y are small integers of the
// line, u and v are +1 or -1. So C[i][j] = x_i x_j Σ u u' + x_i y_j Σ u v' + y_i x_j Σ v u' + y_i y_j Σ v v',
// and the four sums over k are the same for all elements. No two steps of k and hardly two lines are alike.

constexpr u32 kGemmTile = 128;      // of C, made by one block; the size is a multiple of it
constexpr u32 kGemmSlabBytes = 64;  // of one line, that are multiplied at a time

/// Waves of a block. FP8 on NVIDIA has more of them with smaller tiles: sm_90 and sm_100 need more registers
/// for their mma.sync of FP8 than a lane has beside a large tile (ptxas 13.0 spills).
GPU_PURE u32 gemm_waves(Target target, MatrixType type) {
    return type == MatrixType::e4m3 && !is_amd(target) ? 8 : 4;
}
GPU_PURE u32 gemm_threads(Target target, MatrixType type) {
    return gemm_waves(target, type) * matrix_shape(target, MatrixType::bf16).wave;
}

struct GemmPair {
    i32 x, y;
};

/// The four sums over k.
struct GemmSums {
    i32 xx, xy, yx, yy;
};

/// Largest factor of a line. Of e4m3 the sums must stay below 2^13 (see operand_range), of the others 2^22.
GPU_PURE i32 gemm_limit(MatrixType type) {
    return type == MatrixType::e4m3 ? 2 : 31;
}
GPU_PURE i32 gemm_largest_sum(MatrixType type) {
    return type == MatrixType::e4m3 ? 1 << 13 : 1 << 22;
}

GPU_PURE i32 gemm_factor(u32 random16, i32 limit) {
    const i32 magnitude = 1 + static_cast<i32>((random16 & 0x7FFF) * static_cast<u32>(limit) >> 15);
    return (random16 >> 15) != 0 ? -magnitude : magnitude;
}

/// x and y of a row of A (side 0) or a column of B (side 1).
GPU_PURE GemmPair gemm_line(u32 key, u32 side, u32 line, i32 limit) {
    const u32 random = mix32((key + side * 0x9E3779B1u) ^ (line * 0x85EBCA77u));
    return {gemm_factor(random & 0xFFFF, limit), gemm_factor(random >> 16, limit)};
}

/// u and v of a step of k.
GPU_PURE GemmPair gemm_step(u32 key, u32 side, u32 k) {
    const u32 random = mix32((key ^ 0x5BD1E995u) + side * 0x9E3779B1u + k * 0xC2B2AE3Du);
    return {(random & 1) != 0 ? 1 : -1, (random & 2) != 0 ? 1 : -1};
}

GPU_PURE i32 gemm_value(GemmPair line, GemmPair step) {
    return line.x * step.x + line.y * step.y;
}

GPU_PURE i32 gemm_result(GemmSums sums, GemmPair row, GemmPair column) {
    return row.x * (column.x * sums.xx + column.y * sums.xy) +
           row.y * (column.x * sums.yx + column.y * sums.yy);
}

}  // namespace gpucheck::kernels
