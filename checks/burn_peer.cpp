// Finds the pair of GPUs that talks slower than the others: a collective over eight GPUs runs at the pace of
// its worst link.
#include <cmath>
#include <set>

#include "checks/all.h"
#include "checks/burn_node.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "burn.peer";
// Pairs of one kind lie within a few percent of each other (48.6 to 49.0 GB/s over all of an MI300X
// machine's: documentation of the ROCm Validation Suite); half of the others' is a link short, or another
// path.
constexpr double kWarns = 0.80, kFails = 0.50;

struct Pair {
    const Device* from = nullptr;
    const ExperimentResult* result = nullptr;
    const Quantity* quantity = nullptr;  ///< nullptr: no sound rate
    std::string kind;
};

const Device* device_at(const Snapshot& snapshot, const std::string& address) {
    const auto bdf = Bdf::parse(address);
    for (const Device& gpu : snapshot.gpus) {
        if (bdf && gpu.bdf == *bdf) return &gpu;
    }
    return nullptr;
}

/// "4 links", "switched": NVLinks between two GPUs as NVML tells them.
std::string nvlink_kind(const Device& from, const Device& to) {
    const auto& links = from.telemetry.first.nvidia.nvlinks;
    if (!links.known()) return "";
    std::size_t direct = 0, switched = 0;
    for (const NvLink& link : *links) {
        if (!link.active.is(true)) continue;
        if (link.remote.known() && Bdf::parse(*link.remote) == to.bdf) ++direct;
        switched += link.remote_type.is("switch") ? 1 : 0;
    }
    if (direct != 0) return count_of(direct, "NVLink");
    return switched != 0 ? "switched" : "no NVLink";
}

/// "xGMI 15": the weight of the link between two GPUs as KFD tells it.
std::string xgmi_kind(const Device& from, const Device& to) {
    if (from.amd.kfd_nodes.empty() || to.amd.kfd_nodes.empty()) return "";
    const auto& peers = from.amd.kfd_nodes.front().xgmi_peers;
    if (!peers.known()) return "";
    for (const KfdPeer& peer : *peers) {
        if (peer.node == to.amd.kfd_nodes.front().node) return "xGMI " + std::to_string(peer.weight);
    }
    return "no xGMI";
}

/// Only pairs that are wired alike are compared: a bridge joins two of eight, and sockets lie between others.
std::string kind_of(const Snapshot& snapshot, const Device& from, const ExperimentResult& result) {
    const Device* to = device_at(snapshot, result.peer);
    if (to == nullptr) return result.variant;
    const std::string link = from.vendor == Vendor::amd ? xgmi_kind(from, *to) : nvlink_kind(from, *to);
    std::string kind = result.variant + " " + link;
    if (link == "switched" || link.starts_with("xGMI")) return kind;
    const Fact<int>&mine = from.pci.numa_node, &theirs = to->pci.numa_node;
    kind += mine.known() && theirs.known() ? (*mine == *theirs ? ", one node" : ", two nodes") : "";
    const auto port_of = [](const Device& gpu) {
        return gpu.pci.path.empty() ? gpu.bdf : gpu.pci.path.back().bdf;
    };
    return kind + (port_of(from) == port_of(*to) ? ", one root port" : "");
}

std::vector<Pair> pairs_of(const Snapshot& snapshot) {
    std::vector<Pair> pairs;
    for (const Device* gpu : tested_gpus(snapshot)) {
        std::set<std::string> seen;
        for (const ExperimentResult& result : *gpu->burn_in.results) {
            const bool pair = result.experiment == "peer" && device_at(snapshot, result.peer) != nullptr;
            if (!pair || !seen.insert(result.peer).second) continue;
            Pair& added = pairs.emplace_back(Pair{gpu, &result, nullptr, kind_of(snapshot, *gpu, result)});
            if (!is_sound(result) || result.quantities.empty()) continue;
            const Quantity& quantity = result.quantities.front();
            if (quantity.unit == "GB/s" && quantity.median > 0 && std::isfinite(quantity.median))
                added.quantity = &quantity;
        }
    }
    return pairs;
}

Finding told(const Pair& pair, const std::string& why) {
    return finding(kId, Verdict::not_applicable, pair.from->bdf, "a rate to compare",
                   "to " + pair.result->peer + ": " + why, pair.result->ran.source());
}

Finding judge_pair(const Pair& pair, const std::vector<Pair>& all) {
    if (pair.quantity == nullptr) {
        return told(pair, pair.result->ran.known() ? "no sound result: see the check burn"
                                                   : "not possible: " + pair.result->ran.why());
    }
    std::vector<double> rates;
    for (const Pair& other : all) {
        if (other.result != pair.result && other.quantity != nullptr && other.kind == pair.kind)
            rates.push_back(other.quantity->median);
    }
    const Quantity& mine = *pair.quantity;
    const std::string observed = "to " + pair.result->peer + ", " + pair.kind + ": " +
                                 number_text(mine.median) + " GB/s (" + number_text(mine.min) + " to " +
                                 number_text(mine.max) + ")";
    const auto others = standing(rates);
    if (!others) return told(pair, "fewer than two other pairs are wired alike; " + observed);
    const std::string expected = "at least 80 % of " + number_text(others->median) + " GB/s, the median of " +
                                 count_of(others->count, "other pair") + " wired alike";
    const std::string& source = pair.result->ran.source();
    const bool slow =
        mine.median < others->median * kWarns && others->median - mine.median > others->usual_distance;
    if (!slow) return finding(kId, Verdict::pass, pair.from->bdf, expected, observed, source);
    // Through the host a copy meets whatever else the machine does.
    const bool fails =
        pair.result->variant == "direct" && mine.samples >= kRepeated && mine.max < others->median * kFails;
    return finding("burn.peer.slow", fails ? Verdict::fail : Verdict::warn, pair.from->bdf, expected,
                   observed, source);
}

NotApplicable applies(const Snapshot& snapshot) {
    if (NotApplicable none = without_burn_in(snapshot)) return none;
    if (pairs_of(snapshot).empty()) return "no pair of GPUs was tested";
    return std::nullopt;
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const std::vector<Pair> pairs = pairs_of(snapshot);
    for (const Device* gpu : tested_gpus(snapshot)) {
        if (const auto why = untimed(*gpu)) findings.push_back(not_by_time(kId, *gpu, *why));
    }
    for (const Pair& pair : pairs) {
        if (!untimed(*pair.from)) findings.push_back(judge_pair(pair, pairs));
    }
}

}  // namespace

const Check kBurnPeerCheck{.id = kId,
                           .title = "Copies between GPUs",
                           .impact = Impact::passive,
                           .required_from = Profile::boot,
                           .applies = applies,
                           .judge = judge};

}  // namespace gpucheck
