// Sorting of findings into faults, admissions and silence; see view.h.
#include "agent/report/view.h"

#include <algorithm>
#include <unordered_map>

namespace gpucheck::report {
namespace {

constexpr std::string_view kNotRun = "check.silent";
// People read a handful; beyond this many different observations a group only counts (JSON lists all of
// them).
constexpr std::size_t kMaxCases = 32;

std::string_view id_of(const CheckResult& result) {
    return result.check != nullptr ? result.check->id : std::string_view("unnamed");
}

bool counts(const CheckResult& result, Verdict verdict) {
    return verdict == Verdict::fail || verdict == Verdict::warn ||
           (verdict == Verdict::unknown && result.required);
}

Problem problem_of(const CheckResult& result, const Finding& finding) {
    Problem problem;
    problem.check = id_of(result);
    problem.code = finding.code;
    problem.verdict = finding.verdict;
    problem.subject = finding.subject.id;
    problem.expected = finding.expected;
    problem.observed = finding.observed;
    problem.source = finding.source;
    problem.row = catalogue_row(finding.code);
    problem.scope = finding.scope            ? *finding.scope
                    : problem.row != nullptr ? problem.row->scope
                                             : Scope::unknown;
    problem.title = finding.message;
    if (problem.title.empty() && problem.row != nullptr) problem.title = problem.row->title;
    if (problem.title.empty() && result.check != nullptr) problem.title = result.check->title;
    problem.count = finding.count;
    problem.first = finding.first;
    problem.last = finding.last;
    return problem;
}

// A check without a single finding is unknown whatever its verdict field says: nobody looked.
Problem silent(const CheckResult& result) {
    Problem problem;
    problem.check = id_of(result);
    problem.code = kNotRun;
    problem.subject = "host";
    problem.expected = "at least one finding";
    problem.observed = result.reason.empty() ? std::string_view("none") : std::string_view(result.reason);
    problem.source = problem.check;
    problem.row = catalogue_row(kNotRun);
    problem.title = result.reason.empty() && problem.row != nullptr ? std::string_view(problem.row->title)
                                                                    : std::string_view("A check was not run");
    return problem;
}

std::string reason_of(const Finding& finding) {
    std::string reason = finding.message;
    if (reason.empty()) {
        const CatalogueRow* row = catalogue_row(finding.code);
        if (row != nullptr) reason = row->title;
    }
    if (!finding.observed.empty()) reason += (reason.empty() ? "" : ": ") + finding.observed;
    if (!finding.source.empty()) reason += " (" + finding.source + ")";
    return reason.empty() ? "no reason given" : reason;
}

void add_check(const CheckResult& result, View& view) {
    const std::string_view id = id_of(result);
    if (result.findings.empty()) {
        const bool not_applicable = result.verdict == Verdict::not_applicable;
        if (!not_applicable && result.required) {
            view.problems.push_back(silent(result));
        } else {
            view.not_checked.push_back({id, "", "",
                                        not_applicable ? Verdict::not_applicable : Verdict::unknown,
                                        result.reason.empty() ? "no reason given" : result.reason});
        }
        if (!not_applicable) ++view.applied;
        return;
    }
    ++view.applied;
    if (result.verdict == Verdict::pass) ++view.passed;
    for (const Finding& finding : result.findings) {
        if (counts(result, finding.verdict)) {
            view.problems.push_back(problem_of(result, finding));
        } else if (finding.verdict != Verdict::pass) {
            view.not_checked.push_back(
                {id, finding.code, finding.subject.id, finding.verdict, reason_of(finding)});
        }
    }
}

GpuCount count_gpus(const Snapshot& snapshot) {
    GpuCount count;
    if (snapshot.expected.gpu_count.known()) count.expected = snapshot.expected.gpu_count.value();
    if (snapshot.gpus.empty() && !snapshot.host.pci_functions.known())
        return count;  // the bus could not be listed
    count.pci = static_cast<unsigned>(snapshot.gpus.size());
    unsigned bound = 0;
    for (const Device& gpu : snapshot.gpus) {
        if (!gpu.pci.driver.known() && !gpu.pci.driver.absent()) return count;
        if (gpu.pci.driver.is(compute_driver(gpu.vendor))) ++bound;
    }
    count.bound = bound;
    return count;
}

// Which GPUs a subject speaks of: a GPU, a port above it, or one of its device nodes.
using Owners = std::unordered_map<std::string, std::vector<std::size_t>>;

Owners owners_of(const std::vector<Device>& gpus) {
    Owners owners;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        owners[gpus[i].bdf.str()].push_back(i);
        for (const PciPort& port : gpus[i].pci.path) owners[port.bdf.str()].push_back(i);
        for (const DeviceNode& node : gpus[i].nodes) owners[node.path].push_back(i);
    }
    return owners;
}

std::vector<Verdict> judge_gpus(const Report& report) {
    std::vector<Verdict> verdicts(report.snapshot.gpus.size(), Verdict::not_applicable);
    const Owners owners = owners_of(report.snapshot.gpus);
    for (const CheckLine& line : report.checks) {
        for (const Finding& finding : line.result.findings) {
            if (finding.verdict == Verdict::unknown && !line.result.required) continue;
            const auto found = owners.find(finding.subject.id);
            if (found == owners.end()) continue;
            for (const std::size_t i : found->second) verdicts[i] = std::max(verdicts[i], finding.verdict);
        }
    }
    for (Verdict& verdict : verdicts) {
        if (verdict == Verdict::not_applicable) verdict = Verdict::unknown;
    }
    return verdicts;
}

void add_to(Group& group, const Problem& problem) {
    if (problem.title != group.title) {
        const CatalogueRow* row = problem.row;
        group.title = row != nullptr ? std::string_view(row->title) : group.head->title;
    }
    ++group.subjects;
    group.count += problem.count;
    if (!problem.first.empty() && (group.first.empty() || problem.first < group.first))
        group.first = problem.first;
    if (problem.last > group.last) group.last = problem.last;
    for (Case& known : group.cases) {
        if (known.expected != problem.expected || known.observed != problem.observed) continue;
        known.subjects.push_back(problem.subject);
        return;
    }
    if (group.cases.size() < kMaxCases)
        group.cases.push_back({problem.expected, problem.observed, problem.source, {problem.subject}});
}

}  // namespace

