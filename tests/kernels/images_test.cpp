// The embedded images: whatever is there is of its kind, and whatever is not says what would be needed.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/images.h"

namespace gpucheck::kernels {
namespace {

bool built(Vendor vendor, std::string_view architecture, std::string_view source) {
    const auto rows = all_images();
    return std::any_of(rows.begin(), rows.end(), [&](const ImageRow& row) {
        return row.vendor == vendor && row.architecture == architecture && row.kernel_source == source &&
               !row.packed.empty();
    });
}

TEST(Images, EachIsThereOrSaysWhyNot) {
    std::size_t total = 0;
    for (const ImageRow& row : all_images()) {
        const Fact<Image> image = find_image(row.vendor, row.architecture, row.kernel_source);
        if (row.packed.empty()) {
            EXPECT_NE(row.obstacle, "");
            continue;
        }
        total += row.packed.size();
        if (row.architecture.starts_with("compute_")) continue;  // asked for by compute capability
        ASSERT_TRUE(image.known()) << image.why();
        EXPECT_EQ(image->bytes.substr(0, 4),
                  "\x7F"
                  "ELF")
            << row.architecture;
        printf("%-15s %-16s %7zu bytes, %6zu embedded\n", std::string(row.kernel_source).c_str(),
               std::string(row.architecture).c_str(), image->bytes.size(), row.packed.size());
    }
    printf("all images: %zu bytes embedded\n", total);
    EXPECT_LT(total, std::size_t{4} << 20);
}

TEST(Images, AnUnlistedArchitectureSaysWhatWouldBeNeeded) {
    for (const std::string_view architecture : {"gfx1030", "gfx906", "", "gfx", "sm_90", "gfx942x"}) {
        const Fact<Image> image = find_image(Vendor::amd, architecture, "matrix");
        ASSERT_FALSE(image.known()) << architecture;
        if (architecture != "gfx942x") {
            EXPECT_NE(image.why().find("gfx942"), std::string::npos) << image.why();
        }
    }
    for (const std::string_view architecture :
         {"sm_75", "sm_", "sm_9999", "sm_-90", "sm_90aa", "gfx942", ""}) {
        const Fact<Image> image = find_image(Vendor::nvidia, architecture, "matrix");
        ASSERT_FALSE(image.known()) << architecture;
        EXPECT_NE(image.why(), "");
    }
    EXPECT_FALSE(find_image(Vendor::nvidia, "sm_90", "no_such_kernel").known());
}

TEST(Images, FeaturesAndSiblingsFindTheirImage) {
    if (!built(Vendor::amd, "gfx9-4-generic", "launch") || !built(Vendor::amd, "gfx942", "matrix")) {
        GTEST_SKIP() << find_image(Vendor::amd, "gfx942", "launch").why();
    }
    EXPECT_EQ(find_image(Vendor::amd, "gfx942:sramecc+:xnack-", "matrix")->architecture, "gfx942");
    EXPECT_EQ(find_image(Vendor::amd, "gfx942:sramecc+:xnack-", "matrix")->target, Target::gfx942);
    EXPECT_EQ(find_image(Vendor::amd, "gfx955", "launch")->architecture, "gfx9-4-generic");
    EXPECT_FALSE(find_image(Vendor::amd, "gfx955", "matrix").known());
}

/// gfx943 is nobody's yet: LLVM's generic target is what a sibling of gfx942 may load.
TEST(Images, AnUnlistedSiblingGetsTheGenericImageOfVectorKernels) {
    if (!built(Vendor::amd, "gfx9-4-generic", "launch")) {
        GTEST_SKIP() << find_image(Vendor::amd, "gfx9-4-generic", "launch").why();
    }
    for (const char* source : {"launch", "memory_stream", "memory_pattern"}) {
        const Fact<Image> image = find_image(Vendor::amd, "gfx943:sramecc+:xnack-", source);
        ASSERT_TRUE(image.known()) << image.why();
        EXPECT_EQ(image->architecture, "gfx9-4-generic");
    }
    // Its matrix instructions are not known: nothing is run by guess.
    EXPECT_FALSE(find_image(Vendor::amd, "gfx943", "matrix").known());
    EXPECT_FALSE(find_image(Vendor::amd, "gfx943", "gemm").known());
}

/// What only one architecture can run is offered to no other, not even to its next minor version.
TEST(Images, NativeKernelsAreForTheirArchitectureAlone) {
    for (const char* other : {"sm_80", "sm_89", "sm_91", "sm_100", "sm_103", "sm_121", "sm_130"})
        EXPECT_FALSE(find_image(Vendor::nvidia, other, "matrix_native").known()) << other;
    EXPECT_FALSE(find_image(Vendor::amd, "gfx942", "matrix_native").known());
    EXPECT_EQ(native_target("sm_90"), Target::sm90);
    EXPECT_EQ(native_target("sm_120"), Target::sm120);
    EXPECT_EQ(native_target("sm_100"), Target::none);
    EXPECT_EQ(native_target("gfx942"), Target::none);
    if (!built(Vendor::nvidia, "sm_90a", "matrix_native"))
        GTEST_SKIP() << find_image(Vendor::nvidia, "sm_90", "matrix_native").why();
    const Fact<Image> hopper = find_image(Vendor::nvidia, "sm_90", "matrix_native");
    ASSERT_TRUE(hopper.known()) << hopper.why();
    EXPECT_EQ(hopper->architecture, "sm_90a");
    EXPECT_EQ(hopper->target, Target::sm90);
    EXPECT_EQ(find_image(Vendor::nvidia, "sm_120", "matrix_native")->target, Target::sm120);
}

TEST(Images, NewerNvidiaArchitecturesFallBackToPtx) {
    if (!built(Vendor::nvidia, "compute_89", "matrix") || !built(Vendor::nvidia, "sm_120", "matrix")) {
        GTEST_SKIP() << find_image(Vendor::nvidia, "sm_90", "matrix").why();
    }
    EXPECT_EQ(find_image(Vendor::nvidia, "sm_86", "matrix")->architecture, "sm_80");
    EXPECT_EQ(find_image(Vendor::nvidia, "sm_86", "matrix")->target, Target::sm80);
    EXPECT_EQ(find_image(Vendor::nvidia, "sm_89", "matrix")->architecture, "sm_89");
    EXPECT_EQ(find_image(Vendor::nvidia, "sm_90a", "matrix")->architecture, "sm_90");
    EXPECT_EQ(find_image(Vendor::nvidia, "sm_103", "matrix")->architecture, "sm_100");
    const Fact<Image> future = find_image(Vendor::nvidia, "sm_130", "matrix");
    ASSERT_TRUE(future.known());
    EXPECT_EQ(future->architecture, "compute_89");
    EXPECT_TRUE(future->compiled_on_arrival);
    EXPECT_NE(future->bytes.find(".target sm_89"), std::string::npos);
    EXPECT_EQ(future->target, Target::sm89);
    EXPECT_EQ(find_image(Vendor::nvidia, "sm_130", "gemm")->architecture, "compute_89");
    EXPECT_EQ(find_image(Vendor::nvidia, "sm_86", "gemm")->target, Target::sm80);
}

}  // namespace
}  // namespace gpucheck::kernels
