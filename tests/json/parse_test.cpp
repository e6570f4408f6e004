// The bounded parser: documents made to exhaust stack, memory or time are refused at once.
#include <gtest/gtest.h>

#include <chrono>

#include "checks/json/elements.h"
#include "checks/json/json.h"
#include "checks/json/utf8.h"

namespace gpucheck {
namespace {

std::string error_of(std::string_view text) {
    const auto parsed = parse_json(text);
    const JsonError* error = std::get_if<JsonError>(&parsed);
    return error != nullptr ? error->what : "";
}

TEST(ParseJson, RefusesDepth) {
    EXPECT_EQ(error_of(std::string(100000, '[')), "nested deeper than 64 levels");
    EXPECT_EQ(error_of(R"({"a":"[[[[["})"), "");
}

TEST(ParseJson, ManyKeysDoNotTakeForEver) {
    std::string text = "{";
    for (int i = 0; i < 300000; ++i) text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":0";
    text += "}";
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(error_of(text), "too many members in its objects");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
    std::string fine = "{";
    for (int i = 0; i < 2000; ++i)
        fine += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":{\"a\":1,\"b\":[{\"c\":2}]}";
    EXPECT_EQ(error_of(fine + "}"), "");
}

TEST(Utf8, FollowsRfc3629) {
    for (const char* good : {"", "a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xef\xbf\xbf",
                             "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
        EXPECT_TRUE(is_utf8(good)) << good;
    }
    for (const char* bad :
         {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xff", "a\xf0\x9f\x98"}) {
        EXPECT_FALSE(is_utf8(bad)) << bad;
    }
    EXPECT_EQ(utf8_decode("\xe2\x82\xac", 0, 3), U'\u20ac');
    EXPECT_EQ(utf8_decode("\xf0\x9f\x98\x80", 0, 4), U'\U0001f600');
}

std::vector<std::string> pieces(std::string_view document, std::string_view name = "rows") {
    const std::vector<std::string_view> found = elements_of(document, name);
    return {found.begin(), found.end()};
}

TEST(ElementsOf, AreWhatTheParserFinds) {
    const std::string text =
        R"( {"a": [9, {"rows": [8]}], "b\"rows": "]", "rows" : [ 1 , "x,]\"", {"y": [2, "}"]}, [], true ] } )";
    EXPECT_EQ(pieces(text),
              (std::vector<std::string>{"1 ", R"("x,]\"")", R"({"y": [2, "}"]})", "[]", "true "}));
    EXPECT_EQ(pieces(text, "a"), (std::vector<std::string>{"9", R"({"rows": [8]})"}));
    EXPECT_TRUE(pieces(text, "c").empty());
    EXPECT_TRUE(pieces(R"({"rows": []})").empty());
    EXPECT_TRUE(pieces(R"({"rows": {"rows": [1]}})").empty());
}

TEST(ElementsOf, EndsOnEverythingElse) {
    const std::string whole = R"({"a": 1, "rows": [{"b": "c\\"}, [2, "d"], null]})";
    for (std::size_t length = 0; length < whole.size(); ++length) {
        for (const std::string& piece : pieces(whole.substr(0, length))) EXPECT_LE(piece.size(), length);
    }
    for (const char* text : {"", "[", "[1]", "\"", "{", "{}", "{:", "{,}", "{\"rows\"", "{\"rows\":[,]}",
                             "{\"rows\":]}", "{\"rows\":[}"})
        EXPECT_TRUE(pieces(text).empty()) << text;
    EXPECT_EQ(pieces(R"({"rows":[)" + std::string(100000, '[')).size(), 1U);
}

}  // namespace
}  // namespace gpucheck
