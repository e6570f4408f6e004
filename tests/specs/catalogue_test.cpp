// The catalogue of codes is read whole.
#include "checks/specs/catalogue.h"
#include "checks/specs/events.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "checks/specs/data_file.h"
#include "tests/source_dir.h"

namespace gpucheck {
namespace {

TEST(Catalogue, NoRowOfTheFileIsLeftOut) {
    std::ifstream file(std::string(GPUCHECK_SOURCE_DIR) + "/checks/catalogue.json");
    std::stringstream buffer;
    buffer << file.rdbuf();
    const auto parsed = parse_data(buffer.str());
    ASSERT_TRUE(std::holds_alternative<Json>(parsed)) << std::get<std::string>(parsed);
    const Json& codes = std::get<Json>(parsed)["codes"];
    ASSERT_TRUE(codes.is_array());
    EXPECT_EQ(catalogue().size(),
              codes.size() + event_book().rows.size());  // what log lines mean has files of its own
    for (const Json& row : codes)
        EXPECT_NE(catalogue_row(row["code"].get<std::string>()), nullptr) << row["code"];
}

TEST(Catalogue, RowsAreSortedUniqueAndComplete) {
    std::set<std::string> codes;
    for (const CatalogueRow& row : catalogue()) {
        EXPECT_TRUE(codes.empty() || row.code > *codes.rbegin()) << row.code;
        EXPECT_TRUE(codes.insert(row.code).second) << row.code;
        EXPECT_FALSE(row.title.empty()) << row.code;
        EXPECT_FALSE(row.cause.empty()) << row.code;
        EXPECT_FALSE(row.remedy.empty()) << row.code;
        EXPECT_TRUE(row.severity == Verdict::warn || row.severity == Verdict::fail ||
                    row.severity == Verdict::unknown ||
                    row.action == Action::none)  // log lines that need nothing
            << row.code;
        // Read alone it is the same.
        const CatalogueRow* alone = catalogue_row(row.code);
        ASSERT_NE(alone, nullptr) << row.code;
        EXPECT_EQ(std::tie(alone->code, alone->title, alone->severity, alone->scope, alone->action,
                           alone->cause, alone->remedy, alone->references),
                  std::tie(row.code, row.title, row.severity, row.scope, row.action, row.cause, row.remedy,
                           row.references));
    }
    EXPECT_GE(codes.size(), 3U);
}

TEST(Catalogue, UnknownCodesHaveNoRow) {
    EXPECT_EQ(catalogue_row(""), nullptr);
    EXPECT_EQ(catalogue_row("clock"), nullptr);
    EXPECT_EQ(catalogue_row("clock.wronger"), nullptr);
    EXPECT_EQ(catalogue_row("zzz.zzz"), nullptr);
}

}  // namespace
}  // namespace gpucheck
