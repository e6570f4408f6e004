// What cannot be run is refused by name; nothing is silently not tested.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "kernels/experiments/settings.h"
#include "tests/source_dir.h"

namespace gpucheck::experiments {
namespace {

TEST(ExperimentSettings, ChoosesAndSizes) {
    Settings settings;
    EXPECT_EQ(apply("matrix.reps=4,stream.bytes=1MiB,units=2,matrix.types=bf16+f16", settings), "");
    EXPECT_EQ(settings.matrix_reps, 4U);
    EXPECT_EQ(settings.stream_bytes, 1U << 20);
    EXPECT_EQ(settings.units, 2U);
    EXPECT_EQ(settings.matrix_types, (std::vector<std::string>{"bf16", "f16"}));
    EXPECT_TRUE(settings.sized_by_hand);
    EXPECT_TRUE(settings.runs(Kind::peer));
    EXPECT_EQ(apply("matrix,pattern", settings), "");
    EXPECT_TRUE(settings.runs(Kind::matrix));
    EXPECT_TRUE(settings.runs(Kind::memory_pattern));
    EXPECT_FALSE(settings.runs(Kind::host_link));
}

TEST(ExperimentSettings, RefusesWhatItDoesNotKnow) {
    for (const char* text : {"matrx",
                             "matrix.rep=4",
                             "stream.bytes=1TB",
                             "stream.bytes=1",
                             "stream.bytes=-1",
                             "matrix.reps=",
                             "matrix.types=fp12",
                             "matrix.types=",
                             "units=0",
                             "=",
                             "a=b",
                             "stream.bytes=99999999999999999999",
                             "gemm.size=100",
                             "gemm.size=0",
                             "gemm.size=131072",
                             "gemm.depth=65",
                             "gemm.types=f64",
                             "gemm.types=",
                             "matrix.path=",
                             "matrix.path=tcgen05",
                             "stream.bytes=18014398509481984KiB"}) {
        Settings settings;
        EXPECT_NE(apply(text, settings), "") << text;
    }
}

TEST(ExperimentSettings, GemmIsPartOfAcceptanceAndSmallOnRequest) {
    EXPECT_TRUE(settings_for(Profile::acceptance).runs(Kind::gemm));
    EXPECT_FALSE(settings_for(Profile::boot).runs(Kind::gemm));
    Settings settings = settings_for(Profile::boot);
    EXPECT_EQ(apply("gemm,gemm.size=128,gemm.depth=64,gemm.types=bf16+e4m3", settings), "");
    EXPECT_TRUE(settings.runs(Kind::gemm));
    EXPECT_FALSE(settings.runs(Kind::matrix));
    EXPECT_EQ(settings.gemm_size, 128U);
    EXPECT_EQ(settings.gemm_types, (std::vector<std::string>{"bf16", "e4m3"}));
    EXPECT_TRUE(settings.sized_by_hand);
}

TEST(ExperimentSettings, MatrixMeansEveryPathUnlessOneIsNamed) {
    Settings settings;
    EXPECT_EQ(apply("matrix", settings), "");
    EXPECT_TRUE(settings.runs(Kind::matrix) && settings.runs(Kind::matrix_native));
    EXPECT_TRUE(wants_path(settings, "mma") && wants_path(settings, "wgmma"));
    EXPECT_EQ(apply("matrix.path=wgmma", settings), "");
    EXPECT_FALSE(wants_path(settings, "mma"));
    EXPECT_TRUE(wants_path(settings, "wgmma"));
    EXPECT_FALSE(settings.sized_by_hand);
}

TEST(ExperimentSettings, SizesForSimulationAreTheDocumentedOnes) {
    Settings settings = settings_for(Profile::acceptance);
    EXPECT_EQ(apply(kSimulationSizes, settings), "");
    EXPECT_EQ(settings.matrix_iterations, 1U);
    EXPECT_TRUE(settings.runs(Kind::peer));
    std::ifstream file(GPUCHECK_SOURCE_DIR "/docs/experiments.md");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::string_view sizes = kSimulationSizes;
    while (!sizes.empty()) {
        const std::string_view item = sizes.substr(0, sizes.find(','));
        EXPECT_NE(text.find(item), std::string::npos) << item;
        sizes.remove_prefix(std::min(sizes.size(), item.size() + 1));
    }
}

TEST(ExperimentSettings, Injections) {
    Injection injection;
    EXPECT_EQ(parse_injection("bit:4096", injection), "");
    EXPECT_EQ(injection.kind, Injection::Kind::bit);
    EXPECT_EQ(injection.place, 4096U);
    EXPECT_EQ(text_of(injection), "bit:4096");
    EXPECT_EQ(parse_injection("lane", injection), "");
    EXPECT_EQ(text_of(injection), "lane");
    for (const char* text : {"", "bits", "bit:", "bit:x", "skip:1", "lane:-1"})
        EXPECT_NE(parse_injection(text, injection), "") << text;
}

}  // namespace
}  // namespace gpucheck::experiments
