// See reference.h.
#include "kernels/reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace gpucheck::kernels {
namespace {

struct Fields {
    int exponent_bits, mantissa_bits, bias;
};

double with_fields(Fields f, u64 bits) {
    const u64 mantissa = bits & ((1ull << f.mantissa_bits) - 1);
    const int exponent = static_cast<int>(bits >> f.mantissa_bits & ((1ull << f.exponent_bits) - 1));
    const double sign = (bits >> (f.mantissa_bits + f.exponent_bits) & 1) != 0 ? -1.0 : 1.0;
    const double unit = std::ldexp(1.0, -f.mantissa_bits);
    const double fraction = static_cast<double>(mantissa) * unit;
    const double value =
        exponent == 0 ? std::ldexp(fraction, 1 - f.bias) : std::ldexp(1.0 + fraction, exponent - f.bias);
    return sign * value;
}

double ieee(Fields f, u64 bits) {
    const u64 all = (1ull << f.exponent_bits) - 1;
    if ((bits >> f.mantissa_bits & all) != all) return with_fields(f, bits);
    if ((bits & ((1ull << f.mantissa_bits) - 1)) != 0) return std::numeric_limits<double>::quiet_NaN();
    const bool negative = (bits >> (f.mantissa_bits + f.exponent_bits) & 1) != 0;
    return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

double decode_fp8(MatrixType type, Fp8 fp8, u64 bits) {
    const bool e4m3 = type == MatrixType::e4m3;
    if (fp8 == Fp8::fnuz) {
        if (bits == 0x80) return std::numeric_limits<double>::quiet_NaN();
        return with_fields(e4m3 ? Fields{4, 3, 8} : Fields{5, 2, 16}, bits);
    }
    if (!e4m3) return ieee({5, 2, 15}, bits);
    if ((bits & 0x7F) == 0x7F) return std::numeric_limits<double>::quiet_NaN();
    return with_fields({4, 3, 7}, bits);
}

u64 bits_of_result(MatrixType type, i64 value) {
    if (type == MatrixType::f64) return std::bit_cast<u64>(static_cast<double>(value));
    if (type == MatrixType::i8) return static_cast<u32>(value);
    return std::bit_cast<u32>(static_cast<float>(value));
}

std::vector<i64> operands(const TileAt& at, u32 side, u32 part, u32 lines) {
    const MatrixShape shape = matrix_shape(at.target, at.type);
    const bool wide = (side == 0) == (at.round % 2 == 0);
    std::vector<i64> values;
    values.reserve(std::size_t{lines} * kSteps * shape.k);
    for (u32 line = 0; line < lines; ++line) {
        for (u32 step = 0; step < kSteps; ++step) {
            const u32 key = fragment_key(at.seed, at.wave, at.round, step, side, part);
            for (u32 k = 0; k < shape.k; ++k) {
                const u32 pair = operand_pair(key, line, k / 2);
                values.push_back(operand_value(at.type, wide, k % 2 == 0 ? pair & 0xFFFF : pair >> 16));
            }
        }
    }
    return values;
}

}  // namespace

u32 element_bits_of(MatrixType type) {
    constexpr u32 kBits[kMatrixTypes] = {64, 32, 16, 16, 8, 8, 8, 6, 6, 4};
    return kBits[static_cast<u32>(type)];
}

const char* name_of(MatrixType type) {
    constexpr const char* kNames[kMatrixTypes] = {"f64",  "tf32", "f16",  "bf16", "e4m3",
                                                  "e5m2", "i8",   "e2m3", "e3m2", "e2m1"};
    return kNames[static_cast<u32>(type)];
}

double decode(MatrixType type, Fp8 fp8, u64 bits) {
    switch (type) {
        case MatrixType::f64:
            return std::bit_cast<double>(bits);
        case MatrixType::tf32:
            return double{std::bit_cast<float>(static_cast<u32>(bits))};
        case MatrixType::f16:
            return ieee({5, 10, 15}, bits);
        case MatrixType::bf16:
            return ieee({8, 7, 127}, bits);
        case MatrixType::e4m3:
        case MatrixType::e5m2:
            return decode_fp8(type, fp8, bits);
        case MatrixType::i8:
            return static_cast<double>(static_cast<std::int8_t>(bits));
        case MatrixType::e2m3:
            return with_fields({2, 3, 1}, bits);
        case MatrixType::e3m2:
            return with_fields({3, 2, 3}, bits);
        case MatrixType::e2m1:
            return with_fields({2, 1, 1}, bits);
    }
    return std::numeric_limits<double>::quiet_NaN();
}

u64 linear_sum(u64 base, u64 step, u64 count) {
    // count * (count - 1) / 2 modulo 2^64: halve the even one of the two first.
    const u64 triangle = count % 2 == 0 ? count / 2 * (count - 1) : (count - 1) / 2 * count;
    return count * base + step * triangle;
}

TileOperands tile_operands(const TileAt& at) {
    const MatrixShape shape = matrix_shape(at.target, at.type);
    return {operands(at, 0, at.chain / shape.b_parts, shape.m),
            operands(at, 1, at.chain % shape.b_parts, shape.n)};
}

std::vector<u64> tile_bits(const TileAt& at) {
    const MatrixShape shape = matrix_shape(at.target, at.type);
    const TileOperands factors = tile_operands(at);
    const u32 part_a = at.chain / shape.b_parts, part_b = at.chain % shape.b_parts, length = kSteps * shape.k;
    const bool scaled = is_scaled(at.target, at.type);
    const u32 key = fragment_key(at.seed, at.wave, at.round, 0, 2, part_a * 16 + part_b);
    const u32 scale_a = fragment_key(at.seed, at.wave, at.round, 0, 3, part_a);
    const u32 scale_b = fragment_key(at.seed, at.wave, at.round, 0, 4, part_b);
    std::vector<u64> bits;
    bits.reserve(std::size_t{shape.m} * shape.n);
    for (u32 i = 0; i < shape.m; ++i) {
        for (u32 j = 0; j < shape.n; ++j) {
            i64 sum = 0;
            for (u32 k = 0; k < length; ++k) sum += factors.a[i * length + k] * factors.b[j * length + k];
            if (scaled && line_scale(scale_a, i) != 0) sum *= 2;
            if (scaled && line_scale(scale_b, j) != 0) sum *= 2;
            bits.push_back(bits_of_result(at.type, sum + start_value(key, i, j)));
        }
    }
    return bits;
}

u64 wrong_elements(const TileAt& at, const u64* output) {
    u64 wrong = 0, i = 0;
    for (const u64 bits : tile_bits(at)) wrong += output[i++] != bits ? 1 : 0;
    return wrong;
}

u64 operations_per_round(Target target, MatrixType type, u32 iterations) {
    const MatrixShape shape = matrix_shape(target, type);
    const u64 instructions = u64{shape.a_parts} * shape.b_parts * kSteps * (2 * u64{iterations} + 1);
    return 2 * u64{shape.m} * shape.n * shape.k * instructions;
}

std::optional<GemmData> gemm_data(MatrixType type, u64 seed, u32 depth) {
    constexpr u32 kTries = 64;
    const i64 limit = gemm_limit(type), largest = gemm_largest_sum(type);
    // Within a slab the order is the instruction's: all of its products may come before any other's.
    const i64 slab = i64{kGemmSlabBytes} * 8 / element_bits_of(type) * (2 * limit) * (2 * limit);
    const i64 bound = (largest - slab) / (4 * limit * limit);  // of each sum, at every step
    for (u32 attempt = 0; attempt < kTries; ++attempt) {
        GemmData data{static_cast<u32>(mix64(mix64(seed + kGolden) + attempt) >> 32), {}};
        i32 most = 0;
        for (u32 k = 0; k < depth && most <= bound; ++k) {
            const GemmPair a = gemm_step(data.key, 0, k), b = gemm_step(data.key, 1, k);
            GemmSums& sums = data.sums;
            sums = {sums.xx + a.x * b.x, sums.xy + a.x * b.y, sums.yx + a.y * b.x, sums.yy + a.y * b.y};
            most =
                std::max({most, std::abs(sums.xx), std::abs(sums.xy), std::abs(sums.yx), std::abs(sums.yy)});
        }
        const GemmSums& sums = data.sums;
        // Sums that are all zero would make a product that a launch without effect also leaves.
        const bool alive = sums.xx != 0 && sums.xy != 0 && sums.yx != 0 && sums.yy != 0;
        if (alive && most <= bound) return data;
    }
    return std::nullopt;
}

}  // namespace gpucheck::kernels
