// Finds instances with fewer network functions for GPU traffic than their type has: a cluster trains at the
// pace of the node that lost one of eight, and no GPU check sees it.
#include <algorithm>
#include <string>

#include "checks/all.h"
#include "checks/gpus.h"
#include "checks/promise.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nic.count";

NotApplicable applies(const Snapshot& snapshot) {
    if (!snapshot.expected.rdma_nics.known()) return "nobody promised a number of RDMA network functions";
    return std::nullopt;
}

struct Nics {
    std::size_t on_bus = 0, without_device = 0, unread = 0;
};

// Beside InfiniBand an Ethernet function of the same maker is the instance's own network (Azure's accelerated
// networking, "mlx5_an0" in azurehpc-health-checks), which must not stand in for a lost one.
Nics count(const std::vector<RdmaNic>& nics) {
    const bool infiniband =
        std::any_of(nics.begin(), nics.end(), [](const RdmaNic& nic) { return nic.infiniband; });
    Nics result;
    for (const RdmaNic& nic : nics) {
        if (infiniband && !nic.infiniband) continue;
        if (!nic.device.known() && !nic.device.absent()) {
            ++result.unread;
            continue;
        }
        ++result.on_bus;
        if (nic.device.absent()) ++result.without_device;
    }
    return result;
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const Fact<unsigned>& promised = snapshot.expected.rdma_nics;
    const Fact<std::vector<RdmaNic>>& nics = snapshot.host.rdma_nics;
    const std::string expected =
        count_of(*promised, "RDMA network function") + " (" + promised.source() + ")";
    const auto say = [&](std::string_view code, Verdict verdict, const std::string& observed) {
        findings.push_back(finding(code, verdict, {}, expected, observed, nics.source()));
    };
    if (!nics.known()) return say("nic.count.unread", Verdict::unknown, nics.why());
    const Nics found = count(*nics);
    const std::string observed = std::to_string(found.on_bus) + " on the bus";
    if (found.on_bus + found.unread < *promised)
        return say("nic.count.missing", verdict_of_broken(promised), observed);
    if (found.on_bus < *promised)
        return say("nic.count.unread", Verdict::unknown,
                   observed + ", " + std::to_string(found.unread) + " could not be read");
    if (found.on_bus - found.without_device < *promised)
        return say("nic.driver.none", Verdict::warn,
                   observed + ", " + std::to_string(found.without_device) + " without an RDMA device");
    say(kId, Verdict::pass, observed);
}

}  // namespace

const Check kRdmaNicsCheck{.id = kId,
                           .title = "Network functions for GPU traffic",
                           .impact = Impact::passive,
                           .required_from = Profile::acceptance,
                           .applies = applies,
                           .judge = judge};

}  // namespace gpucheck
