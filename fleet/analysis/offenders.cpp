// Finds GPUs that were bad before, wherever they sat: most of a large fleet's lost time comes from a few
// lemons that pass again after each reboot ("Revisiting Reliability in Large-Scale ML Clusters", HPCA 2025).
#include <algorithm>
#include <set>
#include <unordered_map>

#include "fleet/analysis/deliberation.h"

namespace gpucheck::fleet {
namespace {

/// What is wrong with a GPU by its own report: the first failing code by name.
std::string failing_code(const Deliberation& work, const NodeReport& report, std::size_t gpu) {
    std::string code;
    for (const Problem& problem : report.problems) {
        if (problem.verdict != Verdict::fail || problem.gpu != static_cast<int>(gpu)) continue;
        if (code.empty() || work.text(problem.code) < code) code = work.text(problem.code);
    }
    return code;
}

class Bars {
  public:
    explicit Bars(const Deliberation& work) : work_(work) {
        for (const WorkGroup& group : work.groups) {
            const GroupKey& key = group.group.key;
            by_key_[{work.fleet.names.find(key.board), work.fleet.names.find(key.instance_type),
                     work.fleet.names.find(key.driver), work.fleet.names.find(key.profile),
                     work.fleet.names.find(key.mode), key.memory_gib}] = &group.group;
        }
    }

    /// The worst measurement below the bar of the group as it is today.
    std::string slow_metric(const NodeReport& report, std::size_t gpu) const {
        const auto group =
            by_key_.find({report.gpus[gpu].board, report.instance_type, report.driver, report.profile,
                          report.gpus[gpu].mode, work_.memory.of(report, gpu)});
        if (group == by_key_.end()) return {};
        for (const Value& value : report.gpus[gpu].values) {
            const std::string& name = work_.text(value.metric);
            const auto summary = std::lower_bound(
                group->second->metrics.begin(), group->second->metrics.end(), name,
                [](const MetricSummary& each, const std::string& text) { return each.metric < text; });
            if (summary == group->second->metrics.end() || summary->metric != name || !summary->centre)
                continue;
            const bool worse = summary->more_is_better ? value.value < summary->centre->bar
                                                       : value.value > summary->centre->bar;
            if (worse) return "outlier " + name;
        }
        return {};
    }

  private:
    const Deliberation& work_;
    std::map<std::tuple<Name, Name, Name, Name, Name, unsigned>, const Group*> by_key_;
};

struct Sighting {
    std::string_view identity;
    Offender::Time time;
    std::string_view boot;
};

void collect(const Deliberation& work, const Bars& bars, std::size_t report_index,
             const std::set<std::pair<std::size_t, std::size_t>>& slow_now,
             std::vector<Sighting>& sightings) {
    const NodeReport& report = work.fleet.reports[report_index];
    if (report.simulated || report.injected || (!work.policy.accept_unverified && !report.verified)) return;
    for (std::size_t gpu = 0; gpu < report.gpus.size(); ++gpu) {
        if (report.gpus[gpu].identity.empty()) continue;
        std::string problem = failing_code(work, report, gpu);
        if (problem.empty()) problem = bars.slow_metric(report, gpu);
        if (problem.empty() && slow_now.contains({report_index, gpu})) problem = "outlier";
        if (problem.empty()) continue;
        sightings.push_back({report.gpus[gpu].identity,
                             {report.created, report.node, problem},
                             report.boot_id.empty() ? report.report_id : report.boot_id});
    }
}

}  // namespace

void find_offenders(Deliberation& work, std::vector<Offender>& offenders) {
    const Bars bars(work);
    std::set<std::pair<std::size_t, std::size_t>> slow_now;
    for (const Outlier& outlier : work.outliers) {
        if (outlier.against != Against::nodes) slow_now.emplace(work.nodes[outlier.node].report, outlier.gpu);
    }
    std::vector<Sighting> sightings;
    for (const NodeResult& node : work.nodes) {
        collect(work, bars, node.report, slow_now, sightings);
        for (const std::size_t earlier : node.earlier) collect(work, bars, earlier, slow_now, sightings);
    }
    std::sort(sightings.begin(), sightings.end(), [](const Sighting& a, const Sighting& b) {
        return std::tie(a.identity, a.time.created, a.time.node, a.boot, a.time.problem) <
               std::tie(b.identity, b.time.created, b.time.node, b.boot, b.time.problem);
    });
    for (std::size_t first = 0; first < sightings.size();) {
        std::size_t end = first;
        std::set<std::string_view> boots;
        Offender offender{std::string(sightings[first].identity), {}};
        for (; end < sightings.size() && sightings[end].identity == sightings[first].identity; ++end) {
            if (boots.insert(sightings[end].boot).second) offender.times.push_back(sightings[end].time);
        }
        if (offender.times.size() > 1) offenders.push_back(std::move(offender));
        first = end;
    }
    std::stable_sort(offenders.begin(), offenders.end(),
                     [](const Offender& a, const Offender& b) { return a.times.size() > b.times.size(); });
    if (offenders.empty()) return;
    std::unordered_map<std::string_view, const Offender*> by_identity;
    for (const Offender& offender : offenders) by_identity.emplace(offender.identity, &offender);
    for (std::size_t node = 0; node < work.nodes.size(); ++node) {
        if (!work.counts[node]) continue;
        const std::vector<Gpu>& gpus = work.report(node).gpus;
        for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
            const auto found = by_identity.find(gpus[gpu].identity);
            if (found == by_identity.end()) continue;
            const auto& times = found->second->times;
            work.mark(node, static_cast<int>(gpu), "repeat offender");
            work.add(node, Decision::quarantine, "repeat offender",
                     "GPU " + work.text(gpus[gpu].bdf) + " (" + found->second->identity + ") was bad in " +
                         std::to_string(times.size()) + " boots, first " + times.front().created + " in " +
                         times.front().node + " (" + times.front().problem + ")",
                     static_cast<int>(gpu));
        }
    }
}

}  // namespace gpucheck::fleet
