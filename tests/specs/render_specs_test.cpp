// What `specs` shows to people and programs.
#include <gtest/gtest.h>

#include "checks/specs/boards.h"
#include "tests/specs/specs_folder.h"

namespace gpucheck {
namespace {

std::size_t lines_in(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(RenderSpecs, TheTableHasALineForEachBoard) {
    const std::string text = render_specs_text(embedded_boards(), "");
    EXPECT_EQ(lines_in(text), embedded_boards().rows().size() + 3);  // header, blank, legend
    EXPECT_NE(text.find("mi300x "), std::string::npos);
    EXPECT_NE(text.find("7700-8000?"), std::string::npos) << "a disputed figure keeps its range and its mark";
    EXPECT_NE(text.find("Gen4 x16 or x8"), std::string::npos);
}

TEST(RenderSpecs, AKeyShowsOneRowInFull) {
    const std::string text = render_specs_text(embedded_boards(), "MI300X");
    EXPECT_EQ(text.rfind("mi300x: AMD Instinct MI300X\n", 0), 0U) << text;
    EXPECT_EQ(text.find("mi300x-hf"), std::string::npos);
    for (const char* part :
         {"1002:74b5(VF)", "fp8_tflops 2614.9", "memory_copy_gb_s 4177.28", "AMD system acceptance guide",
          "ROCm Validation Suite", "750 W", "Gen5 x16", "7 links", "up to 8"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
    }
}

TEST(RenderSpecs, FiltersByNameAndId) {
    EXPECT_EQ(render_specs_text(embedded_boards(), "10de:2330").rfind("h100-sxm-80gb:", 0), 0U);
    EXPECT_EQ(render_specs_text(embedded_boards(), "1002:74b9").rfind("mi325x:", 0), 0U);
    EXPECT_EQ(render_specs_json(embedded_boards(), "instinct")["boards"].size(), 13U);
}

TEST(RenderSpecs, NoMatchSaysSoAndHelps) {
    EXPECT_EQ(
        render_specs_text(embedded_boards(), "mi3000x").rfind("no board matches 'mi3000x'; near: mi300x", 0),
        0U);
    EXPECT_EQ(render_specs_json(embedded_boards(), "nothing like it")["boards"].size(), 0U);
}

TEST(RenderSpecs, JsonKeepsEverySource) {
    const Json json = render_specs_json(embedded_boards(), "mi300x");
    ASSERT_EQ(json["boards"].size(), 1U);
    const Json& row = json["boards"][0];
    EXPECT_EQ(row["key"], "mi300x");
    EXPECT_EQ(row["memory"]["source"], "vendor datasheet");
    for (const Json& floor : row["floors"]) EXPECT_FALSE(floor["source"].get<std::string>().empty());
    EXPECT_EQ(render_specs_json(embedded_boards(), "")["boards"].size(), embedded_boards().rows().size());
}

}  // namespace
}  // namespace gpucheck
