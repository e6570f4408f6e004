// What comes out of the escapers is safe, says what was there, and ends in time.
#include "agent/report/escape.h"

#include <gtest/gtest.h>

#include "agent/report/layout.h"
#include "checks/json/json.h"
#include "tests/report/samples.h"

namespace gpucheck::report {
namespace {

using namespace std::string_literals;

TEST(Plain, ControlsBecomeVisible) {
    EXPECT_EQ(plain("\x1b[31mred"), "\\x1b[31mred");
    EXPECT_EQ(plain("a\nb\tc\rd"), "a b c d");
    EXPECT_EQ(plain("\xc2\x9b"
                    "2J"),
              "\\x9b2J")
        << "C1 controls begin escape sequences too";
    EXPECT_EQ(plain("\xe2\x80\xae"
                    "abc"),
              "\\u{202e}abc");
    EXPECT_EQ(plain("\0x"s), "\\x00x");
    EXPECT_EQ(plain("\x7f\xff"), "\\x7f\\xff");
}

TEST(Plain, HarmlessTextIsKept) {
    for (const char* text : {"", "NVIDIA H100 80GB HBM3", "caf\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac",
                             "\xf0\x9f\x98\x80", "50% & <x>"}) {
        EXPECT_EQ(plain(text), text);
    }
}

TEST(Plain, LongTextIsCutBetweenCharacters) {
    EXPECT_EQ(plain("abcdef", 6), "abcdef");
    EXPECT_EQ(plain("abcdef", 5), "abcde... (6 bytes)");
    EXPECT_EQ(plain("ab\xe2\x82\xac", 4), "ab... (5 bytes)");
    EXPECT_LT(plain(std::string(1 << 20, '\x1b')).size(), kLineBytes * 5);
}

TEST(Markup, CannotLeaveItsPlace) {
    EXPECT_EQ(markup("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
    EXPECT_EQ(markup("]]>"), "]]&gt;");
    EXPECT_EQ(markup("\xef\xbf\xbe\x0b\x01"), "\\u{fffe} \\x01")
        << "XML 1.0 forbids these even as references";
}

TEST(Label, KeepsQuotesAndBackslashes) {
    EXPECT_EQ(label("a\"b\\c\nd"), "a\\\"b\\\\c d");
}

TEST(AppendJson, ParsesBackOrIsReplaced) {
    for (const std::string& text : hostile_texts()) {
        std::string quoted;
        append_json(quoted, text, text.size());
        for (const char c : quoted) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
        EXPECT_EQ(quoted.find("\xc2\x9b"), std::string::npos);
        const auto parsed = parse_json(quoted);
        ASSERT_TRUE(std::holds_alternative<Json>(parsed)) << quoted.substr(0, 100);
        const std::string back = std::get<Json>(parsed).get<std::string>();
        const std::string wanted =
            Json::parse(Json(text).dump(-1, ' ', true, Json::error_handler_t::replace)).get<std::string>();
        if (back.find("\xef\xbf\xbd") == std::string::npos) {
            EXPECT_EQ(back, wanted);
        }
    }
    std::string cut_text;
    append_json(cut_text, std::string(100, 'a'), 10);
    EXPECT_EQ(cut_text, "\"aaaaaaaaaa... (100 bytes)\"");
}

TEST(Cut, CountsCharacters) {
    EXPECT_EQ(cut("abcdef", 6), "abcdef");
    EXPECT_EQ(cut("abcdef", 5), "abc..");
    EXPECT_EQ(cut("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 3), "\xc3\xa9..");
    EXPECT_EQ(columns(cut("abcdef", 1)), 1U);
}

TEST(Paragraph, BreaksAtBlanksAndIndents) {
    EXPECT_EQ(paragraph("  do  ", "one two three four", 16), "  do  one two\n      three four\n");
    EXPECT_EQ(paragraph("x ", "averyveryverylongword b", 8), "x averyveryverylongword\n  b\n");
    EXPECT_EQ(paragraph("x  ", "", 8), "x\n");
    EXPECT_EQ(paragraph("", "  a   b  ", 80), "a b\n");
}

TEST(Table, FitsAndLeavesOutEmptyColumns) {
    Table table({"A", "B", "C"});
    table.add({"0000:19:00.0", "", std::string(200, 'c')});
    const std::vector<std::string> lines = table.lines(40);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0], "A             C");
    EXPECT_EQ(lines[1].size(), 40U);
    EXPECT_TRUE(lines[1].ends_with(".."));
}

}  // namespace
}  // namespace gpucheck::report
