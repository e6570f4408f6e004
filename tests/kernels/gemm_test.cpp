// The large product on the host: what the kernel leaves in memory is the product of the factors that lie
// there, and what the closed form says; a wrong bit anywhere is found and blamed on the unit that made it.
#include <array>
#include <random>
#include <vector>

#include "kernels/reference.h"
#include "tests/kernels/launch.h"

namespace gpucheck::kernels {
namespace {

struct Kind {
    Target target;
    MatrixType type;
};
constexpr std::array kKinds{
    Kind{Target::gfx90a, MatrixType::bf16}, Kind{Target::gfx90a, MatrixType::f16},
    Kind{Target::gfx942, MatrixType::bf16}, Kind{Target::gfx942, MatrixType::f16},
    Kind{Target::gfx942, MatrixType::e4m3}, Kind{Target::gfx950, MatrixType::bf16},
    Kind{Target::gfx950, MatrixType::f16},  Kind{Target::gfx950, MatrixType::e4m3},
    Kind{Target::sm80, MatrixType::bf16},   Kind{Target::sm80, MatrixType::f16},
    Kind{Target::sm89, MatrixType::bf16},   Kind{Target::sm89, MatrixType::f16},
    Kind{Target::sm89, MatrixType::e4m3},
};

/// A small product, made step by step as the experiment does.
struct Multiplication {
    Kind kind;
    u32 size = kGemmTile, depth = 128;
    GemmData data = *gemm_data(kind.type, 7, depth);
    HostMachine machine = {};
    std::vector<Pair> a = factor(), b = factor();
    std::vector<u32> c = std::vector<u32>(std::size_t{size} * size, 0xA5A5A5A5);
    std::vector<u32> owners = std::vector<u32>(std::size_t{size} / kGemmTile * size / kGemmTile, kUnits);
    std::unique_ptr<CheckResult> result = fresh_result();

