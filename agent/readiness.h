// Tells a GPU that is not there yet from one that is broken: a verdict given while DKMS still builds or
// firmware still starts condemns a healthy machine, and one given before the last GPU joined passes a short
// one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checks/model/fact.h"
#include "checks/model/snapshot.h"

namespace gpucheck::readiness {

/// What stands between a booting machine and its GPUs, in the order of boot.
enum class Hurdle : std::uint8_t { bus, module, bind, nodes, count, fabric, settle, none };
std::string_view name_of(Hurdle hurdle);

/// Why, as far as files tell. From `package_lock` to `fabric_training` somebody is at work on it.
enum class Cause : std::uint8_t {
    none,              ///< nothing seen that would bring it
    unread,            ///< the place that would tell could not be read
    package_lock,      ///< a package manager works
    dkms_build,        ///< DKMS builds modules
    module_loading,    ///< modprobe runs, or the module is "coming": firmware and GPUs start
    driver_answering,  ///< a driver's library was asked and has not returned
    manager_starting,  ///< the fabric manager is enabled and has no process yet
    fabric_training,   ///< GPUs register with the NVSwitch fabric
    not_loaded,        ///< the module is on the disk and nobody loads it
    blacklisted,
    denied,  ///< a device node refuses this process
};
std::string_view name_of(Cause cause);
/// Somebody is at work: what fails now may be right in a minute.
bool under_way(Cause cause);

/// One thing that a file shows to be going on.
struct Busy {
    Cause cause = Cause::none;
    std::string what;  ///< "apt-get holds /var/lib/dpkg/lock-frontend"
};

/// The GPUs that one vendor's driver has to bring up. Those of guests and those that another driver holds
/// are not among them: nobody waits for these.
struct VendorLook {
    explicit VendorLook(std::string_view name) : driver(name) {}

    std::string_view driver;          ///< "amdgpu", "nvidia"
    unsigned gpus = 0, bound = 0;     ///< on the bus; held by the driver
    Fact<std::string> module;         ///< "absent", "coming", "live", "going", "builtin"
    Fact<std::string> module_file;    ///< "" when the running kernel has none
    Fact<std::string> blocked_by;     ///< "" when nothing
    std::vector<std::string> closed;  ///< "/dev/kfd: ENOENT"
    bool counting = false;            ///< the library was asked just now and has not answered
    Fact<unsigned> counted;           ///< GPUs that KFD has nodes for, or that NVML gives a handle for
};

/// What one look found.
struct Look {
    Fact<unsigned> on_bus, promised;
    VendorLook amd{"amdgpu"}, nvidia{"nvidia"};
    unsigned fabric_pending = 0;  ///< GPUs whose registration with the NVSwitch fabric goes on
    std::string manager_absent;   ///< what lacks for the fabric manager to work; empty: nothing
    std::vector<Busy> busy;
};

/// Where the wait stands.
struct State {
    Hurdle hurdle = Hurdle::bus;
    Cause cause = Cause::none;
    std::string text;  ///< one line: what is missing and why

    unsigned on_bus = 0;                 ///< GPUs of the last look
    std::chrono::milliseconds since{0};  ///< when this state began
    unsigned complete = 0;               ///< looks in a row that found everything
    bool gave_up = false;                ///< over, although something is missing that nobody works on

    bool over() const { return hurdle == Hurdle::none; }
    /// The same hurdle for the same reason: nothing new to tell.
    bool same_as(const State& other) const {
        return hurdle == other.hurdle && cause == other.cause && text == other.text;
    }
};

/// Complete in so many looks running: a count that still grows is not an answer.
inline constexpr unsigned kStableLooks = 3;
/// The bus does not fill up late but by hot plug: a promise that it does not keep by then is judged as it is.
inline constexpr std::chrono::milliseconds kBusPatience{15'000};
/// A loaded driver that refused a GPU, and nobody at work: nothing to wait for.
inline constexpr std::chrono::milliseconds kDriverPatience{60'000};

/// What `look`, taken `at` after the start of the wait, makes of the state before. Pure.
State advance(const State& before, const Look& look, std::chrono::milliseconds at);

/// 120 s and 15 s for each GPU, up to ten minutes: eight B200 attach in 3 to 4 s each
/// (tinfoilsh/cvmimage#363), H200 take more than 120 s together (NVIDIA/nvrc#159).
std::chrono::milliseconds automatic_limit(unsigned gpus);
inline constexpr std::chrono::milliseconds kLongestAutomatic{600'000};

/// The look that a snapshot amounts to. `module_states`: what /sys/module/NAME/initstate says of amdgpu and
/// nvidia.
struct ModuleStates {
    Fact<std::string> amdgpu, nvidia;
};
Look look_of(const Snapshot& snapshot, const ModuleStates& modules, std::vector<Busy> busy);

}  // namespace gpucheck::readiness
