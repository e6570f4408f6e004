// The page's bytes: nothing that a machine says becomes markup, nothing is fetched, nothing depends on the
// order of reading, and a fleet of four thousand fits into a mail.
#include "fleet/page/page.h"

#include <gtest/gtest.h>

#include <ctime>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "fleet/page/embedded.h"
#include "fleet/page/json_text.h"
#include "tests/fleet/page/sample.h"

namespace gpucheck::fleet {
namespace {

using nlohmann::json;

// What stands in the page's data element.
std::string data_text(const std::string& html) {
    const std::string open = "<script type=\"application/json\" id=\"data\">";
    const std::size_t from = html.find(open);
    if (from == std::string::npos) return {};
    const std::size_t to = html.find("</script>", from);
    return html.substr(from + open.size(), to - from - open.size());
}

json data_of(const std::string& html) {
    return json::parse(data_text(html), nullptr, false);
}

// The page without what was built in: style and scripts are ours.
std::string without_scripts(std::string html) {
    for (const Script& script : page_scripts()) {
        const std::size_t at = html.find(script.text);
        EXPECT_NE(at, std::string::npos);
        if (at != std::string::npos) html.erase(at, script.text.size());
    }
    return html.erase(html.find(page_style().text), page_style().text.size());
}

std::size_t times(const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    return count;
}

// One node of one GPU whose every string is `text`.
Sample all_strings(const std::string& text) {
    Sample sample;
    const Name name = sample.fleet.names.intern(text);
    NodeReport report;
    report.node = report.key = report.report_id = report.created = text;
    report.provider = report.instance_type = report.region = report.zone = report.driver = report.kernel =
        report.os = name;
    report.tool_version = report.profile = name;
    report.labels = {{name, name}};
    report.gpus = {{.bdf = name,
                    .board = name,
                    .identity = text,
                    .verdict = Verdict::fail,
                    .firmware = name,
                    .values = {{name, 1.0F}}}};
    report.where = text;
    report.problems = {{name, name, Verdict::fail, name, name, name, 0}};
    report.checks = {{name, Verdict::fail}};
    report.costs = {{name, name, 1, 1, 1}};
    sample.fleet.reports = {report, report};
    sample.fleet.rejected = {{text, text}};
    Analysis& analysis = sample.analysis;
    analysis.nodes = {{.report = 0,
                       .earlier = {1},
                       .decision = Decision::reject,
                       .evidence = 1,
                       .reasons = {{Decision::reject, text, text, 0}}}};
    analysis.groups = {{.key = {text, text, text, text},
                        .nodes = {0},
                        .verdicts = {{Verdict::fail, 1}},
                        .metrics = {{.metric = text,
                                     .distribution = {1, 1, 1, 1, 1, 1, 1, 1, 0},
                                     .centre = Centre{1, 0, 1, 1, 0}}}}};
    analysis.outliers = {{.metric = text, .value = 1, .centre = 1, .ratio = 1, .z = -9}};
    analysis.commons = {{text, text, text, 1, 1, 1, 1, 0.5}};
    analysis.offenders = {{text, {{text, text, text}, {text, text, text}}}};
    analysis.decisions = {{Decision::reject, 1}};
    analysis.decision = Decision::reject;
    analysis.why = analysis.notes = {text};
    return sample;
}

TEST(FleetPage, NoStringOfAReportBecomesMarkup) {
    const std::string hostile = kHostileName;
    const Sample sample = all_strings(hostile);
    const std::string html =
        page(sample.fleet, sample.analysis,
             {.title = hostile, .made = hostile, .policy = hostile, .baseline = hostile});
    const std::string harmless = page(all_strings("x").fleet, all_strings("x").analysis,
                                      {.title = "x", .made = "x", .policy = "x", .baseline = "x"});
    // The same tags, whatever the strings are.
    for (const char* tag : {"<script", "</script", "<img", "<!--", "<meta", "<a "})
        EXPECT_EQ(times(html, tag), times(harmless, tag)) << tag;
    EXPECT_EQ(times(without_scripts(html), "<img"), 0U);
    EXPECT_EQ(times(html, "\xe2\x80\xa8"), 0U) << "U+2028 ends a line in old JavaScript";
    EXPECT_EQ(times(without_scripts(html), "application/json"), 1U) << "{{data}} in a name was put in again";
    const json data = data_of(html);
    ASSERT_TRUE(data.is_object());
    // Inert, and still readable.
    EXPECT_NE(data["node"]["name"][0].get<std::string>().find("</script><img src=x onerror="),
              std::string::npos);
    EXPECT_NE(data["node"]["name"][0].get<std::string>().find("\\u{2028}"), std::string::npos);
}

TEST(FleetPage, ControlAndBidirectionalCharactersAreShown) {
    const Sample sample = all_strings(
        "a\x1b[2J\xe2\x80\xae"
        "b\xff");
    const json data = data_of(page(sample.fleet, sample.analysis, {}));
    EXPECT_EQ(data["node"]["name"][0], "a\\x1b[2J\\u{202e}b\\xff");
}

TEST(FleetPage, FetchesNothing) {
    const Sample sample = all_strings("x");
    const std::string html = page(sample.fleet, sample.analysis, {});
    EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
    const std::string shell = without_scripts(html);
    for (const char* what : {"http:", "https:", "src=", "@import", "url(", "<link rel=\"style", "<iframe",
                             "<object", "srcset", "//cdn"})
        EXPECT_EQ(times(shell, what), 0U) << what;
    EXPECT_EQ(times(shell, "href="), times(shell, "href=\"#") + times(shell, "href=\"data:,\""))
        << "links go inside the page";
    EXPECT_EQ(times(std::string(page_style().text), "url("), 0U);
    for (const Script& script : page_scripts()) {
        const std::string text(script.text);
        EXPECT_EQ(times(text, "</script"), 0U);
        EXPECT_EQ(times(text, "<!--"), 0U);
        if (text.find("Chart.js v3") != std::string::npos) continue;
        for (const char* what : {"fetch(", "XMLHttpRequest", "innerHTML", "outerHTML", "insertAdjacentHTML",
                                 "document.write", "eval(", "import(", "http:", "https:"})
            EXPECT_EQ(times(text, what), 0U) << what;
    }
}

TEST(FleetPage, OrderOfReadingDoesNotMatter) {
    const Sample sample = make_sample(60, 7);
    // The same reports read backwards: other numbers of the names, other places in the fleet.
    Sample turned;
    turned.analysis = sample.analysis;
    const std::size_t count = sample.fleet.reports.size();
    for (std::size_t i = sample.fleet.names.size(); i > 1; --i)
        turned.fleet.names.intern(sample.fleet.names.text(static_cast<Name>(i - 1)));
    const auto again = [&](Name& name) { name = turned.fleet.names.find(sample.fleet.names.text(name)); };
    for (std::size_t i = count; i > 0; --i) {
        NodeReport report = sample.fleet.reports[i - 1];
        for (Name* name : {&report.provider, &report.instance_type, &report.region, &report.zone,
                           &report.driver, &report.kernel, &report.os, &report.tool_version, &report.profile})
            again(*name);
        for (auto& [key, value] : report.labels) again(key), again(value);
        for (Gpu& gpu : report.gpus) {
            again(gpu.bdf), again(gpu.board), again(gpu.firmware);
            for (Value& value : gpu.values) again(value.metric);
        }
        for (Problem& problem : report.problems)
            again(problem.code), again(problem.check), again(problem.scope), again(problem.action),
                again(problem.subject);
        for (CheckState& check : report.checks) again(check.check);
        for (CostRow& row : report.costs) again(row.model), again(row.precision);
        turned.fleet.reports.push_back(report);
    }
    for (NodeResult& node : turned.analysis.nodes) {
        node.report = count - 1 - node.report;
        for (std::size_t& earlier : node.earlier) earlier = count - 1 - earlier;
    }
    turned.fleet.rejected.assign(sample.fleet.rejected.rbegin(), sample.fleet.rejected.rend());
    EXPECT_EQ(page(sample.fleet, sample.analysis, {}), page(turned.fleet, turned.analysis, {}));
}

TEST(FleetPage, ValuesStandInTheirPlaces) {
    Sample sample = all_strings("x");
    const Name wide = sample.fleet.names.intern("wide"), late = sample.fleet.names.intern("late");
    NodeReport& report = sample.fleet.reports[0];
    report.gpus[0].values = {{wide, 12.345678F}};
    report.gpus.push_back({kNoName,
                           kNoName,
                           "",
                           Verdict::pass,
                           kNoName,
                           {{late, std::numeric_limits<float>::infinity()}, {wide, 8.5e10F}}});
    report.gpus.push_back({kNoName, kNoName, "", Verdict::pass, kNoName, {{late, 3.0F}}});
    const json values = data_of(page(sample.fleet, sample.analysis, {}))["gpu"]["values"];
    EXPECT_EQ(values["wide"], "12.346,8.5e+10,,");
    EXPECT_EQ(values["late"], ",,3,");
}

TEST(FleetPage, NamesOfOneReportDoNotMultiply) {
    Sample sample = all_strings("x");
    NodeReport& report = sample.fleet.reports[0];
    for (int i = 0; i < 3000; ++i) {
        const Name name = sample.fleet.names.intern("made up " + std::to_string(i));
        report.gpus[0].values.push_back({name, 1.0F});
        report.checks.push_back({name, Verdict::pass});
        report.costs.push_back({name, name, std::numeric_limits<float>::quiet_NaN(), 1, 1});
    }
    const json data = data_of(page(sample.fleet, sample.analysis, {}));
    EXPECT_LE(data["gpu"]["values"].size(), 48U);
    EXPECT_EQ(data["gpu"]["values"].size() + data["gpu"]["metrics_left_out"].get<std::size_t>(), 3001U);
    EXPECT_EQ(data["checks"].size() + data["checks_left_out"].get<std::size_t>(), 3001U);
    EXPECT_EQ(data["costs"].size() + data["costs_left_out"].get<std::size_t>(), 3001U);
}

TEST(FleetPage, ListsTheWorstAndCountsTheRest) {
    const Sample sample = make_sample(60, 3);
    const json data = data_of(page(sample.fleet, sample.analysis, {.max_nodes = 10}));
    EXPECT_EQ(data["nodes_all"], 60);
    ASSERT_EQ(data["node"]["name"].size(), 10U);
    EXPECT_EQ(data["node"]["name"][0], sample.fleet.reports[sample.analysis.nodes[0].report].node);
    for (const json& group : data["groups"]) {
        for (const json& node : group["nodes"]) EXPECT_LT(node, 10);
    }
    std::size_t counted = 0;  // a distribution is that of all GPUs, listed or not
    for (const json& bin : data["groups"][0]["metrics"][0]["bins"]) counted += bin.get<std::size_t>();
    EXPECT_EQ(counted, sample.analysis.groups[0].metrics[0].distribution.count);
}

TEST(FleetPage, SaysWhatWasDecidedWithoutAScript) {
    Sample sample = all_strings("x");
    sample.analysis.why = {"7 of 8 GPUs & more are <slow>."};
    const std::string html = page(sample.fleet, sample.analysis, {});
    EXPECT_NE(html.find("</span> Reject</h1>"), std::string::npos);
    EXPECT_NE(html.find("<li>7 of 8 GPUs &amp; more are &lt;slow&gt;.</li>"), std::string::npos);
    EXPECT_NE(html.find("<b>1</b> Reject"), std::string::npos);
    EXPECT_EQ(html.find("http-equiv=\"refresh\""), std::string::npos);
    EXPECT_EQ(html.find("data-refresh="), std::string::npos);
    EXPECT_NE(page(sample.fleet, sample.analysis, {.refresh_seconds = 60}).find(" data-refresh=\"60\">"),
              std::string::npos);
    EXPECT_NE(page(sample.fleet, sample.analysis, {.refresh_seconds = 60})
                  .find("http-equiv=\"refresh\" content=\"60\""),
              std::string::npos);
}

TEST(FleetPage, AnEmptyFleetIsNoAcceptance) {
    const std::string html = page({}, {}, {});
    EXPECT_NE(html.find("</span> Not enough evidence</h1>"), std::string::npos);
    EXPECT_EQ(data_of(html)["nodes_all"], 0);
}

TEST(FleetPage, AnAnalysisOfAnotherFleetIsShownEmpty) {
    Sample sample = all_strings("x");
    sample.analysis.nodes[0].report = 77;
    sample.analysis.nodes[0].earlier = {99};
    sample.analysis.groups[0].nodes = {5};
    sample.analysis.outliers[0].node = 12;
    const json data = data_of(page(sample.fleet, sample.analysis, {}));
    EXPECT_EQ(data["node"]["name"][0], "");
    EXPECT_EQ(data["outlier"]["node"].size(), 0U);
    EXPECT_EQ(data["outlier"]["all"], 1);
}

TEST(FleetPage, RemediesComeFromTheCatalogue) {
    const Sample sample = make_sample(60, 3);
    const json codes = data_of(page(sample.fleet, sample.analysis, {}))["codes"];
    ASSERT_TRUE(codes.contains("burn.memory.slow"));
    EXPECT_NE(codes["burn.memory.slow"][2].get<std::string>().find("--experiment stream"), std::string::npos);
}

TEST(FleetPage, FourThousandNodesFitIntoEightMebibytes) {
    const Sample sample = make_sample(4000, 11);
    const std::clock_t start = std::clock();
    const std::string html = page(sample.fleet, sample.analysis, {});
    const double took_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    std::cout << "4000 nodes: " << html.size() << " bytes in " << took_s << " s of CPU time\n";
    EXPECT_LE(html.size(), std::size_t{8} << 20);
    EXPECT_EQ(data_of(html)["node"]["name"].size(), 4000U);
}

}  // namespace
}  // namespace gpucheck::fleet
