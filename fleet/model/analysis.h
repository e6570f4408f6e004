// What a fleet's reports say together: who is out, who is slow against its peers, what the bad ones share. A
// machine alone knows only loose floors; the eight of four hundred to send back show against the others.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/fleet.h"

namespace gpucheck::fleet {

/// Of one measurement over one group's GPUs. Quantiles by linear interpolation (type 7).
struct Distribution {
    std::size_t count = 0;
    double min = 0, p05 = 0, p25 = 0, median = 0, p75 = 0, p95 = 0, max = 0;
    double mad = 0;  ///< median absolute deviation from the median, times 1.4826: a standard deviation where
                     ///< values are normal
};

/// The healthy centre: drop what violates it, take the centre of the rest, repeat until nothing changes (so a
/// second pass changes nothing).
struct Centre {
    double value = 0;   ///< median of what was kept
    double spread = 0;  ///< robust standard deviation of what was kept
    double bar = 0;     ///< the worst value that still belongs to it
    std::size_t kept = 0, dropped = 0;
};

struct MetricSummary {
    std::string metric;
    bool more_is_better =
        true;  ///< GB/s and TFLOPS; false: latency in us. Power and capacity are shown and not judged
    bool judged = true;
    Distribution distribution;
    std::optional<Centre> centre;  ///< nullopt: too few GPUs to know what is normal
    bool from_baseline = false;    ///< the centre was given, not learned here
};

/// Only like is compared with like.
struct GroupKey {
    std::string board;          ///< board key
    std::string instance_type;  ///< empty: not known
    std::string driver;
    std::string profile;
    std::string mode = {};    ///< of Gpu::mode; empty: not known, which joins nobody of a known one
    unsigned memory_gib = 0;  ///< of the boards of one name; 0: not known
    auto operator<=>(const GroupKey&) const = default;
};

struct Group {
    GroupKey key;
    std::vector<std::size_t> nodes;           ///< into Analysis::nodes
    std::map<Verdict, std::size_t> verdicts;  ///< the nodes' own
    std::vector<MetricSummary> metrics;       ///< sorted by name
};

/// Whom a measurement was compared with. Each finds what the others cannot: one weak chip; a whole node that
/// is mildly slow, because nodes' medians spread far less than chips; one chip of a node that is good as a
/// whole.
enum class Against {
    gpus,     ///< the GPUs of the group
    nodes,    ///< a node's median with the other nodes' medians
    own_node  ///< a GPU with the other GPUs of its node
};

/// One GPU's measurement that its peers do not share.
struct Outlier {
    Against against = Against::gpus;  ///< nodes: value is the node's median, gpu its worst GPU
    std::size_t group = 0;
    std::size_t node = 0;  ///< into Analysis::nodes
    std::size_t gpu = 0;   ///< into the report's gpus
    std::string metric;
    double value = 0, centre = 0;
    double ratio = 0;  ///< value / centre
    double z = 0;      ///< robust; negative is worse, whatever the metric's direction
};

enum class Decision { accept, quarantine, reject, no_evidence };

/// Why a node stands where it stands; rule "code", "outlier", "verdict", "missing measurement", ... is the
/// policy's rule name.
struct Reason {
    Decision decision = Decision::accept;
    std::string rule;
    std::string text;  ///< a sentence with the numbers in it
    int gpu = -1;
};

struct NodeResult {
    std::size_t report = 0;            ///< into Fleet::reports: the newest of this node that counts
    std::vector<std::size_t> earlier;  ///< older ones, newest first
    Decision decision = Decision::no_evidence;
    double evidence = 0;          ///< what nodes are ranked by: more is worse
    std::vector<Reason> reasons;  ///< worst first
};

/// A property that the bad nodes share more often than chance explains (Fisher's exact test, one-sided,
/// corrected for the number of properties tried).
struct Common {
    std::string property;  ///< "driver", "kernel", "zone", "slot", "label rack"
    std::string value;
    std::string problem;  ///< a code or "outlier <metric>", or "any"
    std::size_t bad_with = 0, with = 0, bad = 0, all = 0;
    double p = 1;
};

/// A GPU that was bad more than once, wherever it sat.
struct Offender {
    std::string identity;
    struct Time {
        std::string created, node, problem;
    };
    std::vector<Time> times;  ///< oldest first; one entry a boot
};

struct Analysis {
    std::vector<NodeResult> nodes;  ///< ranked: worst first, then by node name
    std::vector<Group> groups;      ///< sorted by key
    std::vector<Outlier> outliers;  ///< worst first
    std::vector<Common> commons;
    std::vector<Offender> offenders;
    std::map<Decision, std::size_t> decisions;
    Decision decision =
        Decision::no_evidence;       ///< the fleet's: accept, reject, no_evidence (never quarantine)
    std::vector<std::string> why;    ///< sentences
    std::vector<std::string> notes;  ///< what could not be judged, and what would be needed
};

}  // namespace gpucheck::fleet
