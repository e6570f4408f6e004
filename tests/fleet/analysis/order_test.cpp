// Reports in any order, and reports that nobody would send: one answer, and no harm.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "fleet/model/policy.h"
#include "tests/fleet/generate/synthetic.h"

namespace gpucheck::fleet {
namespace {

/// Everything of an analysis in text, without indices.
std::string told(const Fleet& fleet, const Analysis& analysis) {
    std::string text = std::to_string(static_cast<int>(analysis.decision));
    for (const NodeResult& node : analysis.nodes) {
        text += "\n" + fleet.reports[node.report].node + fleet.reports[node.report].report_id + " " +
                std::to_string(node.evidence) + " " + std::to_string(node.earlier.size());
        for (const Reason& reason : node.reasons)
            text += " | " + reason.rule + ": " + reason.text + std::to_string(reason.gpu);
    }
    for (const Group& group : analysis.groups) {
        text += "\n" + group.key.board + group.key.driver;
        for (const std::size_t node : group.nodes) text += " " + std::to_string(node);
        for (const MetricSummary& metric : group.metrics)
            text += metric.metric + std::to_string(metric.distribution.median) +
                    std::to_string(metric.distribution.mad) +
                    (metric.centre ? std::to_string(metric.centre->bar) + std::to_string(metric.centre->kept)
                                   : "");
    }
    for (const Outlier& each : analysis.outliers)
        text += "\n" + std::to_string(each.node) + " " + std::to_string(each.gpu) + each.metric +
                std::to_string(each.z);
    for (const Common& each : analysis.commons)
        text += "\n" + each.property + each.value + each.problem + std::to_string(each.p);
    for (const Offender& each : analysis.offenders)
        text += "\n" + each.identity + std::to_string(each.times.size());
    for (const std::string& note : analysis.notes) text += "\n" + note;
    for (const std::string& why : analysis.why) text += "\n" + why;
    return text;
}

TEST(FleetOrder, AnyOrderOfInputGivesTheSameAnalysis) {
    Recipe recipe;
    recipe.nodes = 60;
    recipe.days = 4;
    recipe.drift = 0.3;
    recipe.boards = {"h100-sxm-80gb", "mi300x"};
    recipe.faults = usual_eight();
    recipe.faults.push_back(Fault::lemon);
    std::string first;
    for (std::uint64_t turn = 0; turn < 5; ++turn) {
        Dice dice(turn);
        std::vector<std::pair<std::size_t, std::size_t>> order;
        for (std::size_t node = 0; node < recipe.nodes; ++node) {
            for (std::size_t day = 0; day < recipe.days; ++day) order.emplace_back(node, day);
        }
        for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[dice.below(i + 1)]);
        Fleet fleet;  // its names are numbered in another order, too
        const Generator generator(recipe);
        for (const auto& [node, day] : order)
            fleet.reports.push_back(generator.report(node, day, fleet.names));
        NodeReport twin = generator.report(7, 3, fleet.names);
        twin.verdict = Verdict::fail;
        fleet.reports.insert(turn % 2 == 0 ? fleet.reports.begin() : fleet.reports.end(), twin);
        const std::string text = told(fleet, analyse(fleet, default_policy(), nullptr));
        if (turn == 0) first = text;
        EXPECT_EQ(text, first);
    }
    EXPECT_GT(first.size(), 10'000U);
}

TEST(FleetHostile, AbsurdReportsAreJudgedWithoutHarm) {
    Fleet fleet;
    EXPECT_EQ(analyse(fleet, default_policy(), nullptr).decision, Decision::no_evidence);
    const float numbers[] = {0,
                             -1,
                             std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::max(),
                             std::numeric_limits<float>::denorm_min(),
                             std::numeric_limits<float>::quiet_NaN(),
                             1};
    for (std::size_t i = 0; i < 60; ++i) {
        NodeReport report;
        report.node = i % 7 == 0 ? "" : "n" + std::to_string(i);
        report.created = i % 5 == 0 ? "9999-99-99T99:99:99Z" : "2026-11-30T00:00:00Z";
        report.verdict = static_cast<Verdict>(i % 5);
        report.gpus.resize(i % 12);
        for (Gpu& gpu : report.gpus) {
            gpu.board = fleet.names.intern(i % 3 == 0 ? "" : "h100-sxm-80gb");
            gpu.identity = "same";
            for (const char* metric : {"bf16_tflops", "launch_us", "memory_read_gb_s", "nonsense"})
                gpu.values.push_back({fleet.names.intern(metric), numbers[(i + gpu.values.size()) % 7]});
        }
        Problem problem;
        problem.code = fleet.names.intern("x");
        problem.verdict = Verdict::fail;
        problem.gpu = static_cast<int>(i % 20);
        report.problems.push_back(problem);
        fleet.reports.push_back(report);
    }
    const Analysis analysis = analyse(fleet, default_policy(), nullptr);
    EXPECT_EQ(analysis.decisions.count(Decision::accept), 0U);
    EXPECT_NE(analysis.decision, Decision::accept);
    const Baseline nonsense{"", {{{"h100-sxm-80gb", "", "", ""}, "launch_us", {0, 0, 0, 0, 0}}}};
    EXPECT_NE(analyse(fleet, default_policy(), &nonsense).decision, Decision::accept);
    EXPECT_TRUE(compare(fleet, fleet, default_policy()).significant.empty());
}

}  // namespace
}  // namespace gpucheck::fleet
