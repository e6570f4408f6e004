// Finds instances with fewer local NVMe drives than their type has: checkpoints and data sets then do not
// fit, or a striped volume fails to assemble hours later.
#include <algorithm>
#include <array>
#include <string>

#include "checks/all.h"
#include "checks/gpus.h"
#include "checks/promise.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvme.count";

// Network disks that show as NVMe controllers: AWS EBS, Google Persistent Disk, Azure remote disks (model
// strings of amazon-ec2-utils, google-guest-configs and azure-vm-utils).
constexpr std::array<std::string_view, 3> kNetworkDisks{"Amazon Elastic Block Store", "nvme_card-pd",
                                                        "MSFT NVMe Accelerator"};

bool is_network_disk(const NvmeDrive& drive) {
    return drive.model.known() &&
           std::any_of(kNetworkDisks.begin(), kNetworkDisks.end(),
                       [&](std::string_view model) { return drive.model->starts_with(model); });
}

NotApplicable applies(const Snapshot& snapshot) {
    if (!snapshot.expected.local_nvme.known()) return "nobody promised a number of local NVMe drives";
    return std::nullopt;
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const Fact<unsigned>& promised = snapshot.expected.local_nvme;
    const Fact<std::vector<NvmeDrive>>& drives = snapshot.host.nvme_drives;
    const std::string expected = count_of(*promised, "local NVMe drive") + " (" + promised.source() + ")";
    const auto say = [&](std::string_view code, Verdict verdict, const std::string& observed) {
        findings.push_back(finding(code, verdict, {}, expected, observed, drives.source()));
    };
    if (!drives.known()) return say("nvme.count.unread", Verdict::unknown, drives.why());
    std::size_t local = 0, network = 0, unread = 0;
    for (const NvmeDrive& drive : *drives) {
        if (is_network_disk(drive)) {
            ++network;
        } else if (drive.model.known() || drive.controller.absent()) {
            ++local;  // without a driver (spdk, vfio) it is there all the same
        } else {
            ++unread;
        }
    }
    std::string observed = std::to_string(local) + " on the bus";
    if (network > 0) observed += ", " + count_of(network, "network disk") + " beside them";
    if (local + unread < *promised) return say("nvme.count.missing", verdict_of_broken(promised), observed);
    if (local < *promised)
        return say("nvme.count.unread", Verdict::unknown,
                   observed + ", " + std::to_string(unread) + " of unknown kind");
    say(kId, Verdict::pass, observed);
}

}  // namespace

const Check kLocalNvmeCheck{.id = kId,
                            .title = "Local NVMe drives",
                            .impact = Impact::passive,
                            .required_from = Profile::acceptance,
                            .applies = applies,
                            .judge = judge};

}  // namespace gpucheck
