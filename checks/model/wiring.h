// How a GPU is supposed to be wired to its machine, and when its link registers mean nothing: shared by the
// checks that judge links, so that they never contradict each other about one GPU.
#pragma once

#include <optional>
#include <string>

#include "checks/model/snapshot.h"

namespace gpucheck {

/// GH200, GB200 and their kind reach the CPU over a coherent link and show a placeholder "Gen1 x1" (nvtop
/// PR#499).
bool on_superchip(const Device& gpu);

/// Runtime-suspended functions answer reads with all ones or with stale values (Linux
/// Documentation/power/pci.rst).
bool asleep(const PciFunction& function);

/// A link that no device has: a virtual or coherent-attach port prints speed Unknown and width 0.
bool is_virtual_link(const PciLink& link);

/// Reads of all ones: speed Unknown and width 63, or vendor 0xffff. The device no longer answers.
bool reads_all_ones(const PciLink& link, const Fact<std::uint16_t>& vendor);

struct WantedWidth {
    unsigned lanes = 0;
    bool promised = false;  ///< somebody said so for this machine; else it is what the board can do
    std::string source;
};
/// nullopt when nobody outside the GPU says how wide its link is.
std::optional<WantedWidth> wanted_width(const Snapshot& snapshot, const Device& gpu);

struct WantedSpeed {
    LinkSpeed speed = LinkSpeed::unknown;
    bool promised = false;
    std::string source;
};
std::optional<WantedSpeed> wanted_speed(const Snapshot& snapshot, const Device& gpu);

/// True when some platforms wire this board with `lanes` on purpose (A10G on AWS: x8 of x16).
bool narrow_by_design(const Device& gpu, unsigned lanes);

/// "32.0 GT/s x16".
std::string link_text(LinkSpeed speed, unsigned width);
/// "31.5 GB/s".
std::string rate_text(double gb_s);
/// Why the first of the facts that is missing is missing: "EACCES"; empty when all are known.
template <class... Facts>
std::string first_missing(const Facts&... facts) {
    std::string why;
    ((why.empty() && !facts.known() ? void(why = facts.why()) : void()), ...);
    return why;
}

}  // namespace gpucheck
