// Sorting: nothing that was not looked at may look like a pass, and nothing that is wrong may be left out.
#include "agent/report/view.h"

#include <gtest/gtest.h>

#include "agent/report/exit_status.h"
#include "tests/checks/healthy.h"
#include "tests/report/samples.h"

namespace gpucheck::report {
namespace {

TEST(View, WorstFirst) {
    const Report report = failing();
    const View view = view_of(report);
    ASSERT_EQ(view.problems.size(), 5U);
    EXPECT_EQ(view.problems.front().code, "gpu.count.missing");
    EXPECT_EQ(view.problems.back().code, "clock.wrong")
        << "a warning comes last though its check comes first";
    EXPECT_EQ(view.fails, 4U);
    EXPECT_EQ(view.warns, 1U);
}

TEST(View, ScopeOfTheFindingWinsOverTheCatalogue) {
    const Report report = failing();
    const View view = view_of(report);
    EXPECT_EQ(view.problems.front().scope, Scope::host);
    EXPECT_EQ(view.problems.back().scope, Scope::guest) << "clock.wrong has it from its row";
    EXPECT_EQ(view.problems[1].scope, Scope::unknown) << "a code without a row";
}

TEST(View, UnknownsCountOnlyWhereRequired) {
    const Report quick = passing(), boot = unknowing();
    EXPECT_TRUE(view_of(quick).problems.empty());
    ASSERT_EQ(view_of(quick).not_checked.size(), 2U);
    EXPECT_EQ(view_of(quick).not_checked[1].code, "telemetry.absent");
    ASSERT_EQ(view_of(boot).problems.size(), 1U);
    EXPECT_EQ(view_of(boot).problems[0].verdict, Verdict::unknown);
    EXPECT_EQ(view_of(boot).not_checked.size(), 1U);
}

TEST(View, ACheckThatWasNotRunIsNoPass) {
    Report report = passing();
    report.checks[1].result.findings.clear();
    report.checks[1].result.verdict = Verdict::pass;  // whatever it claims
    report.checks[1].result.reason = "the budget ran out";
    const View view = view_of(report);
    ASSERT_EQ(view.problems.size(), 1U);
    EXPECT_EQ(view.problems[0].verdict, Verdict::unknown);
    EXPECT_EQ(view.problems[0].observed, "the budget ran out");
    report.checks[1].result.required = false;
    EXPECT_EQ(view_of(report).not_checked.size(), 3U);
    report.checks[1].result.check = nullptr;
    EXPECT_EQ(view_of(report).not_checked.size(), 3U);
}

TEST(View, AGpuNobodyLookedAtIsUnknown) {
    Report report = passing();
    report.checks.erase(report.checks.begin() + 1);
    for (const Verdict verdict : view_of(report).gpus) EXPECT_EQ(verdict, Verdict::unknown);
}

TEST(View, FindingsAboutPortsAndNodesBelongToTheirGpu) {
    Report report = passing();
    const std::string port = report.snapshot.gpus[2].pci.path[0].bdf.str();
    report.checks.push_back(line(kKfdCheck, true,
                                 {finding("x.y", Verdict::fail, port, "", "", ""),
                                  finding("x.z", Verdict::warn, "/dev/nvidia5", "", "", "")}));
    const View view = view_of(report);
    EXPECT_EQ(view.gpus[2], Verdict::fail);
    EXPECT_EQ(view.gpus[5], Verdict::warn);
    EXPECT_EQ(view.gpus[3], Verdict::pass);
}

TEST(View, CountsAreEmptyWhenNobodyCouldCount) {
    Report report = passing();
    EXPECT_EQ(view_of(report).count.bound, 8U);
    report.snapshot.gpus[0].pci.driver = fact("vfio-pci");
    EXPECT_EQ(view_of(report).count.bound, 7U);
    report.snapshot.gpus[0].pci.driver = Missing{"driver", "EACCES"};
    EXPECT_FALSE(view_of(report).count.bound.has_value());
    report.snapshot.gpus.clear();
    EXPECT_EQ(view_of(report).count.pci, 0U);
    report.snapshot.host.pci_functions = Missing{"/sys/bus/pci/devices", "EACCES"};
    EXPECT_FALSE(view_of(report).count.pci.has_value());
    report.snapshot.expected.gpu_count = Missing{};
    EXPECT_FALSE(view_of(report).count.expected.has_value());
}

TEST(Grouped, OneEntryForAFaultOfManyGpus) {
    const Report report = failing();
    const View view = view_of(report);
    const std::vector<Group> groups = grouped(view.problems);
    ASSERT_EQ(groups.size(), 3U);
    EXPECT_EQ(groups[1].head->code, "example.link.narrow");
    ASSERT_EQ(groups[1].cases.size(), 1U);
    EXPECT_EQ(groups[1].cases[0].subjects.size(), 3U);
}

TEST(Grouped, DifferentObservationsStayApart) {
    Report report = failing();
    report.checks[2].result.findings[1].observed = "x4";
    const View view = view_of(report);
    const std::vector<Group> groups = grouped(view.problems);
    ASSERT_EQ(groups[1].cases.size(), 2U);
    EXPECT_EQ(groups[1].cases[1].observed, "x4");
    // The same code with another verdict or owner is another entry.
    report.checks[2].result.findings[0].scope = Scope::host;
    EXPECT_EQ(grouped(view_of(report).problems).size(), 4U);
}

TEST(Grouped, ManyDifferentFaultsAreCountedInBoundedTime) {
    Report report = passing();
    Findings findings;
    for (int i = 0; i < 20000; ++i) {
        findings.push_back(finding("x.y", Verdict::fail, std::to_string(i), "", std::to_string(i), ""));
    }
    report.checks.push_back(line(kKfdCheck, true, findings));
    const View view = view_of(report);
    const std::vector<Group> groups = grouped(view.problems);
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(groups[0].subjects, 20000U);
    EXPECT_LE(groups[0].cases.size(), 32U);
}

TEST(ExitStatus, FollowsTheMaps) {
    struct Row {
        Verdict verdict;
        int standard, nagios, npd;
    };
    for (const Row& row :
         {Row{Verdict::pass, 0, 0, 0}, Row{Verdict::warn, 0, 1, 0}, Row{Verdict::fail, 1, 2, 1},
          Row{Verdict::unknown, 2, 3, 2}, Row{Verdict::not_applicable, 2, 3, 2}}) {
        EXPECT_EQ(exit_status(row.verdict, ExitMap::standard), row.standard);
        EXPECT_EQ(exit_status(row.verdict, ExitMap::nagios), row.nagios);
        EXPECT_EQ(exit_status(row.verdict, ExitMap::npd), row.npd);
    }
    for (const ExitMap map : {ExitMap::standard, ExitMap::nagios, ExitMap::npd}) {
        EXPECT_EQ(exit_map_from(name_of(map)), map);
    }
    EXPECT_FALSE(exit_map_from("").has_value());
}

}  // namespace
}  // namespace gpucheck::report
