// What the kernels must find, computed on the host: a device's own answer is never the reference for that
// device.
#pragma once

#include <optional>
#include <vector>

#include "kernels/gemm_data.h"

namespace gpucheck::kernels {

u32 element_bits_of(MatrixType type);
const char* name_of(MatrixType type);

/// The number that the bits stand for, subnormals, infinities and NaN included; f64 and tf32 are read as IEEE
/// numbers. Tables: IEEE 754, OCP 8-bit floating point (E4M3, E5M2), OCP microscaling formats (E2M3, E3M2,
/// E2M1), and the FNUZ types of LLVM's APFloat.
double decode(MatrixType type, Fp8 fp8, u64 bits);

/// Sum modulo 2^64 of base + i * step for i = 0..count-1.
u64 linear_sum(u64 base, u64 step, u64 count);

/// The two factors of one output tile, as the integers that a launch multiplies: A is m * (kSteps * k), B is
/// n * (kSteps
/// * k), both line by line.
struct TileOperands {
    std::vector<i64> a, b;
};

struct TileAt {
    Target target;
    MatrixType type;
    u64 seed;
    u32 wave, round, chain;
};

TileOperands tile_operands(const TileAt& at);

/// The exact bits of a whole tile, row by row: a product of integer matrices.
std::vector<u64> tile_bits(const TileAt& at);

/// Number of wrong elements of a tile that a kernel wrote to MatrixParameters::output.
u64 wrong_elements(const TileAt& at, const u64* output);

/// Arithmetic operations (two for each multiply-accumulate) of one wave in one round.
u64 operations_per_round(Target target, MatrixType type, u32 iterations);

/// The data of a large product: what makes it, and what every element follows from.
struct GemmData {
    u32 key;
    GemmSums sums;
};

/// For `depth` steps of k. nullopt: so many steps would leave the range in which every order of adding is
/// exact.
std::optional<GemmData> gemm_data(MatrixType type, u64 seed, u32 depth);

}  // namespace gpucheck::kernels
