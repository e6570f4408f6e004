// Fragment layouts: each is a bijection onto its matrix, and single places are those that the vendors'
// documents show.
#include <gtest/gtest.h>

#include <set>

#include "kernels/matrix_layouts.h"

namespace gpucheck::kernels {
namespace {

template <class PlaceOf>
std::size_t distinct(u32 lanes, u32 elements, u32 lines, u32 others, PlaceOf place_of) {
    std::set<std::pair<u32, u32>> places;
    for (u32 lane = 0; lane < lanes; ++lane) {
        for (u32 e = 0; e < elements; ++e) {
            const Place at = place_of(lane, e);
            EXPECT_LT(at.line, lines);
            EXPECT_LT(at.other, others);
            places.insert({at.line, at.other});
        }
    }
    return places.size();
}

TEST(Layouts, EachElementIsHeldOnce) {
    for (const Target target : {Target::gfx90a, Target::gfx942, Target::gfx950, Target::sm80, Target::sm89,
                                Target::sm90, Target::sm120}) {
        for (u32 t = 0; t < kMatrixTypes; ++t) {
            const auto type = static_cast<MatrixType>(t);
            const MatrixShape s = matrix_shape(target, type);
            if (s.wave == 0) continue;
            EXPECT_EQ(distinct(s.wave, s.a_elements, s.m, s.k,
                               [&](u32 l, u32 e) { return place_a(target, type, l, e); }),
                      s.m * s.k);
            EXPECT_EQ(distinct(s.wave, s.b_elements, s.n, s.k,
                               [&](u32 l, u32 e) { return place_b(target, type, l, e); }),
                      s.n * s.k);
            EXPECT_EQ(distinct(s.wave, s.d_elements, s.m, s.n,
                               [&](u32 l, u32 e) { return place_d(target, type, l, e); }),
                      s.m * s.n);
        }
    }
}

void expect_place(Place got, u32 line, u32 other) {
    EXPECT_EQ(got.line, line);
    EXPECT_EQ(got.other, other);
}

TEST(Layouts, AmdPlaces) {
    // v_mfma_f32_32x32x8: lane 40 is row 8 of the upper half; register 5 is row 4 + 8 + 1.
    expect_place(place_a(Target::gfx942, MatrixType::bf16, 40, 1), 8, 5);
    expect_place(place_d(Target::gfx942, MatrixType::bf16, 40, 5), 13, 8);
    // v_mfma_f64_16x16x4: rows step by four with the register.
    expect_place(place_d(Target::gfx90a, MatrixType::f64, 17, 2), 9, 1);
    // 8-bit operands of the scaled instruction come in two halves of 16.
    expect_place(place_a(Target::gfx950, MatrixType::e4m3, 33, 17), 1, 49);
    expect_place(place_a(Target::gfx950, MatrixType::e2m1, 33, 17), 1, 49);
    expect_place(place_a(Target::gfx950, MatrixType::e4m3, 33, 3), 1, 19);
    expect_place(place_a(Target::gfx950, MatrixType::e2m1, 33, 3), 1, 35);
}

TEST(Layouts, NvidiaPlaces) {
    // PTX ISA, fragments of m16n8k16: lane 5 is group 1, thread 1 in the group.
    expect_place(place_a(Target::sm80, MatrixType::bf16, 5, 2), 9, 2);
    expect_place(place_a(Target::sm80, MatrixType::bf16, 5, 5), 1, 11);
    expect_place(place_b(Target::sm80, MatrixType::bf16, 5, 3), 1, 11);
    expect_place(place_d(Target::sm80, MatrixType::bf16, 5, 3), 9, 3);
    expect_place(place_a(Target::sm80, MatrixType::i8, 5, 13), 9, 21);
    expect_place(place_b(Target::sm80, MatrixType::i8, 5, 6), 1, 22);
    // m16n8k8 tf32: a1 is eight rows down, a2 four columns on; b1 four rows on.
    expect_place(place_a(Target::sm80, MatrixType::tf32, 5, 1), 9, 1);
    expect_place(place_a(Target::sm80, MatrixType::tf32, 5, 2), 1, 5);
    expect_place(place_b(Target::sm80, MatrixType::tf32, 5, 1), 1, 5);
    expect_place(place_d(Target::sm80, MatrixType::f64, 5, 1), 1, 3);
}

TEST(Layouts, WarpgroupPlaces) {
    // Thread 69 is lane 5 of warp 2: row 32 + 1, and 8 further down; CUTLASS's CLayout_64x128 and
    // ALayout_64x*.
    expect_place(place_d(Target::sm90, MatrixType::bf16, 69, 0), 33, 2);
    expect_place(place_d(Target::sm90, MatrixType::bf16, 69, 3), 41, 3);
    expect_place(place_d(Target::sm90, MatrixType::i8, 69, 63), 41, 123);
    expect_place(place_a(Target::sm90, MatrixType::bf16, 69, 6), 41, 10);
    expect_place(place_a(Target::sm90, MatrixType::e4m3, 69, 13), 41, 21);
    expect_place(place_a(Target::sm90, MatrixType::tf32, 69, 3), 41, 5);
}

/// PTX ISA: bits 13-0 the address, 29-16 the leading and 45-32 the stride dimension's offset, each over 16.
TEST(Layouts, DescriptorSaysWhereTheTileLies) {
    const u64 descriptor = tile_descriptor(0x12340);
    EXPECT_EQ(descriptor & 0x3FFF, 0x1234U);
    EXPECT_EQ(descriptor >> 16 & 0x3FFF, 128U / 16);
    EXPECT_EQ(descriptor >> 32 & 0x3FFF, 256U / 16);
    EXPECT_EQ(descriptor >> 46, 0U);
    std::set<u32> words;
    for (u32 line = 0; line < kTileColumns; ++line) {
        for (u32 word = 0; word < 8; ++word) words.insert(tile_word(line, word));
    }
    EXPECT_EQ(words.size(), kTileWords);
    EXPECT_EQ(*words.rbegin(), kTileWords - 1);
    EXPECT_EQ(tile_word(9, 5), (256 + 16 + 128 + 4) / 4U);
}

}  // namespace
}  // namespace gpucheck::kernels
