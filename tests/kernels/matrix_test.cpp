// The matrix kernels of every architecture on the host: clean units agree with integer arithmetic and with
// the host's reference; any spoilt operand, product or result is found and placed.
#include <random>
#include <string>
#include <vector>

#include "kernels/matrix_layouts.h"
#include "kernels/reference.h"
#include "tests/kernels/launch.h"

namespace gpucheck::kernels {
namespace {

constexpr Target kTargets[] = {Target::gfx90a, Target::gfx942, Target::gfx950, Target::sm80,
                               Target::sm89,   Target::sm90,   Target::sm120};

struct Kind {
    Target target;
    MatrixType type;
};

std::vector<Kind> all_kinds() {
    std::vector<Kind> kinds;
    for (const Target target : kTargets) {
        for (u32 t = 0; t < kMatrixTypes; ++t) {
            if (matrix_shape(target, static_cast<MatrixType>(t)).wave != 0)
                kinds.push_back({target, static_cast<MatrixType>(t)});
        }
    }
    return kinds;
}

std::string kernel_of(Kind kind) {
    const char* prefix = kind.target == Target::sm90    ? "wgmma_"
                         : kind.target == Target::sm120 ? "f8f6f4_"
                                                        : "matrix_";
    return std::string(prefix) + name_of(kind.type);
}

/// Two waves of AMD's size would be 128 threads; a warpgroup is.
u32 block_of(Kind kind) {
    return std::max(64U, matrix_shape(kind.target, kind.type).wave);
}

std::unique_ptr<CheckResult> run(Kind kind, const MatrixParameters& asked, u32 grid = 1, u32 block = 0,
                                 const HostMachine& machine = {}) {
    auto result = fresh_result();
    launch_on(machine, kind.target, kernel_of(kind).c_str(), grid, block != 0 ? block : block_of(kind),
              &asked, result.get());
    return result;
}

MatrixParameters parameters(u64 seed, u32 rounds = 1, u32 iterations = 0) {
    MatrixParameters asked{};
    asked.seed = seed;
    asked.rounds = rounds;
    asked.iterations = iterations;
    return asked;
}

u64 elements_of(Kind kind, u32 waves, u32 rounds) {
    const MatrixShape shape = matrix_shape(kind.target, kind.type);
    return u64{shape.m} * shape.n * shape.a_parts * shape.b_parts * waves * rounds;
}

TEST(Matrix, TheTableAndTheKernelsNameTheSameTypes) {
    std::size_t kernels = 0;
    for (const Target target : kTargets) {
        kernels += host_matrix_kernels(target).size();
    }
    EXPECT_EQ(kernels, all_kinds().size());
    for (const Kind kind : all_kinds()) {
        EXPECT_NE(find_host_kernel(kind.target, kernel_of(kind)), nullptr);
    }
}

TEST(Matrix, CleanUnitsAgreeForTwoHundredSeeds) {
    const std::vector<Kind> kinds = all_kinds();
    for (u64 seed = 0; seed < 200; ++seed) {
        const Kind kind = kinds[seed % kinds.size()];
        const auto result = run(kind, parameters(seed));
        ASSERT_EQ(result->wrong, 0u) << name_of(kind.type) << " seed " << seed;
        ASSERT_EQ(result->checked,
                  elements_of(kind, block_of(kind) / matrix_shape(kind.target, kind.type).wave, 1));
    }
}

TEST(Matrix, EveryTileAgreesWithTheHostsReference) {
    for (const Kind kind : all_kinds()) {
        const MatrixShape shape = matrix_shape(kind.target, kind.type);
        const u32 waves = 2 * block_of(kind) / shape.wave, chains = shape.a_parts * shape.b_parts, rounds = 2;
        std::vector<u64> output(elements_of(kind, waves, rounds), 0xA5A5A5A5A5A5A5A5);
        MatrixParameters asked = parameters(42, rounds, 1);
        asked.output = output.data();
        const auto result = run(kind, asked, 2);
        EXPECT_EQ(result->wrong, 0u);
        EXPECT_EQ(result->checked, output.size());
        EXPECT_EQ(result->units[0].done, waves / 2 * rounds);
        EXPECT_EQ(result->units[1].done, waves / 2 * rounds);
        for (u32 tile = 0; tile < waves * chains * rounds; ++tile) {
            const TileAt at{kind.target,           kind.type,    42, tile / chains % waves,
                            tile / chains / waves, tile % chains};
            ASSERT_EQ(wrong_elements(at, output.data() + std::size_t{tile} * shape.m * shape.n), 0u)
                << name_of(kind.type) << " tile " << tile;
        }
        output[7] ^= 1;
        EXPECT_EQ(wrong_elements({kind.target, kind.type, 42, 0, 0, 0}, output.data()), 1u);
    }
}

TEST(Matrix, FindsAFlippedResultBitAtItsRegister) {
    const std::vector<Kind> kinds = all_kinds();
    for (u64 seed = 0; seed < 200; ++seed) {
        std::mt19937_64 random(seed);
        const Kind kind = kinds[seed % kinds.size()];
        const MatrixShape shape = matrix_shape(kind.target, kind.type);
        MatrixParameters asked = parameters(seed);
        const u32 bits = kind.type == MatrixType::f64 ? 64 : 32;
        asked.inject = {MatrixFault::accumulator,
                        static_cast<u32>(random() % 2),
                        0,
                        static_cast<u32>(random() % shape.wave),
                        0,
                        static_cast<u32>(random() % (shape.a_parts * shape.b_parts)),
                        static_cast<u32>(random() % shape.d_elements),
                        0,
                        1ull << (random() % bits)};
        const auto result = run(kind, asked, 2);
        ASSERT_EQ(result->wrong, 1u) << name_of(kind.type) << " seed " << seed;
        const Mismatch& found = result->records[0];
        EXPECT_EQ(found.block, asked.inject.block);
        EXPECT_EQ(found.lane, asked.inject.lane);
        EXPECT_EQ(found.element, asked.inject.element);
        EXPECT_EQ(found.chain, asked.inject.chain);
        EXPECT_EQ(found.difference, asked.inject.flip);
        EXPECT_EQ(found.unit, asked.inject.block);
        EXPECT_EQ(result->units[found.unit].wrong, 1u);
        EXPECT_EQ(result->units[1 - found.unit].wrong, 0u);
    }
}

TEST(Matrix, FindsAFlippedOperandInItsRow) {
    const std::vector<Kind> kinds = all_kinds();
    for (u64 seed = 0; seed < 200; ++seed) {
        std::mt19937_64 random(seed);
        const Kind kind = kinds[seed % kinds.size()];
        const MatrixShape shape = matrix_shape(kind.target, kind.type);
        const std::vector<i64> a = tile_operands({kind.target, kind.type, seed, 0, 0, 0}).a;
        u32 lane = 0, e = 0;
        Place at{};
        do {  // the sign of an operand that is not zero
            lane = static_cast<u32>(random() % shape.wave), e = static_cast<u32>(random() % shape.a_elements);
            at = place_a(kind.target, kind.type, lane, e);
        } while (a[at.line * kSteps * shape.k + at.other] == 0);
        const Storage storage = storage_of(kind.target, kind.type);
        const u32 sign = e * storage.bits + storage.shift + element_bits_of(kind.type) - 1;
        MatrixParameters asked = parameters(seed);
        asked.inject = {MatrixFault::operand, 0, 0, lane, 0, 0, sign / 32, 0, 1ull << (sign % 32)};
        if (kind.type == MatrixType::i8)
            asked.inject.flip = 1ull << (sign % 32 - 7);  // the lowest bit changes any integer
        const auto result = run(kind, asked, 1, shape.wave);
        ASSERT_GT(result->wrong, 0u) << name_of(kind.type) << " seed " << seed;
        for (u32 i = 0; i < result->records_wanted && i < kRecords; ++i) {
            EXPECT_EQ(result->records[i].index / shape.n, at.line);
            EXPECT_LT(result->records[i].chain, shape.b_parts);  // the first part of A
        }
    }
}

TEST(Matrix, FindsAUnitThatMultipliesWrongly) {
    const std::vector<Kind> kinds = all_kinds();
    for (u64 seed = 0; seed < 200; ++seed) {
        std::mt19937_64 random(seed);
        const Kind kind = kinds[seed % kinds.size()];
        const MatrixShape shape = matrix_shape(kind.target, kind.type);
        const u32 bad_unit = static_cast<u32>(random() % 3), lane = static_cast<u32>(random() % shape.wave);
        const u32 element = static_cast<u32>(random() % shape.d_elements);
        // Of a float an exponent bit that no result has; of an integer the sign, which half of them have.
        const bool integers = kind.type == MatrixType::i8;
        const u32 rounds = !integers ? 1 : shape.a_parts * shape.b_parts < 4 ? 4 : 2;
        const u32 stuck = kind.type == MatrixType::f64 ? 61 : integers ? 31 : 29;
        HostMachine machine{
            3, [&](HostProduct& product) {
                if (product.unit == bad_unit && product.lane == lane && product.element == element)
                    product.bits |= 1ull << stuck;  // at one
            }};
        const auto result = run(kind, parameters(seed, rounds), 3, 0, machine);
        ASSERT_GT(result->wrong, 0u) << name_of(kind.type) << " seed " << seed;
        EXPECT_GT(result->units[bad_unit].wrong, 0u);
        EXPECT_EQ(result->units[(bad_unit + 1) % 3].wrong + result->units[(bad_unit + 2) % 3].wrong, 0u);
        EXPECT_EQ(result->records[0].lane, lane);
        EXPECT_EQ(result->records[0].element, element);
    }
}

TEST(Matrix, NanIsWrong) {
    for (const Kind kind : all_kinds()) {
        if (kind.type == MatrixType::i8) continue;
        const u64 nan = kind.type == MatrixType::f64 ? 0x7FF8000000000000 : 0x7FC00000;
        HostMachine machine{2, [&](HostProduct& product) { product.bits = nan; }};
        const auto result = run(kind, parameters(1), 1, 0, machine);
        EXPECT_EQ(result->wrong, result->checked) << name_of(kind.type);
        EXPECT_EQ(result->records_wanted, result->checked);
    }
}

TEST(Matrix, AnInstructionThatDoesNothingDoesNotPass) {
    for (const Kind kind : all_kinds()) {
        const MatrixShape shape = matrix_shape(kind.target, kind.type);
        HostMachine machine{
            1, [&](HostProduct& product) {  // gives back the start value
                const Place at = place_d(kind.target, kind.type, product.lane, product.element);
                const i32 start = start_value(fragment_key(1, 0, 0, 0, 2, 0), at.line, at.other);
                product.bits = kind.type == MatrixType::i8    ? static_cast<u32>(start)
                               : kind.type == MatrixType::f64 ? encode_integer({64, 52, 1023}, start)
                                                              : encode_integer({32, 23, 127}, start);
            }};
        const auto result = run(kind, parameters(1), 1, shape.wave, machine);
        EXPECT_GT(result->wrong, result->checked / 2) << name_of(kind.type);
    }
}

}  // namespace
}  // namespace gpucheck::kernels
