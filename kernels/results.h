// What the kernels are asked and what they report: plain structs that device and host read alike, so that a
// wrong word's address, lane and compute unit reach the report as the device saw them.
#pragma once

#include <cstddef>

#include "kernels/device_language.h"

namespace gpucheck::kernels {

/// Every matrix data type of the architectures we know. The values are permanent: they appear in records.
enum class MatrixType : u32 { f64, tf32, f16, bf16, e4m3, e5m2, i8, e2m3, e3m2, e2m1 };
constexpr u32 kMatrixTypes = 10;

enum class Experiment : u32 { memory_stream = 1, memory_pattern = 2, matrix = 3, gemm = 4 };

/// Ids of compute units (AMD, 12 bits) and multiprocessors (NVIDIA) are below this; a larger one is counted
/// apart.
constexpr u32 kUnits = 4096;
constexpr u32 kRecords = 64;
constexpr u32 kAddressBits = 48;

/// One wrong value. `index` is a byte offset in memory experiments; in matrix it is row * columns + column,
/// in gemm row << 32 | column, and `block` the tile.
struct Mismatch {
    u64 index, expected, got, difference;
    u32 experiment, kind;            // kind: MatrixType or Pattern
    u32 block, wave, lane, element;  // element: the accumulator register in matrix
    u32 unit, round, chain, reserved;
};
static_assert(sizeof(Mismatch) == 72 && offsetof(Mismatch, unit) == 56);

/// What one compute unit did, and how often it was wrong.
struct UnitCount {
    u32 done, wrong;
};

/// Zeroed by the host before a launch. `checked` is counted by the threads that looked, so that a launch that
/// did nothing cannot look like one that found nothing.
struct CheckResult {
    u64 checked;                             // words or elements compared
    u64 wrong;                               // all mismatches, also those without a record
    u64 checksum;                            // of memory_read
    u64 any_difference;                      // OR of expected ^ got
    u64 first_index;                         // smallest index with a mismatch; the host sets it to all ones
    u64 wrong_by_address_bit[kAddressBits];  // mismatches whose byte offset has this bit set
    u32 records_wanted;  // how often a record was attempted; min(this, kRecords) are stored
    u32 moved;           // waves whose unit changed while they ran: their counts blame no unit
    u32 outside_units;   // waves with a unit id of kUnits or more
    u32 reserved;
    Mismatch records[kRecords];
    UnitCount units[kUnits];
};
static_assert(sizeof(CheckResult) == 40 + 8 * kAddressBits + 16 + 72 * kRecords + 8 * kUnits);
static_assert(offsetof(CheckResult, records) == 440);

enum class Pattern : u32 { own_address, inverse_address, random, inverse_random, walking_one, walking_zero };
constexpr u32 kPatterns = 6;

enum class MatrixFault : u32 { none, operand, accumulator };

/// For `--inject`: flips bits of one register of one lane, to prove on real hardware that the check can fail.
struct MatrixInjection {
    MatrixFault kind;
    u32 block, wave, lane, round, chain, element;  // element: operand word or accumulator register
    u32 reserved;
    u64 flip;  // an operand word takes the low 32 bits
};
static_assert(sizeof(MatrixInjection) == 40);

struct MatrixParameters {
    u64 seed;
    u32 rounds;      // new operands each round
    u32 iterations;  // each adds and takes away every product once; 0 runs each product only once
    u64* output;  // null, or rounds * waves * chains tiles of m * n values (u32, or u64 for f64), row by row
    MatrixInjection inject;
};
static_assert(sizeof(MatrixParameters) == 64);

}  // namespace gpucheck::kernels