std::string_view compute_driver(Vendor vendor) {
    return vendor == Vendor::nvidia ? "nvidia" : "amdgpu";
}

View view_of(const Report& report) {
    View view;
    for (const CheckLine& line : report.checks) add_check(line.result, view);
    std::stable_sort(view.problems.begin(), view.problems.end(),
                     [](const Problem& a, const Problem& b) { return a.verdict > b.verdict; });
    for (const Problem& problem : view.problems) {
        if (problem.verdict == Verdict::fail) ++view.fails;
        if (problem.verdict == Verdict::warn) ++view.warns;
        if (problem.verdict == Verdict::unknown) ++view.unknowns;
    }
    view.gpus = judge_gpus(report);
    view.count = count_gpus(report.snapshot);
    return view;
}

std::vector<Group> grouped(const std::vector<Problem>& problems) {
    std::vector<Group> groups;
    std::unordered_map<std::string, std::size_t> known;
    for (const Problem& problem : problems) {
        const std::string key = std::string(problem.code) + '\n' + std::string(name_of(problem.verdict)) +
                                '\n' + std::string(name_of(problem.scope)) + '\n' +
                                std::string(problem.check);
        const auto [place, is_new] = known.emplace(key, groups.size());
        if (is_new) {
            Group group;
            group.head = &problem;
            group.title = problem.title;
            groups.push_back(std::move(group));
        }
        add_to(groups[place->second], problem);
    }
    return groups;
}

}  // namespace gpucheck::report