    u32 bits() const { return element_bits_of(kind.type); }
    std::vector<Pair> factor() const { return std::vector<Pair>(std::size_t{size} * depth * bits() / 128); }
    std::string name(const char* part) const { return std::string("gemm_") + part + name_of(kind.type); }
    void fill() {
        launch_on(machine, kind.target, name("fill_").c_str(), 3, 32, a.data(), size, depth, data.key, 0U);
        launch_on(machine, kind.target, name("fill_").c_str(), 3, 32, b.data(), size, depth, data.key, 1U);
    }
    void multiply() {
        const u32 tiles = size / kGemmTile;
        launch_on(machine, kind.target, name("").c_str(), tiles * tiles, gemm_threads(kind.target, kind.type),
                  static_cast<const Pair*>(a.data()), static_cast<const Pair*>(b.data()), c.data(),
                  owners.data(), size, depth * bits() / 8, result.get());
    }
    void check() {
        launch_on(machine, kind.target, "gemm_check", 3, 32, static_cast<const u32*>(c.data()),
                  static_cast<const u32*>(owners.data()), size, static_cast<u32>(kind.type), data.key,
                  data.sums, result.get());
    }
    double element(const std::vector<Pair>& factor, u32 line, u32 k) const {
        const std::size_t bit = (std::size_t{line} * depth + k) * bits();
        const Pair& pair = factor[bit / 128];
        const u64 word = bit % 128 < 64 ? pair.x : pair.y;
        return decode(kind.type, fp8_of(kind.target), word >> (bit % 64) & ((u64{1} << bits()) - 1));
    }
};

TEST(Gemm, IsTheProductOfWhatLiesInMemory) {
    for (const Kind kind : kKinds) {
        Multiplication product{kind};
        product.fill();
        product.multiply();
        for (u32 i = 0; i < product.size; i += 7) {
            for (u32 j = 0; j < product.size; j += 5) {
                double sum = 0;
                for (u32 k = 0; k < product.depth; ++k)
                    sum += product.element(product.a, i, k) * product.element(product.b, j, k);
                const auto bits = static_cast<u32>(encode_integer({32, 23, 127}, static_cast<i64>(sum)));
                ASSERT_EQ(product.c[i * product.size + j], bits)
                    << name_of(kind.type) << ' ' << static_cast<u32>(kind.target) << ' ' << i << ' ' << j;
            }
        }
        product.check();
        EXPECT_EQ(product.result->checked, product.c.size());
        EXPECT_EQ(product.result->wrong, 0U);
    }
}

/// Several tiles on several units; every element of each tile is known to be made by its unit.
TEST(Gemm, CoversAllTilesAndTheirUnits) {
    Multiplication product{{Target::sm80, MatrixType::bf16}, 3 * kGemmTile, 32};
    product.machine.units = 4;
    product.fill();
    product.multiply();
    product.check();
    EXPECT_EQ(product.result->wrong, 0U);
    EXPECT_EQ(product.result->checked, product.c.size());
    u32 tiles = 0;
    for (u32 unit = 0; unit < 4; ++unit) tiles += product.result->units[unit].done;
    EXPECT_EQ(tiles, 9U);
    for (const u32 owner : product.owners) EXPECT_LT(owner, 4U);
}

TEST(Gemm, FindsEveryFlippedBitOfTheResult) {
    Multiplication product{{Target::gfx942, MatrixType::bf16}, 2 * kGemmTile, 64};
    product.machine.units = 3;
    product.fill();
    product.multiply();
    for (u64 seed = 0; seed < 200; ++seed) {
        std::mt19937_64 random(seed);
        const auto row = static_cast<u32>(random() % product.size),
                   column = static_cast<u32>(random() % product.size);
        const u32 flip = 1U << (random() % 32);
        product.c[row * product.size + column] ^= flip;
        product.result = fresh_result();
        product.check();
        product.c[row * product.size + column] ^= flip;
        ASSERT_EQ(product.result->wrong, 1U);
        const Mismatch& found = product.result->records[0];
        EXPECT_EQ(found.index, u64{row} << 32 | column);
        EXPECT_EQ(found.difference, flip);
        EXPECT_EQ(found.unit, product.owners[row / kGemmTile * 2 + column / kGemmTile]);
        EXPECT_EQ(product.result->units[found.unit].wrong, 1U);
    }
}

TEST(Gemm, FindsAWrongOperandAndALaunchThatDoesNothing) {
    for (const Kind kind : kKinds) {
        Multiplication product{kind};
        product.fill();
        product.check();
        EXPECT_EQ(product.result->wrong, product.c.size()) << "only poison";
        product.a[5].x ^= u64{1} << (product.bits() - 2);
        product.result = fresh_result();
        product.multiply();
        product.check();
        const u64 row = 5 * 128 / product.bits() / product.depth;
        EXPECT_GT(product.result->wrong, product.size / 4) << name_of(kind.type);
        EXPECT_LE(product.result->wrong, product.size);
        EXPECT_EQ(product.result->records[0].index >> 32, row);
    }
}

/// What one matrix instruction leaves out, or does twice, changes most of what it belongs to.
TEST(Gemm, ASkippedStepShows) {
    const GemmData data = *gemm_data(MatrixType::e4m3, 3, 256);
    u32 unchanged = 0;
    for (u32 first = 0; first < 256; first += 16) {
        GemmSums part{};
        for (u32 k = first; k < first + 16; ++k) {
            const GemmPair a = gemm_step(data.key, 0, k), b = gemm_step(data.key, 1, k);
            part = {part.xx + a.x * b.x, part.xy + a.x * b.y, part.yx + a.y * b.x, part.yy + a.y * b.y};
        }
        for (u32 line = 0; line < 64; ++line)
            unchanged +=
                gemm_result(part, gemm_line(data.key, 0, line, 2), gemm_line(data.key, 1, line, 2)) == 0;
    }
    EXPECT_LT(unchanged, 16 * 64 / 4U);
}

/// Every order of adding has to be exact, also with the 14 bits that Hopper keeps of FP8 sums.
TEST(Gemm, DataStayInTheExactRangeOrAreRefused) {
    for (const MatrixType type : {MatrixType::bf16, MatrixType::f16, MatrixType::e4m3}) {
        for (const u32 depth : {64U, 4096U, 8192U, 16384U}) {
            for (u64 seed = 0; seed < 20; ++seed) {
                const auto data = gemm_data(type, seed, depth);
                ASSERT_TRUE(data) << name_of(type) << ' ' << depth;
                EXPECT_NE(data->sums.xx, 0);
            }
        }
    }
    EXPECT_FALSE(gemm_data(MatrixType::e4m3, 1, 16U << 20));
}

}  // namespace
}  // namespace gpucheck::kernels
