// Finds clocks that no time source disciplines: certificates and tokens then fail on some machines of a fleet
// and on some days only.
#include "checks/all.h"

namespace gpucheck {
namespace {

// Time services need a network and a few polls; before that "not yet" is no fault.
constexpr double kBootSeconds = 120.0;

void judge(const Snapshot& snapshot, Findings& findings) {
    const Fact<bool>& synchronized = snapshot.host.time_synchronized;
    const Fact<double>& uptime = snapshot.host.uptime_s;
    const std::string expected = "synchronized by a time service";
    if (!synchronized.known()) {
        findings.push_back(finding("time.unread", Verdict::unknown, {}, expected, synchronized.why(),
                                   synchronized.source()));
    } else if (*synchronized) {
        findings.push_back(finding("time.sync", Verdict::pass, {}, expected, "yes", synchronized.source()));
    } else if (uptime.known() && *uptime < kBootSeconds) {
        findings.push_back(finding("time.pending", Verdict::unknown, {}, expected,
                                   "not yet, within two minutes of boot", synchronized.source()));
    } else {
        findings.push_back(
            finding("time.unsynchronized", Verdict::warn, {}, expected, "no", synchronized.source()));
    }
}

}  // namespace

const Check kTimeSyncCheck{.id = "time.sync",
                           .title = "Time synchronisation",
                           .impact = Impact::passive,
                           .required_from = Profile::acceptance,
                           .applies = nullptr,
                           .judge = judge};

}  // namespace gpucheck
