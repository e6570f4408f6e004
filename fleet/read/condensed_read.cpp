// Reads condensed reports as strictly as reports: a summary document comes from a stranger as well.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "agent/report/report_id.h"
#include "fleet/read/condensed.h"
#include "fleet/read/report.h"

namespace gpucheck::fleet {
namespace {

constexpr std::array<std::string_view, 30> kNames{
    "gpucheck_condensed", "report_id",     "created", "node",      "key",      "where",    "boot_id",
    "provider",           "instance_type", "region",  "zone",      "driver",   "kernel",   "os",
    "tool_version",       "profile",       "verdict", "simulated", "injected", "verified", "gpus_expected",
    "gpus_found",         "usd_per_hour",  "labels",  "gpus",      "problems", "checks",   "costs",
    "gpus_bound",         "hardware"};
enum Member : std::size_t {
    kVersion,
    kId,
    kCreated,
    kNode,
    kKey,
    kWhere,
    kBoot,
    kProvider,
    kType,
    kRegion,
    kZone,
    kDriver,
    kKernel,
    kOs,
    kTool,
    kProfile,
    kVerdict,
    kSimulated,
    kInjected,
    kVerified,
    kExpected,
    kFound,
    kUsd,
    kLabels,
    kGpus,
    kProblems,
    kChecks,
    kCosts,
    kBound,
    kHardware,
};
using Top = Members<kNames.size()>;

// The cells of one row, in order.
class Row {
  public:
    Row(dom::element element, const Place& place, Vocabulary& names, Flaw& flaw)
        : place_(place), names_(names), flaw_(flaw) {
        dom::array cells;
        if (element.get(cells) != simdjson::SUCCESS) {
            flaw_.say(place_, "", "is not a list");
            return;
        }
        size_ = cells.size();
        at_ = cells.begin();
        end_ = cells.end();
    }
    std::size_t size() const { return size_; }
    std::string_view text(std::size_t most = kNameBytes) {
        const auto cell = next();
        return cell ? text_of(*cell, most, place_, "cell", flaw_) : std::string_view();
    }
    Name name(std::size_t most = kNameBytes) { return names_.intern(text(most)); }
    Verdict verdict() {
        const auto found = verdict_from(text());
        if (!found) flaw_.say(place_, "cell", "is none of gpucheck's verdicts");
        return found.value_or(Verdict::unknown);
    }
    float amount() {
        const auto cell = next();
        return cell ? amount_of(*cell, place_, "cell", flaw_) : 0;
    }
    std::uint8_t small() {
        const float value = amount();
        if (!flaw_ && (value > 64 || value != static_cast<float>(static_cast<int>(value))))
            flaw_.say(place_, "cell", "is no link of PCIe");
        return flaw_ ? std::uint8_t{0} : static_cast<std::uint8_t>(value);
    }
    /// -1 to `below` - 1.
    int index(std::size_t below) {
        std::int64_t value = -1;
        const auto cell = next();
        if (!cell) return -1;
        if (cell->get(value) != simdjson::SUCCESS || value < -1 || value >= static_cast<std::int64_t>(below))
            flaw_.say(place_, "cell", "is no index of a GPU");
        return static_cast<int>(value);
    }
    bool more() const { return !flaw_ && at_ != end_; }
    void end() {
        if (!flaw_ && at_ != end_) flaw_.say(place_, "", "has too many cells");
    }

