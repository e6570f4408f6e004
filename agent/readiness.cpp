// The state machine of the wait; see readiness.h.
#include "agent/readiness.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "checks/model/vocabulary.h"

namespace gpucheck::readiness {
namespace {

using std::chrono::milliseconds;

constexpr std::array<std::string_view, 8> kHurdles{"bus",   "module", "bind",   "nodes",
                                                   "count", "fabric", "settle", "none"};
constexpr std::array<std::string_view, 11> kCauses{"none",
                                                   "unread",
                                                   "package_lock",
                                                   "dkms_build",
                                                   "module_loading",
                                                   "driver_answering",
                                                   "manager_starting",
                                                   "fabric_training",
                                                   "not_loaded",
                                                   "blacklisted",
                                                   "denied"};

struct Obstacle {
    Hurdle hurdle;
    Cause cause;
    std::string text;
};

std::string of(unsigned some, unsigned all) {
    return std::to_string(some) + " of " + std::to_string(all) + (all == 1 ? " GPU" : " GPUs");
}

std::string listed(const std::vector<std::string>& items) {
    constexpr std::size_t kShown = 4;
    std::string text;
    for (std::size_t i = 0; i < std::min(items.size(), kShown); ++i) text += (i == 0 ? "" : ", ") + items[i];
    if (items.size() > kShown) text += " and " + std::to_string(items.size() - kShown) + " more";
    return text;
}

/// The work that is under way explains best why something is not there yet.
Obstacle with_work(Obstacle obstacle, const Look& look) {
    if (look.busy.empty()) return obstacle;
    obstacle.cause = look.busy.front().cause;
    obstacle.text += ": " + look.busy.front().what;
    return obstacle;
}

Obstacle module_missing(const VendorLook& vendor, const Look& look) {
    Obstacle obstacle{Hurdle::module, Cause::none, std::string(vendor.driver) + " is not loaded"};
    if (!look.busy.empty()) return with_work(std::move(obstacle), look);
    if (vendor.blocked_by.known() && !vendor.blocked_by->empty()) {
        obstacle.cause = Cause::blacklisted;
        obstacle.text += ": blacklisted by " + *vendor.blocked_by;
    } else if (!vendor.module_file.known()) {
        obstacle.cause = Cause::unread;
        obstacle.text += ": " + vendor.module_file.source() + ": " + vendor.module_file.why();
    } else if (vendor.module_file->empty()) {
        obstacle.text += ": the running kernel has no such module";
    } else {
        obstacle.cause = Cause::not_loaded;
        obstacle.text += ": the module is there and nobody loads it";
    }
    return obstacle;
}

std::optional<Obstacle> binding(const VendorLook& vendor, const Look& look) {
    if (vendor.bound >= vendor.gpus) return std::nullopt;
    const std::string name(vendor.driver);
    if (vendor.module.is("absent")) return module_missing(vendor, look);
    const std::string held = name + " holds " + of(vendor.bound, vendor.gpus);
    if (vendor.module.is("coming"))
        return Obstacle{Hurdle::bind, Cause::module_loading, held + ", and starts"};
    if (!vendor.module.known()) {
        return with_work(
            {Hurdle::bind, Cause::unread, held + "; " + vendor.module.source() + ": " + vendor.module.why()},
            look);
    }
    return with_work({Hurdle::bind, Cause::none, held}, look);
}

std::optional<Obstacle> opening(const VendorLook& vendor, const Look& look) {
    if (vendor.closed.empty()) return std::nullopt;
    const bool denied = std::all_of(vendor.closed.begin(), vendor.closed.end(), [](const std::string& node) {
        return node.ends_with(": EACCES") || node.ends_with(": EPERM");
    });
    Obstacle obstacle{Hurdle::nodes, denied ? Cause::denied : Cause::none,
                      "device nodes do not open: " + listed(vendor.closed)};
    return denied ? obstacle : with_work(std::move(obstacle), look);
}

std::optional<Obstacle> counting(const VendorLook& vendor, const Look& look) {
    const bool nvidia = vendor.driver == "nvidia";
    if (vendor.counting) {
        return Obstacle{Hurdle::count, Cause::driver_answering,
                        "NVML was asked for " + of(vendor.gpus, vendor.gpus)};
    }
    if (!vendor.counted.known()) {
        return Obstacle{Hurdle::count, Cause::unread, vendor.counted.source() + ": " + vendor.counted.why()};
    }
    if (*vendor.counted >= vendor.gpus) return std::nullopt;
    return with_work(
        {Hurdle::count, Cause::none,
         (nvidia ? "NVML gives a handle for " : "KFD has nodes for ") + of(*vendor.counted, vendor.gpus)},
        look);
}

/// The first thing that is missing for one vendor. NVIDIA's nodes are made by the first client of NVML, so
/// NVML is asked before they are looked for (nvidia-modprobe(1)).
std::optional<Obstacle> obstacle_of(const VendorLook& vendor, const Look& look) {
    if (vendor.gpus == 0) return std::nullopt;
    if (auto found = binding(vendor, look)) return found;
    const bool nvidia = vendor.driver == "nvidia";
    if (auto found = nvidia ? counting(vendor, look) : opening(vendor, look)) return found;
    return nvidia ? opening(vendor, look) : counting(vendor, look);
}

std::optional<Obstacle> fabric(const Look& look) {
    if (look.nvidia.gpus == 0) return std::nullopt;
    if (!look.manager_absent.empty())
        return Obstacle{Hurdle::fabric, Cause::manager_starting, look.manager_absent};
    if (look.fabric_pending == 0) return std::nullopt;
    return Obstacle{Hurdle::fabric, Cause::fabric_training,
                    of(look.fabric_pending, look.nvidia.gpus) + " still register with the NVSwitch fabric"};
}

std::optional<Obstacle> first_obstacle(const Look& look, bool bus_settled) {
    if (!look.on_bus.known()) {
        return Obstacle{Hurdle::bus, Cause::unread, look.on_bus.source() + ": " + look.on_bus.why()};
    }
    if (!bus_settled && look.promised.known() && *look.on_bus < *look.promised) {
        return Obstacle{Hurdle::bus, Cause::none,
                        of(*look.on_bus, *look.promised) + " that were promised are on the bus"};
    }
    for (const VendorLook* vendor : {&look.amd, &look.nvidia}) {
        if (auto found = obstacle_of(*vendor, look)) return found;
    }
    return fabric(look);
}

bool gives_up(const Obstacle& obstacle) {
    const bool of_a_loaded_driver = obstacle.hurdle == Hurdle::bind || obstacle.hurdle == Hurdle::nodes ||
                                    obstacle.hurdle == Hurdle::count;
    return of_a_loaded_driver && !under_way(obstacle.cause);
}

std::string complete_text(const Look& look) {
    if (look.on_bus.is(0U)) return "no GPU on the bus";
    const unsigned ours = look.amd.gpus + look.nvidia.gpus;
    if (ours == 0) return "no GPU that this machine's driver would bring up";
    return of(ours, ours) + " ready";
}

}  // namespace

std::string_view name_of(Hurdle hurdle) {
    return name_in(kHurdles, hurdle);
}
std::string_view name_of(Cause cause) {
    return name_in(kCauses, cause);
}

bool under_way(Cause cause) {
    return cause >= Cause::package_lock && cause <= Cause::fabric_training;
}

State advance(const State& before, const Look& look, milliseconds at) {
    State state;
    state.on_bus = look.on_bus.known() ? *look.on_bus : before.on_bus;
    // The bus stands still since the state began or since its count changed, which changes the text.
    const bool bus_settled =
        before.hurdle != Hurdle::bus || (before.on_bus == state.on_bus && at - before.since >= kBusPatience);
    if (auto obstacle = first_obstacle(look, bus_settled)) {
        state.hurdle = obstacle->hurdle;
        state.cause = obstacle->cause;
        state.text = std::move(obstacle->text);
        state.since = state.same_as(before) ? before.since : at;
        if (gives_up(Obstacle{state.hurdle, state.cause, {}}) && at - state.since >= kDriverPatience) {
            state.hurdle = Hurdle::none;
            state.gave_up = true;
            state.text += ", and nobody is at work on it: judged as it is";
        }
        return state;
    }
    state.complete = before.complete + 1;
    // Nothing is left that could still come: no driver to wait for.
    const bool nothing_to_wait_for = look.amd.gpus + look.nvidia.gpus == 0;
    state.hurdle = nothing_to_wait_for || state.complete >= kStableLooks ? Hurdle::none : Hurdle::settle;
    state.text = complete_text(look);
    state.since = state.same_as(before) ? before.since : at;
    return state;
}

milliseconds automatic_limit(unsigned gpus) {
    constexpr milliseconds kBase{120'000}, kEach{15'000};
    return std::min(kLongestAutomatic, kBase + kEach * std::min(gpus, 64U));
}

}  // namespace gpucheck::readiness
