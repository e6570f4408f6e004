// The tutorial shows a real check: if the code moves on, so must the page.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "tests/source_dir.h"

namespace {

std::string content(const std::string& path) {
    std::ifstream file(std::string(GPUCHECK_SOURCE_DIR "/") + path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

TEST(WritingACheck, ShowsTheCheckAndItsTestAsTheyAre) {
    const std::string page = content("docs/writing-a-check.md");
    for (const char* path : {"checks/numa.cpp", "tests/checks/numa_test.cpp"}) {
        const std::string source = content(path);
        ASSERT_GT(source.size(), 500U) << path;
        EXPECT_NE(page.find("```cpp\n" + source + "```"), std::string::npos)
            << path << " differs from the page";
    }
}

}  // namespace
