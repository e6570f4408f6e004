// Small integers as the bits of each matrix number format: a wrong encoder would call every healthy chip
// broken (FP8 of gfx942 means half of what the same byte means elsewhere).
#pragma once

#include "kernels/hash.h"

namespace gpucheck::kernels {

/// How FP8 is read: AMD's gfx94x has its own (FNUZ, biases 8 and 16); everybody else follows the OCP (7 and
/// 15).
enum class Fp8 : u32 { ocp, fnuz };

struct NumberFormat {
    u32 bits, mantissa_bits, bias;
};

GPU_PURE NumberFormat number_format(MatrixType type, Fp8 fp8) {
    switch (type) {
        case MatrixType::f64:
            return {64, 52, 1023};
        case MatrixType::tf32:
            return {32, 23, 127};  // handed over in a float register; the unit reads 10 bits of it
        case MatrixType::f16:
            return {16, 10, 15};
        case MatrixType::bf16:
            return {16, 7, 127};
        case MatrixType::e4m3:
            return {8, 3, fp8 == Fp8::fnuz ? 8u : 7u};
        case MatrixType::e5m2:
            return {8, 2, fp8 == Fp8::fnuz ? 16u : 15u};
        case MatrixType::i8:
            return {8, 0, 0};
        case MatrixType::e2m3:
            return {6, 3, 1};
        case MatrixType::e3m2:
            return {6, 2, 3};
        case MatrixType::e2m1:
            return {4, 1, 1};
    }
    return {0, 0, 0};
}

/// The bits of an integer that the format holds exactly and as a normal number. Zero is +0 always: the code
/// of -0 is NaN in FNUZ.
GPU_PURE u64 encode_integer(NumberFormat format, i64 value) {
    if (format.mantissa_bits == 0) return static_cast<u64>(value) & 0xFF;
    if (value == 0) return 0;
    const u64 magnitude = value < 0 ? static_cast<u64>(-value) : static_cast<u64>(value);
    const u32 exponent = 63u - static_cast<u32>(__builtin_clzll(magnitude));
    const u64 fraction = magnitude ^ (1ull << exponent);
    const u64 mantissa = exponent <= format.mantissa_bits ? fraction << (format.mantissa_bits - exponent)
                                                          : fraction >> (exponent - format.mantissa_bits);
    const u64 sign = value < 0 ? 1ull << (format.bits - 1) : 0;
    return sign | (u64{exponent + format.bias} << format.mantissa_bits) | mantissa;
}

/// Largest operand of each side. The sum of all |a * b| of a result plus |C| <= 512 stays below 2^22 in FP32
/// and below 2^13 for FP8 (Hopper keeps about 14 bits between FP8 additions: DeepSeek-V3 technical report,
/// section 3.3.2), so every order of adding gives the same bits. The sides swap their ranges every round:
/// both paths see wide operands.
struct OperandRange {
    i32 wide, narrow, scale;
};

GPU_PURE OperandRange operand_range(MatrixType type) {
    switch (type) {
        case MatrixType::f64:
            return {32767, 32767, 513};
        case MatrixType::tf32:
            return {2047, 63, 1};
        case MatrixType::f16:
            return {2047, 63, 1};
        case MatrixType::bf16:
            return {255, 255, 1};
        case MatrixType::e4m3:
            return {16, 7, 1};
        case MatrixType::e5m2:
            return {8, 8, 1};
        case MatrixType::i8:
            return {127, 127, 1};
        case MatrixType::e2m3:
            return {7, 7, 1};
        case MatrixType::e3m2:
            return {8, 8, 1};
        case MatrixType::e2m1:
            return {5, 5, 1};  // fifth magnitude: 6, see operand_value
    }
    return {0, 0, 0};
}

/// The operand that 16 random bits stand for.
GPU_PURE i32 operand_value(MatrixType type, bool wide, u32 random16) {
    const OperandRange range = operand_range(type);
    const i32 limit = wide ? range.wide : range.narrow;
    const i32 value = static_cast<i32>((random16 * static_cast<u32>(2 * limit + 1)) >> 16) - limit;
    if (type == MatrixType::e2m1 && (value == 5 || value == -5))
        return value < 0 ? -6 : 6;  // 5 is not in E2M1
    return value * range.scale;
}

}  // namespace gpucheck::kernels
