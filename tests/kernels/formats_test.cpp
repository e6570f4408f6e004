// Number formats against the codes that the formats' documents print.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/reference.h"

namespace gpucheck::kernels {
namespace {

struct Code {
    MatrixType type;
    Fp8 fp8;
    u64 bits;
    double value;
};

// OCP 8-bit floating point, OCP microscaling formats, IEEE 754, LLVM's FNUZ types: extremes, subnormals and
// ones.
constexpr Code kCodes[] = {
    {MatrixType::e4m3, Fp8::ocp, 0x38, 1},
    {MatrixType::e4m3, Fp8::ocp, 0x7E, 448},
    {MatrixType::e4m3, Fp8::ocp, 0x01, 0x1p-9},
    {MatrixType::e4m3, Fp8::ocp, 0x08, 0x1p-6},
    {MatrixType::e4m3, Fp8::fnuz, 0x40, 1},
    {MatrixType::e4m3, Fp8::fnuz, 0x7F, 240},
    {MatrixType::e4m3, Fp8::fnuz, 0x01, 0x1p-10},
    {MatrixType::e5m2, Fp8::ocp, 0x3C, 1},
    {MatrixType::e5m2, Fp8::ocp, 0x7B, 57344},
    {MatrixType::e5m2, Fp8::ocp, 0x01, 0x1p-16},
    {MatrixType::e5m2, Fp8::fnuz, 0x40, 1},
    {MatrixType::e5m2, Fp8::fnuz, 0x7F, 57344},
    {MatrixType::e2m3, Fp8::ocp, 0x1F, 7.5},
    {MatrixType::e2m3, Fp8::ocp, 0x01, 0.125},
    {MatrixType::e3m2, Fp8::ocp, 0x1F, 28},
    {MatrixType::e3m2, Fp8::ocp, 0x01, 0.0625},
    {MatrixType::e2m1, Fp8::ocp, 0x7, 6},
    {MatrixType::e2m1, Fp8::ocp, 0x1, 0.5},
    {MatrixType::bf16, Fp8::ocp, 0x3F80, 1},
    {MatrixType::bf16, Fp8::ocp, 0xC0E0, -7},
    {MatrixType::f16, Fp8::ocp, 0x7BFF, 65504},
    {MatrixType::f16, Fp8::ocp, 0x0001, 0x1p-24},
    {MatrixType::i8, Fp8::ocp, 0x80, -128},
    {MatrixType::tf32, Fp8::ocp, 0x40400000, 3},
    {MatrixType::f64, Fp8::ocp, 0xC008000000000000, -3},
};

TEST(Formats, DecodeWhatTheDocumentsPrint) {
    for (const Code& code : kCodes) {
        EXPECT_EQ(decode(code.type, code.fp8, code.bits), code.value)
            << name_of(code.type) << " " << code.bits;
    }
}

TEST(Formats, NanAndInfinity) {
    EXPECT_TRUE(std::isnan(decode(MatrixType::e4m3, Fp8::fnuz, 0x80)));
    EXPECT_TRUE(std::isnan(decode(MatrixType::e5m2, Fp8::fnuz, 0x80)));
    EXPECT_TRUE(std::isnan(decode(MatrixType::e4m3, Fp8::ocp, 0x7F)));
    EXPECT_TRUE(std::isnan(decode(MatrixType::e4m3, Fp8::ocp, 0xFF)));
    EXPECT_TRUE(std::isnan(decode(MatrixType::e5m2, Fp8::ocp, 0x7D)));
    EXPECT_EQ(decode(MatrixType::e5m2, Fp8::ocp, 0xFC), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(decode(MatrixType::f16, Fp8::ocp, 0x7C00), std::numeric_limits<double>::infinity());
}

TEST(Formats, EncodesPrintedIntegers) {
    EXPECT_EQ(encode_integer(number_format(MatrixType::e4m3, Fp8::fnuz), -5), 0xD2u);
    EXPECT_EQ(encode_integer(number_format(MatrixType::e4m3, Fp8::ocp), -5), 0xCAu);
    EXPECT_EQ(encode_integer(number_format(MatrixType::e5m2, Fp8::fnuz), 7), 0x4Bu);
    EXPECT_EQ(encode_integer(number_format(MatrixType::e5m2, Fp8::ocp), 7), 0x47u);
    EXPECT_EQ(encode_integer(number_format(MatrixType::e2m3, Fp8::ocp), -6), 0x3Cu);
    EXPECT_EQ(encode_integer(number_format(MatrixType::e3m2, Fp8::ocp), 8), 0x18u);
    EXPECT_EQ(encode_integer(number_format(MatrixType::e2m1, Fp8::ocp), -3), 0xDu);
    EXPECT_EQ(encode_integer(number_format(MatrixType::e4m3, Fp8::fnuz), 0), 0u);
}

TEST(Formats, EveryOperandIsExact) {
    for (u32 t = 0; t < kMatrixTypes; ++t) {
        const auto type = static_cast<MatrixType>(t);
        for (const Fp8 fp8 : {Fp8::ocp, Fp8::fnuz}) {
            for (const bool wide : {false, true}) {
                for (u32 random = 0; random < 65536; ++random) {
                    const i64 value = operand_value(type, wide, random);
                    for (const i64 v : {value, -value}) {
                        const u64 bits = encode_integer(number_format(type, fp8), v);
                        ASSERT_LT(bits >> (element_bits_of(type) - 1) >> 1, 1u) << name_of(type);
                        ASSERT_EQ(decode(type, fp8, bits), static_cast<double>(v))
                            << name_of(type) << " " << v;
                    }
                }
            }
        }
    }
}

TEST(Formats, OperandsReachTheWholeRange) {
    for (u32 t = 0; t < kMatrixTypes; ++t) {
        const auto type = static_cast<MatrixType>(t);
        const i32 most = type == MatrixType::e2m1 ? 6 : operand_range(type).wide * operand_range(type).scale;
        EXPECT_EQ(operand_value(type, true, 0), -most);
        EXPECT_EQ(operand_value(type, true, 65535), most);
    }
}

/// Every order of adding is exact only below the accumulator's integer limit; FP8 on Hopper keeps about 14
/// bits.
TEST(Formats, NoSumLeavesTheExactRange) {
    for (const Target target : {Target::gfx90a, Target::gfx942, Target::gfx950, Target::sm80, Target::sm89,
                                Target::sm90, Target::sm120}) {
        for (u32 t = 0; t < kMatrixTypes; ++t) {
            const auto type = static_cast<MatrixType>(t);
            const MatrixShape shape = matrix_shape(target, type);
            if (shape.wave == 0) continue;
            const double a = operand_value(type, true, 65535), b = operand_value(type, false, 65535);
            const double scale = is_scaled(target, type) ? 4 : 1;
            const double most = a * b * scale * shape.k * kSteps + 512;
            const bool eight_bits = type == MatrixType::e4m3 || type == MatrixType::e5m2;
            const double limit = type == MatrixType::f64                                            ? 0x1p53
                                 : eight_bits && (target == Target::sm89 || target == Target::sm90) ? 0x1p13
                                                                                                    : 0x1p22;
            EXPECT_LT(most, limit) << name_of(type) << " " << static_cast<u32>(target);
        }
    }
}

TEST(Reference, LinearSum) {
    for (const u64 count : {0ull, 1ull, 2ull, 7ull, 1000ull}) {
        u64 sum = 0;
        for (u64 i = 0; i < count; ++i) sum += linear_word(5, kGolden, i);
        EXPECT_EQ(linear_sum(5, kGolden, count), sum);
    }
}

}  // namespace
}  // namespace gpucheck::kernels
