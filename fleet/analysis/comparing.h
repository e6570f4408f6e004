// Two looks at a fleet on their way to a list of changes; see compare.cpp.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "fleet/analysis/selection.h"
#include "fleet/model/policy.h"

namespace gpucheck::fleet {

constexpr std::size_t kFewestPairs = 8;  ///< of nodes or GPUs whose differences have a spread

/// One side, without rehearsals; nodes by key.
struct Side {
    Side(const Fleet& of, const Policy& policy) : fleet(of), chosen(select_reports(of, policy)) {
        for (std::size_t node = 0; node < chosen.nodes.size(); ++node) {
            if (!chosen.counts[node]) continue;
            const NodeReport& report = of.reports[chosen.nodes[node].report];
            by_key.emplace(report.key.empty() ? report.node : report.key, &report);
        }
    }
    const std::string& text(Name name) const { return fleet.names.text(name); }

    const Fleet& fleet;
    Selection chosen;
    std::map<std::string, const NodeReport*> by_key;
};

struct Pair {
    const NodeReport* before;
    const NodeReport* after;
};

/// A GPU on both sides, in the same place or another.
struct GpuPair {
    const NodeReport* then;
    const NodeReport* node;  ///< after
    const Gpu* before;
    const Gpu* after;
};

/// One measurement's logarithms of after / before, oriented so that more is better.
struct Shifts {
    std::string board, metric;
    bool more_is_better = true;
    struct One {
        const NodeReport* node;
        const Gpu* gpu;
        float before, after, shift;
    };
    std::vector<One> all;
};

class Comparing {
  public:
    Comparing(const Fleet& before, const Fleet& after, const Policy& policy)
        : policy_(policy), before_(before, of_its_day(before, policy)), after_(after, policy) {}
    Comparison compare();

  private:
    void pair_nodes();
    std::unordered_set<std::string_view> doubles() const;
    void pair_gpus();
    void facts();
    void wiring(const GpuPair& pair);
    void codes(const Pair& pair);
    void fact(const NodeReport& node, const std::string& subject, const std::string& metric,
              const std::string& before, const std::string& after, bool worse);
    void fold_facts();
    using Pairs = std::map<std::pair<Name, Name>, std::size_t>;  ///< board, metric
    Pairs count_pairs();
    Shifts shifts_of(Name board, Name metric) const;
    void judge_pairs();
    void judge_gpus(const Shifts& shifts, std::size_t tests);
    void judge_fleet(const Shifts& shifts, std::size_t tests);
    void judge_unpaired();
    void doubt(const Shifts& shifts);
    void count_lost();
    void saw(const std::string& metric);
    void note_order();
    void decide();

    const Policy& policy_;
    Side before_, after_;
    std::vector<Pair> nodes_;
    std::vector<GpuPair> gpus_;
    std::vector<Change> facts_;
    std::map<std::string, std::size_t> doubtful_, too_few_, unread_;  ///< by measurement: GPUs
    bool memory_ = false, arithmetic_ = false;  ///< whether any number of it was compared
    Comparison comparison_;
};

}  // namespace gpucheck::fleet
