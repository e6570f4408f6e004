// Which lane and register holds which element of a matrix instruction's operands: a wrong formula would
// condemn every healthy chip. MFMA: AMD's matrix instruction calculator and the CDNA3/CDNA4 ISA manuals;
// mma.sync: PTX ISA, "Matrix fragments"; wgmma: the same for each of a warpgroup's four warps, 16 rows apart
// (CUTLASS, mma_traits_sm90_gmma.hpp: ALayout_64x8, 64x16, 64x32 and CLayout_64x128). The order of k only has
// to be the same for A and B.
#pragma once

#include "kernels/matrix_shapes.h"

namespace gpucheck::kernels {

struct Place {
    u32 line, other;  // A: row and k; B: column and k; D: row and column
};

GPU_PURE bool is_amd(Target target) {
    return target == Target::gfx90a || target == Target::gfx942 || target == Target::gfx950;
}

GPU_PURE Place mfma_operand(MatrixShape shape, bool two_halves, u32 lane, u32 e) {
    const u32 groups = 64 / shape.m, group = lane / shape.m;
    const u32 k = two_halves ? 16 * group + 16 * groups * (e / 16) + e % 16 : shape.a_elements * group + e;
    return {lane % shape.m, k};
}

/// Row of a lane's first element: four lanes a row, eight rows a warp, 16 from warp to warp of a warpgroup.
GPU_PURE u32 row_of_lane(u32 lane) {
    return ((lane & 31) >> 2) + 16 * (lane >> 5);
}

/// Element e of a lane's A operand. B's is the same with columns for rows.
GPU_PURE Place place_a(Target target, MatrixType type, u32 lane, u32 e) {
    const MatrixShape shape = matrix_shape(target, type);
    const u32 bits = number_format(type, Fp8::ocp).bits;
    if (is_amd(target)) return mfma_operand(shape, is_scaled(target, type) && bits == 8, lane, e);
    const u32 p = row_of_lane(lane), q = lane & 3;
    if (bits == 64) return {p, q};
    if (bits == 32) return {p + 8 * (e & 1), q + 4 * (e >> 1)};
    if (bits == 16) return {p + 8 * ((e >> 1) & 1), 2 * q + (e & 1) + 8 * (e >> 2)};
    return {p + 8 * ((e >> 2) & 1), 4 * q + (e & 3) + 16 * (e >> 3)};
}

GPU_PURE Place place_b(Target target, MatrixType type, u32 lane, u32 e) {
    if (is_amd(target)) return place_a(target, type, lane, e);
    if (target == Target::sm90) return {lane, e};  // a thread puts one column of B into shared memory
    const u32 bits = number_format(type, Fp8::ocp).bits;
    const u32 p = lane >> 2, q = lane & 3;
    if (bits == 64) return {p, q};
    if (bits == 32) return {p, q + 4 * e};
    if (bits == 16) return {p, 2 * q + (e & 1) + 8 * (e >> 1)};
    return {p, 4 * q + (e & 3) + 16 * (e >> 2)};
}

/// Accumulator register r of a lane. Mind that AMD's FP64 differs from its 32-bit types.
GPU_PURE Place place_d(Target target, MatrixType type, u32 lane, u32 r) {
    const MatrixShape shape = matrix_shape(target, type);
    if (is_amd(target)) {
        const u32 column = lane % shape.m;
        if (type == MatrixType::f64) return {4 * r + lane / 16, column};
        if (shape.m == 32) return {8 * (r / 4) + 4 * (lane / 32) + r % 4, column};
        return {4 * (lane / 16) + r, column};
    }
    const u32 p = row_of_lane(lane), q = lane & 3;
    if (type == MatrixType::f64) return {p, 2 * q + r};
    return {p + 8 * ((r >> 1) & 1), 2 * q + (r & 1) + 8 * (r >> 2)};
}

/// Where wgmma finds column `line` of B, 32 bytes of k, in a tile of shared memory: blocks of 8 columns by 16
/// bytes, two along k, then the next 8 columns. No swizzle, k contiguous ("K-major").
constexpr u32 kTileColumns = 128, kTileWords = kTileColumns * 8;
constexpr u32 kNextK = 128, kNextColumns = 256;  // bytes from a block to its neighbours

/// Word 0..7 of a column, as an index into the tile's words.
GPU_PURE u32 tile_word(u32 line, u32 word) {
    return (line / 8 * kNextColumns + word / 4 * kNextK + line % 8 * 16) / 4 + word % 4;
}

/// The matrix descriptor of such a tile (PTX ISA, "Matrix descriptor" of wgmma): address, leading dimension
/// (blocks along k) and stride dimension (blocks along the columns), each in 16 bytes; bits 62 and 63 zero
/// are no swizzle. For K-major without swizzle see also CUTLASS: ((8,n),2):((1,SBO),LBO).
GPU_PURE u64 tile_descriptor(u32 address) {
    return u64{(address & 0x3FFFF) >> 4} | u64{kNextK >> 4} << 16 | u64{kNextColumns >> 4} << 32;
}

}  // namespace gpucheck::kernels
