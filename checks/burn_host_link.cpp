// Finds a GPU whose copies from and to the host crawl: loading a model takes minutes, offloading never pays,
// and the link's registers may look right all the while.
#include <algorithm>
#include <set>

#include "checks/all.h"
#include "checks/burn_facts.h"
#include "checks/model/wiring.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "burn.host_link";
// Of what generation and width can carry, copies of pinned memory reach 80 to 90 % (12 to 13 GB/s of a Gen3
// x16, 24 to 26 of Gen4, 52 to 57 of Gen5: nvbandwidth's threads). Below 60 % something beside the link is
// wrong.
constexpr double kLeastOfLink = 0.60;
constexpr double kVirtual = 0.97;

struct Bar {
    double gb_s = 0;
    std::string text;
};

/// GPUs whose copies met on one port: all were tested at the same time.
struct Sharing {
    std::size_t gpus = 1;
    std::string text;
};

Sharing sharing_of(const Snapshot& snapshot, const Device& gpu) {
    const Gpus tested = tested_gpus(snapshot);
    if (tested.size() < 2) return {};
    const bool visible = snapshot.host.bare_metal() && !gpu.pci.path.empty() &&
                         std::none_of(gpu.pci.path.begin(), gpu.pci.path.end(),
                                      [](const PciPort& port) { return port.emulated(); });
    // A guest does not see its host's switches, and two GPUs behind one uplink are common (HGX A100).
    if (!visible) return {2, ", shared by two at most that were tested at once"};
    std::set<Bdf> mine;
    for (const PciPort& port : gpu.pci.path) mine.insert(port.bdf);
    std::size_t meeting = 0;
    for (const Device* other : tested) {
        meeting += std::any_of(other->pci.path.begin(), other->pci.path.end(),
                               [&](const PciPort& port) { return mine.count(port.bdf) != 0; })
                       ? 1
                       : 0;
    }
    if (meeting < 2) return {};
    return {meeting, ", shared by " + std::to_string(meeting) + " behind one port"};
}

/// What the board's floor asks for on the lanes that this machine gives it.
std::optional<Bar> board_floor(const Snapshot& snapshot, const Device& gpu) {
    if (!gpu.board.known() || !gpu.board->pcie_width.known()) return std::nullopt;
    const auto& floors = gpu.board->floors;
    const auto floor = std::find_if(floors.begin(), floors.end(), [](const BoardRate& each) {
        return each.metric == "host_link_gb_s" && each.test.starts_with("pinned copy, one way");
    });
    if (floor == floors.end()) return std::nullopt;
    Bar bar{floor->value, number_text(floor->value) + " GB/s (" + floor->test + "; " + floor->source + ")"};
    const unsigned lanes = *gpu.board->pcie_width;
    const std::optional<WantedWidth> wanted = wanted_width(snapshot, gpu);
    const Fact<unsigned>& now = gpu.pci.link.current_width;
    // Fewer lanes on purpose are judged by pcie.width; here they only carry less.
    unsigned given = wanted && wanted->promised ? wanted->lanes : lanes;
    if (now.known() && narrow_by_design(gpu, *now)) given = std::min(given, *now);
    if (given < lanes) {
        bar.gb_s *= static_cast<double>(given) / lanes;
        bar.text += " x " + std::to_string(given) + " of " + std::to_string(lanes) + " lanes";
    }
    const std::optional<WantedSpeed> speed = wanted_speed(snapshot, gpu);
    const auto most = speed ? link_bandwidth_gb_s(speed->speed, given) : std::nullopt;
    if (most && *most < bar.gb_s) {  // a slower generation was promised
        bar.gb_s = *most * kLeastOfLink;
        bar.text = "60 % of " + rate_text(*most) + " (" + link_text(speed->speed, given) + ", " +
                   speed->source + ")";
    }
    return bar;
}

/// What the link that was seen during the copies carries.
std::optional<Bar> link_floor(const Device& gpu) {
    const auto link = link_under_load(gpu);
    if (!link || !link->width) return std::nullopt;
    const auto speed = link_speed_from_config(link->generation);
    const auto most = speed ? link_bandwidth_gb_s(*speed, *link->width) : std::nullopt;
    if (!most) return std::nullopt;
    return Bar{*most * kLeastOfLink, "60 % of " + rate_text(*most) + " (" + link_text(*speed, *link->width) +
                                         " during the copies)"};
}

Finding judge_rate(const Snapshot& snapshot, const Device& gpu, const MeasuredRate& rate) {
    const Quantity& quantity = *rate.quantity;
    const std::string observed = rate.result->variant + ": " + number_text(quantity.median) + " GB/s (" +
                                 number_text(quantity.min) + " to " + number_text(quantity.max) + " in " +
                                 count_of(quantity.samples, "sample") + ")";
    const std::string& source = rate.result->ran.source();
    std::optional<Bar> bar = board_floor(snapshot, gpu);
    const std::optional<Bar> link = link_floor(gpu);
    if (!bar || (link && link->gb_s > bar->gb_s)) bar = link;
    if (!bar) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, "a floor or a link that was sampled",
                       "neither; judged against the other GPUs of this machine alone; " + observed, source);
    }
    const Sharing sharing = sharing_of(snapshot, gpu);
    const double least =
        bar->gb_s / static_cast<double>(sharing.gpus) * (snapshot.host.bare_metal() ? 1 : kVirtual);
    std::string expected = "at least " + number_text(least) + " GB/s: " + bar->text + sharing.text;
    if (quantity.median >= least) return finding(kId, Verdict::pass, gpu.bdf, expected, observed, source);
    // Several GPUs at once also meet in the host's memory: only one that copied alone fails by a floor. That
    // one of several is slower than its neighbours is found by burn.uneven.
    const bool alone = tested_gpus(snapshot).size() == 1;
    const bool fails = alone && quantity.samples >= kRepeated && quantity.max < least;
    return finding("burn.host_link.slow", fails ? Verdict::fail : Verdict::warn, gpu.bdf, std::move(expected),
                   observed, source);
}

std::optional<std::string> not_comparable(const Snapshot& snapshot, const Device& gpu) {
    if (on_superchip(gpu)) return "a coherent link in place of PCIe";
    if (gpu.vendor == Vendor::nvidia && snapshot.host.nvml.confidential_compute.is(true))
        return "confidential computing copies everything through bounce buffers";
    return untimed(gpu);
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : tested_gpus(snapshot)) {
        if (const auto why = not_comparable(snapshot, *gpu)) {
            findings.push_back(not_by_time(kId, *gpu, *why));
            continue;
        }
        const std::string gap = rate_gap(*gpu, "host_link", true);
        std::size_t judged = 0;
        if (!gap.empty()) findings.push_back(unmeasured(*gpu, gap));
        for (const MeasuredRate& rate : rates_of(*gpu, "host_link_")) {
            // Both ways at once has no published floor that is not the same test's one way twice.
            if (rate.result->variant == "both") continue;
            findings.push_back(judge_rate(snapshot, *gpu, rate));
            ++judged;
        }
        if (gap.empty() && judged == 0)
            findings.push_back(not_by_time(kId, *gpu, "no sound result: see the check burn"));
    }
}

}  // namespace

const Check kBurnHostLinkCheck{.id = kId,
                               .title = "Host link under load",
                               .impact = Impact::passive,
                               .required_from = Profile::boot,
                               .applies = without_burn_in,
                               .judge = judge};

}  // namespace gpucheck
