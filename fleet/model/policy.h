// What an operator accepts: rules as data over codes and ratios. No expression is ever evaluated.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/model/analysis.h"

namespace gpucheck::fleet {

/// All members that are given have to match (a node, or one of its GPUs).
struct Rule {
    std::string name;
    Decision decision = Decision::reject;
    std::vector<std::string> codes;     ///< exact, or a prefix with ".*" at its end
    std::vector<Verdict> verdicts;      ///< of the node's report
    std::vector<std::string> scopes;    ///< of the problem
    std::string metric;                 ///< with one of the three below; "*": any judged metric
    std::optional<double> ratio_below;  ///< value / centre where more is better, centre / value else
    std::optional<double> z_below;      ///< e.g. -6
    std::optional<double> value_below;  ///< in the metric's own unit
    std::vector<std::string> boards;    ///< only for these board keys; empty: all
    bool missing_metric = false;        ///< matches where the group has the metric and the node lacks it
};

struct Policy {
    std::string name = "default";
    std::vector<Rule> rules;         ///< all are tried; the worst decision counts
    std::size_t min_group = 8;       ///< fewer GPUs of a kind have no "normal"
    double max_age_hours = 0;        ///< older reports are no evidence; 0: any age. Measured against `now`
    bool accept_unverified = true;   ///< false: a report whose signature was not checked is no evidence
    bool accept_unknown = false;     ///< true: a node whose verdict is unknown may be accepted
    bool accept_uncompared = false;  ///< true: a node may be accepted whose speed was not measured, or has
                                     ///< too few peers to be compared with
    double unlike_share = 0.05;  ///< a driver, kernel or firmware that no more than this share of the peers
                                 ///< has is a quarantine (a single node always); 0: it is not looked at
    std::string now;  ///< RFC 3339 in UTC: when it is judged. Of no policy file; empty: no clock is asked,
                      ///< and ages are measured against the newest report
    double max_reject_share = 1.0;  ///< more than this share rejected: the fleet is rejected and the notes
                                    ///< say to look for a common cause first
};

/// Normal values that another fleet, or an earlier day, has shown.
struct Baseline {
    struct Row {
        GroupKey group;
        std::string metric;
        Centre centre;
    };
    std::string created;  ///< of the newest report in it
    std::vector<Row> rows;
};

/// Pure: the same reports in any order give the same analysis.
Analysis analyse(const Fleet& fleet, const Policy& policy, const Baseline* baseline);

/// What `fleet baseline` writes: every centre that enough GPUs support.
Baseline learn(const Fleet& fleet, const Policy& policy);

/// What gpucheck decides by when no policy is given.
Policy default_policy();

/// One measurement of one GPU, or of the fleet, then and now.
struct Change {
    std::string node;     ///< empty: the fleet's group
    std::string subject;  ///< GPU identity or slot; the group's name
    std::string metric;   ///< or "verdict", "driver", "code <code>"
    std::string before, after;
    double ratio = 0;  ///< after / before for measurements, else 0
    double p = 1;      ///< how likely chance makes such a change
    bool worse = false;
};

struct Comparison {
    std::vector<Change> significant;  ///< worst first
    std::size_t nodes_both = 0, nodes_only_before = 0, nodes_only_after = 0;
    std::size_t compared = 0;  ///< pairs of measurements
    bool two_samples = false;  ///< too few pairs: `compared` are medians of nodes on each side
    std::vector<std::string> notes;
    Decision decision =
        Decision::no_evidence;     ///< reject: something is worse; accept: looked at, and nothing is
    std::vector<std::string> why;  ///< why what was compared is not enough
};

Comparison compare(const Fleet& before, const Fleet& after, const Policy& policy);

}  // namespace gpucheck::fleet