  private:
    std::optional<dom::element> next() {
        if (flaw_) return std::nullopt;
        if (!(at_ != end_)) {
            flaw_.say(place_, "", "has too few cells");
            return std::nullopt;
        }
        const dom::element cell = *at_;
        ++at_;
        return cell;
    }
    const Place& place_;
    Vocabulary& names_;
    Flaw& flaw_;
    std::size_t size_ = 0;
    dom::array::iterator at_{}, end_{};
};

/// Calls `read(row)` for each row of the member, if it is there.
template <class Rows, class Read>
void each(const Top& top, Member member, std::size_t most, Rows& rows, Vocabulary& names, Flaw& flaw,
          Read read) {
    if (!top.given(member) || flaw) return;
    const auto items = top.array(member);
    if (!items) return;
    if (items->size() > most)
        return flaw.say({}, kNames[member], "has more than " + std::to_string(most) + " items");
    rows.reserve(items->size());
    Place place{nullptr, kNames[member], 0};
    for (const dom::element item : *items) {
        Row row(item, place, names, flaw);
        if (!flaw) rows.push_back(read(row));
        row.end();
        if (flaw) return;
        ++place.index;
    }
}

Gpu read_gpu(Row& row, const Vocabulary& names, Flaw& flaw) {
    Gpu gpu;
    gpu.bdf = row.name();
    gpu.board = row.name();
    gpu.identity = identity_of(row.text(), {});
    gpu.verdict = row.verdict();
    gpu.firmware = row.name();
    if (row.size() > 5 + 2 * kMostValues) flaw.say("a GPU has too many measurements");
    gpu.values.reserve(row.size() > 5 ? (row.size() - 5) / 2 : 0);
    while (row.more()) {
        const Name metric = row.name();
        gpu.values.push_back({metric, row.amount()});
    }
    for (std::size_t i = 0; i < gpu.values.size() && !flaw; ++i) {
        const std::string& name = names.text(gpu.values[i].metric);
        if (name.empty() || (i > 0 && names.text(gpu.values[i - 1].metric) >= name))
            flaw.say("measurements of a GPU are not in order");
    }
    return gpu;
}

/// One row a GPU of which more is known than its speed, in the order of GPUs; `last`: the one before.
int read_hardware(Row& row, NodeReport& report, int last, Flaw& flaw) {
    const int index = row.index(report.gpus.size());
    if (!flaw && index <= last) flaw.say("hardware of GPUs is not in their order");
    if (flaw) return last;
    Gpu& gpu = report.gpus[static_cast<std::size_t>(index)];
    gpu.mode = row.name();
    gpu.memory_gib = row.amount();
    gpu.link_width = row.small();
    gpu.link_generation = row.small();
    gpu.link_generation_rest = row.small();
    return index;
}

Problem read_problem(Row& row, const NodeReport& report, const Vocabulary& names, Flaw& flaw) {
    Problem problem;
    problem.code = row.name();
    problem.check = row.name();
    problem.verdict = row.verdict();
    problem.scope = row.name();
    problem.action = row.name();
    problem.subject = row.name(kPathBytes);
    problem.gpu = row.index(report.gpus.size());
    if (flaw) return problem;
    if (problem.code == kNoName || problem.verdict < Verdict::warn ||
        !scope_from(names.text(problem.scope)) || !action_from(names.text(problem.action)))
        flaw.say("a problem has no code, or a verdict, scope or action that gpucheck does not have");
    return problem;
}

int count_or_absent(const Top& top, Member member) {
    return top.given(member) ? top.count_or_null(member) : -1;
}
bool flag_or_absent(const Top& top, Member member) {
    return top.given(member) && top.flag(member);
}

void read_head(const Top& top, NodeReport& report, Vocabulary& names, Flaw& flaw) {
    const auto name = [&](Member member) { return names.intern(top.text_or_null(member)); };
    report.report_id = top.text(kId);
    report.created = top.text(kCreated);
    report.node = top.text(kNode, 2 * kNameBytes + 8);
    report.key = top.text(kKey, 2 * kNameBytes + 8);
    report.where = top.text_or_null(kWhere, 2 * kPathBytes);
    report.boot_id = top.text_or_null(kBoot);
    report.provider = name(kProvider);
    report.instance_type = name(kType);
    report.region = name(kRegion);
    report.zone = name(kZone);
    report.driver = names.intern(top.text_or_null(kDriver, 3 * kNameBytes));
    report.kernel = name(kKernel);
    report.os = name(kOs);
    report.tool_version = name(kTool);
    report.profile = name(kProfile);
    const std::optional<Verdict> verdict = verdict_from(top.text(kVerdict));
    report.verdict = verdict.value_or(Verdict::unknown);
    report.simulated = flag_or_absent(top, kSimulated);
    report.injected = flag_or_absent(top, kInjected);
    report.verified = flag_or_absent(top, kVerified);
    report.gpus_expected = count_or_absent(top, kExpected);
    report.gpus_found = count_or_absent(top, kFound);
    report.gpus_bound = count_or_absent(top, kBound);
    report.usd_per_hour = top.amount_or_null(kUsd);
    if (flaw) return;
    if (!report::is_report_id(report.report_id)) flaw.say("report_id is no UUID of version 7");
    if (report.created.empty() || utc_of(report.created) != report.created) flaw.say("created is not a time");
    if (!verdict || *verdict == Verdict::not_applicable) flaw.say("verdict is not one of a machine");
    if (report.node.empty() || report.key.empty()) flaw.say("names no machine");
    if (!profile_from(names.text(report.profile))) flaw.say("profile is none of gpucheck's profiles");
}

// Which unknowns were required condensing does not keep.
void contradict(const NodeReport& report, const Vocabulary& names, Flaw& flaw) {
    Verdict worst = Verdict::not_applicable;
    for (const CheckState& check : report.checks) {
        if (check.verdict != Verdict::unknown) worst = std::max(worst, check.verdict);
    }
    contradict(report, names, worst, flaw);
}

// A key of none of the forms, or of another machine's, would join two machines.
bool key_fits(const NodeReport& report, const Vocabulary& names) {
    const std::string& provider = names.text(report.provider);
    const std::string instance = key_of_instance(provider, "");
    return report.key == key_of_host(report.node) ||
           (!report.boot_id.empty() && report.key == key_of_boot(report.boot_id)) ||
           (!provider.empty() && report.key.size() > instance.size() && report.key.starts_with(instance));
}

}  // namespace

NodeReport condensed_from(dom::element document, Vocabulary& names, Flaw& flaw) {
    const Place place;
    const Top top(document, kNames, place, flaw);
    NodeReport report;
    const std::string_view version = top.text(kVersion);
    if (flaw) return report;
    if (!version.starts_with("1.")) {
        flaw.say("version " + std::string(version) + " of condensed reports is not known to this gpucheck");
        return report;
    }
    read_head(top, report, names, flaw);
    each(top, kLabels, 64, report.labels, names, flaw, [&](Row& row) {
        const Name name = row.name();
        return std::pair(name, row.name());
    });
    each(top, kGpus, kMostGpus, report.gpus, names, flaw, [&](Row& row) {
        Gpu gpu = read_gpu(row, names, flaw);
        for (const Gpu& other : report.gpus) {
            if (other.bdf == gpu.bdf) flaw.say("two GPUs have the same address");
        }
        return gpu;
    });
    std::vector<int> told;
    each(top, kHardware, kMostGpus, told, names, flaw,
         [&](Row& row) { return read_hardware(row, report, told.empty() ? -1 : told.back(), flaw); });
    each(top, kProblems, kMostRows, report.problems, names, flaw,
         [&](Row& row) { return read_problem(row, report, names, flaw); });
    each(top, kChecks, kMostRows, report.checks, names, flaw, [&](Row& row) {
        const Name check = row.name();
        return CheckState{check, row.verdict()};
    });
    each(top, kCosts, kMostRows, report.costs, names, flaw, [&](Row& row) {
        CostRow cost;
        cost.model = row.name();
        cost.precision = row.name();
        cost.concurrency = row.amount();
        cost.tokens_per_s = row.amount();
        cost.usd_per_m_output = row.amount();
        return cost;
    });
    for (std::size_t i = 1; i < report.labels.size() && !flaw; ++i) {
        if (names.text(report.labels[i - 1].first) >= names.text(report.labels[i].first))
            flaw.say("labels are not in order");
    }
    if (!flaw && !key_fits(report, names)) flaw.say("key is not one of this machine");
    if (!flaw) contradict(report, names, flaw);
    return report;
}

}  // namespace gpucheck::fleet
