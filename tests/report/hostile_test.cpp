// Text from a broken or malicious machine in every string of a report, in every format.
#include <gtest/gtest.h>

#include <chrono>

#include "agent/report/explain.h"
#include "agent/report/render.h"
#include "checks/json/json.h"
#include "checks/json/utf8.h"
#include "tests/report/samples.h"

namespace gpucheck::report {
namespace {

constexpr Format kAll[] = {Format::text,       Format::json,   Format::junit,
                           Format::prometheus, Format::nagios, Format::html};

TEST(Hostile, NoFormatLetsControlBytesThrough) {
    for (std::size_t i = 0; i < hostile_texts().size(); ++i) {
        const Report report = hostile(hostile_texts()[i]);
        for (const Format format : kAll) {
            const std::string text = render(report, format);
            EXPECT_TRUE(is_utf8(text)) << i << " " << name_of(format);
            for (const char c : text) {
                ASSERT_TRUE((static_cast<unsigned char>(c) >= 0x20 || c == '\n') && c != 0x7f)
                    << i << " " << name_of(format);
            }
            for (const char* bad : {"\xc2\x9b", "\xc2\x85", "\xe2\x80\xae", "\xe2\x80\x8b", "\xe2\x80\xa8",
                                    "\xef\xbb\xbf", "\xf3\xa0\x81\x81"}) {
                EXPECT_EQ(text.find(bad), std::string::npos) << i << " " << name_of(format);
            }
        }
    }
}

TEST(Hostile, NoTextForgesALine) {
    const Report report = hostile("x\nPASS: fine\ngpucheck_verdict 1\n");
    const std::string text = render(report, Format::text);
    EXPECT_TRUE(text.starts_with("FAIL: "));
    EXPECT_EQ(text.find("\nPASS: fine"), std::string::npos);
    EXPECT_EQ(render(report, Format::prometheus).find("\ngpucheck_verdict 1"), std::string::npos);
    EXPECT_EQ(render(hostile("</script><script>"), Format::html).find("<script"), std::string::npos);
}

TEST(Hostile, JsonStaysJson) {
    for (const std::string& text : hostile_texts()) {
        const auto parsed = parse_json(render(hostile(text), Format::json));
        ASSERT_TRUE(std::holds_alternative<Json>(parsed)) << text.substr(0, 40);
        EXPECT_EQ(std::get<Json>(parsed)["findings"][0]["first"], nullptr) << "no time, and so none";
    }
}

TEST(Hostile, SizeAndTimeStayBounded) {
    const Report report = hostile(std::string(1 << 20, '\x1b'));
    for (const Format format : kAll) {
        const auto start = std::chrono::steady_clock::now();
        const std::string text = render(report, format);
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30)) << name_of(format);
        EXPECT_LT(text.size(), std::size_t{format == Format::json ? 64U : 2U} << 20) << name_of(format);
    }
}

TEST(Hostile, NumbersOutOfReason) {
    Report report = failing();
    for (const double value :
         {-1.0, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        report.duration_s = value;
        for (CheckLine& line : report.checks) line.duration_ms = value;
        for (const Format format : kAll) EXPECT_FALSE(render(report, format).empty());
        EXPECT_TRUE(std::holds_alternative<Json>(parse_json(render(report, Format::json)))) << value;
    }
}

TEST(Hostile, ExplainOfAnything) {
    for (const std::string& text : hostile_texts()) {
        for (const bool json : {false, true}) {
            const Explanation explanation = render_explain(text, {}, {.json = json});
            EXPECT_EQ(explanation.found, text.empty());
            EXPECT_EQ(explanation.text.find('\x1b'), std::string::npos);
            EXPECT_LT(explanation.text.size(), 1U << 20);
        }
    }
}

}  // namespace
}  // namespace gpucheck::report
