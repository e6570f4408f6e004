// Which lane and register holds which element of a matrix instruction's operands: a wrong formula would
// condemn every healthy chip. MFMA: AMD's matrix instruction calculator and the CDNA3/CDNA4 ISA manuals;
// mma.sync: PTX ISA, "Matrix fragments". The order of k only has to be the same for A and B.
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

/// Element e of a lane's A operand. B's is the same with columns for rows.
GPU_PURE Place place_a(Target target, MatrixType type, u32 lane, u32 e) {
    const MatrixShape shape = matrix_shape(target, type);
    const u32 bits = number_format(type, Fp8::ocp).bits;
    if (is_amd(target)) return mfma_operand(shape, is_scaled(target, type) && bits == 8, lane, e);
    const u32 p = lane >> 2, q = lane & 3;
    if (bits == 64) return {p, q};
    if (bits == 32) return {p + 8 * (e & 1), q + 4 * (e >> 1)};
    if (bits == 16) return {p + 8 * ((e >> 1) & 1), 2 * q + (e & 1) + 8 * (e >> 2)};
    return {p + 8 * ((e >> 2) & 1), 4 * q + (e & 3) + 16 * (e >> 3)};
}

GPU_PURE Place place_b(Target target, MatrixType type, u32 lane, u32 e) {
    if (is_amd(target)) return place_a(target, type, lane, e);
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
    const u32 p = lane >> 2, q = lane & 3;
    if (type == MatrixType::f64) return {p, 2 * q + r};
    return {p + 8 * (r >> 1), 2 * q + (r & 1)};
}

}  // namespace gpucheck::kernels
