// The memory kernels on the host: clean memory passes, and any flipped bit is found at its place.
#include <random>
#include <vector>

#include "kernels/reference.h"
#include "tests/kernels/launch.h"

namespace gpucheck::kernels {
namespace {

constexpr u32 kGrid = 3, kBlock = 32;
constexpr u64 kPairs = 1021;  // no multiple of anything: the tail loops run too
constexpr u64 kSeeds = 200;

TEST(MemoryStream, CopyAndTriadAreExactAndReadHasTheClosedSum) {
    std::vector<Pair> b(kPairs), c(kPairs), to(kPairs, Pair{0xA5A5, 0xA5A5});
    launch("stream_write", kGrid, kBlock, b.data(), kPairs, u64{7}, kGolden);
    launch("stream_write", kGrid, kBlock, c.data(), kPairs, u64{11}, u64{3});
    EXPECT_EQ(b[5].y, linear_word(7, kGolden, 11));

    auto read = fresh_result();
    launch("stream_read", kGrid, kBlock, static_cast<const Pair*>(b.data()), kPairs, read.get());
    EXPECT_EQ(read->checked, 2 * kPairs);
    EXPECT_EQ(read->checksum, linear_sum(7, kGolden, 2 * kPairs));

    launch("stream_copy", kGrid, kBlock, to.data(), static_cast<const Pair*>(b.data()), kPairs);
    auto copied = fresh_result();
    launch("stream_verify", kGrid, kBlock, static_cast<const Pair*>(to.data()), kPairs, u64{7}, kGolden,
           u64{0}, copied.get());
    EXPECT_EQ(copied->checked, 2 * kPairs);
    EXPECT_EQ(copied->wrong, 0u);

    launch("stream_triad", kGrid, kBlock, to.data(), static_cast<const Pair*>(b.data()),
           static_cast<const Pair*>(c.data()), kPairs, u64{5});
    auto triad = fresh_result();
    launch("stream_verify", kGrid, kBlock, static_cast<const Pair*>(to.data()), kPairs, u64{7 + 5 * 11},
           kGolden + 15, u64{0}, triad.get());
    EXPECT_EQ(triad->checked, 2 * kPairs);
    EXPECT_EQ(triad->wrong, 0u);
}

TEST(MemoryStream, FindsEveryFlippedBitAtItsPlace) {
    std::vector<Pair> memory(kPairs);
    for (u64 seed = 0; seed < kSeeds; ++seed) {
        std::mt19937_64 random(seed);
        launch("stream_write", kGrid, kBlock, memory.data(), kPairs, seed, kGolden);
        const u64 word = random() % (2 * kPairs), flip = 1ull << (random() % 64);
        u64& spoilt = word % 2 == 0 ? memory[word / 2].x : memory[word / 2].y;
        spoilt ^= flip;
        auto read = fresh_result();
        launch("stream_read", kGrid, kBlock, static_cast<const Pair*>(memory.data()), kPairs, read.get());
        EXPECT_NE(read->checksum, linear_sum(seed, kGolden, 2 * kPairs));
        auto result = fresh_result();
        launch("stream_verify", kGrid, kBlock, static_cast<const Pair*>(memory.data()), kPairs, seed, kGolden,
               u64{4096}, result.get());
        ASSERT_EQ(result->wrong, 1u);
        EXPECT_EQ(result->records[0].index, 4096 + word * 8);
        EXPECT_EQ(result->records[0].difference, flip);
        EXPECT_EQ(result->first_index, 4096 + word * 8);
    }
}

TEST(MemoryPattern, CleanMemoryPassesWithEveryPatternAndSeed) {
    std::vector<Pair> memory(kPairs);
    for (u64 seed = 0; seed < kSeeds; ++seed) {
        const u32 pattern = static_cast<u32>(seed % kPatterns);
        launch("pattern_fill", kGrid, kBlock, memory.data(), kPairs, u64{1000}, pattern, seed);
        auto result = fresh_result();
        launch("pattern_check", kGrid, kBlock, static_cast<const Pair*>(memory.data()), kPairs, u64{1000},
               pattern, seed, result.get());
        ASSERT_EQ(result->wrong, 0u) << pattern;
        ASSERT_EQ(result->checked, 2 * kPairs);
        ASSERT_GT(result->units[0].done, 0u);
        ASSERT_GT(result->units[1].done, 0u);
    }
}

TEST(MemoryPattern, FindsEveryFlippedBitWithItsUnitAndAddressBits) {
    std::vector<Pair> memory(kPairs);
    for (u64 seed = 0; seed < kSeeds; ++seed) {
        std::mt19937_64 random(seed);
        const u32 pattern = static_cast<u32>(seed % kPatterns);
        launch("pattern_fill", kGrid, kBlock, memory.data(), kPairs, u64{0}, pattern, seed);
        const u64 word = random() % (2 * kPairs), flip = 1ull << (random() % 64), offset = word * 8;
        u64& spoilt = word % 2 == 0 ? memory[word / 2].x : memory[word / 2].y;
        const u64 expected = spoilt;
        spoilt ^= flip;
        auto result = fresh_result();
        launch("pattern_check", kGrid, kBlock, static_cast<const Pair*>(memory.data()), kPairs, u64{0},
               pattern, seed, result.get());
        ASSERT_EQ(result->wrong, 1u);
        ASSERT_EQ(result->records_wanted, 1u);
        const Mismatch& found = result->records[0];
        EXPECT_EQ(found.index, offset);
        EXPECT_EQ(found.expected, expected);
        EXPECT_EQ(found.got, expected ^ flip);
        EXPECT_EQ(found.kind, pattern);
        EXPECT_EQ(found.unit, found.block % 2);
        EXPECT_EQ(result->any_difference, flip);
        EXPECT_EQ(result->units[found.unit].wrong, 1u);
        for (u32 bit = 3; bit < kAddressBits; ++bit) {
            EXPECT_EQ(result->wrong_by_address_bit[bit], offset >> bit & 1) << bit;
        }
    }
}

TEST(MemoryPattern, CrossedAddressLinesAreCounted) {
    std::vector<Pair> memory(1024);
    launch("pattern_fill", kGrid, kBlock, memory.data(), u64{1024}, u64{0}, u32{0}, u64{0});
    for (u64 i = 0; i < 1024; ++i) memory[i] = memory[i & ~u64{64}];  // address bit 10 stuck at zero
    auto result = fresh_result();
    launch("pattern_check", kGrid, kBlock, static_cast<const Pair*>(memory.data()), u64{1024}, u64{0}, u32{0},
           u64{0}, result.get());
    EXPECT_EQ(result->wrong, 1024u);
    EXPECT_EQ(result->wrong_by_address_bit[10], 1024u);
    EXPECT_EQ(result->wrong_by_address_bit[9], 512u);
    EXPECT_EQ(result->any_difference, 1024u);
    EXPECT_EQ(result->records_wanted, 1024u);  // more than are kept, and all are counted
    EXPECT_EQ(result->records[kRecords - 1].difference, 1024u);
}

}  // namespace
}  // namespace gpucheck::kernels
