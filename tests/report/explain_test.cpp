// explain: every code of the catalogue has an answer, and a slip of the finger still leads to it.
#include "agent/report/explain.h"

#include <gtest/gtest.h>

#include <sstream>

#include "agent/report/escape.h"
#include "checks/json/json.h"
#include "checks/specs/catalogue.h"
#include "tests/report/samples.h"

namespace gpucheck::report {
namespace {

const std::vector<Check>& checks() {
    static const std::vector<Check> list{
        kCountCheck, kLinkCheck, kTelemetryCheck,
        Check{.id = "clock", .title = "System clock", .required_from = Profile::acceptance}};
    return list;
}

TEST(Explain, EveryCodeHasAnAnswerThatFits) {
    ASSERT_FALSE(catalogue().empty());
    for (const CatalogueRow& row : catalogue()) {
        const Explanation explanation = render_explain(row.code, checks(), {.width = 80});
        EXPECT_TRUE(explanation.found);
        EXPECT_TRUE(explanation.text.starts_with(row.code + "\n"));
        EXPECT_TRUE(has(explanation.text, "remedy")) << row.code;
        std::istringstream stream(explanation.text);
        for (std::string text; std::getline(stream, text);) {
            // A word without a blank, such as an address, is not broken.
            EXPECT_TRUE(columns(text) <= 80 || text.find(' ', 12) == std::string::npos) << text;
        }
    }
}

TEST(Explain, ACheckTellsWhatItLooksAt) {
    const Explanation explanation = render_explain("clock", checks());
    EXPECT_TRUE(explanation.found);
    EXPECT_TRUE(has(explanation.text, "System clock"));
    EXPECT_TRUE(has(explanation.text, "from profile acceptance on"));
    EXPECT_TRUE(has(explanation.text, "clock.unread, clock.wrong")) << explanation.text;
}

TEST(Explain, WithoutAnArgumentAllNamesAreListed) {
    const Explanation explanation = render_explain("", checks());
    EXPECT_TRUE(explanation.found);
    for (const CatalogueRow& row : catalogue())
        EXPECT_TRUE(has(explanation.text, "  " + row.code)) << row.code;
    for (const Check& check : checks()) EXPECT_TRUE(has(explanation.text, "  " + std::string(check.id)));
    EXPECT_TRUE(has(explanation.text, "\nclock\n")) << "grouped by prefix";
}

TEST(Explain, APrefixListsItsCodes) {
    const Explanation explanation = render_explain("check", {});
    EXPECT_TRUE(explanation.found);
    EXPECT_TRUE(has(explanation.text, "check.silent"));
    EXPECT_FALSE(has(explanation.text, "clock.wrong"));
}

TEST(Explain, NearNamesForATypo) {
    const Explanation explanation = render_explain("clokc.wrong", checks());
    EXPECT_FALSE(explanation.found);
    EXPECT_TRUE(has(explanation.text, "Did you mean clock.wrong")) << explanation.text;
    EXPECT_FALSE(has(render_explain("zzzzzzzz", checks()).text, "Did you mean"));
    const std::vector<std::string_view> known{"pcie.link.narrow", "pcie.link", "gpu.count.missing", "xid.79"};
    EXPECT_EQ(near_names("pcie_link_narrow", known).front(), "pcie.link.narrow");
    EXPECT_EQ(near_names("PCIE.LINK", known).front(), "pcie.link");
    EXPECT_EQ(near_names("narrow", known), std::vector<std::string_view>{"pcie.link.narrow"});
    EXPECT_TRUE(near_names("", known).empty());
}

TEST(Explain, JsonForPrograms) {
    const auto parsed = parse_json(render_explain("clock.wrong", checks(), {.json = true}).text);
    ASSERT_TRUE(std::holds_alternative<Json>(parsed));
    const Json& json = std::get<Json>(parsed);
    ASSERT_EQ(json["codes"].size(), 1U);
    EXPECT_EQ(json["codes"][0]["action"], "fix_guest_config");
    EXPECT_TRUE(json["checks"].empty());
    const auto typo = parse_json(render_explain("clock.wrnog", checks(), {.json = true}).text);
    EXPECT_EQ(std::get<Json>(typo)["near"][0], "clock.wrong");
    EXPECT_TRUE(std::get<Json>(typo)["codes"].empty());
}

}  // namespace
}  // namespace gpucheck::report
