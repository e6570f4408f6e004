// What a report's own parts say about each other: a pass beside a fault, or without anything that passed, is
// a lie or a defect, and never evidence.
#include <cstdint>
#include <optional>
#include <string>

#include "agent/report/report_id.h"
#include "fleet/read/report.h"

namespace gpucheck::fleet {

std::string utc_of(std::string_view time) {
    const std::optional<std::int64_t> seconds = report::unix_seconds(time);
    return seconds ? report::rfc3339_utc(*seconds) : std::string();
}

bool is_report_id(std::string_view id) {
    constexpr std::string_view kForm = "xxxxxxxx-xxxx-7xxx-vxxx-xxxxxxxxxxxx";
    if (id.size() != kForm.size()) return false;
    for (std::size_t i = 0; i < id.size(); ++i) {
        const char c = id[i];
        const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        const bool variant = c == '8' || c == '9' || c == 'a' || c == 'b';
        const bool fits = kForm[i] == 'x' ? hex : kForm[i] == 'v' ? variant : c == kForm[i];
        if (!fits) return false;
    }
    return true;
}

void contradict(const NodeReport& report, const Vocabulary& names, Verdict worst_required, bool any_passed,
                Flaw& flaw) {
    const std::string claim = "contradicts itself: its verdict is " + std::string(name_of(report.verdict));
    for (const Problem& problem : report.problems) {
        if (problem.verdict > report.verdict)
            return flaw.say(claim + ", its finding " + names.text(problem.code) + " is " +
                            std::string(name_of(problem.verdict)));
    }
    if (worst_required > report.verdict)
        return flaw.say(claim + ", one of its checks ended with " + std::string(name_of(worst_required)));
    for (const Gpu& gpu : report.gpus) {
        if (gpu.verdict > report.verdict && gpu.verdict != Verdict::unknown)
            return flaw.say(claim + ", its GPU " + names.text(gpu.bdf) + " has " +
                            std::string(name_of(gpu.verdict)));
    }
    // A GPU that is counted and not shown cannot be judged.
    if (report.gpus_found > static_cast<int>(report.gpus.size()))
        return flaw.say("contradicts itself: it counts " + std::to_string(report.gpus_found) +
                        " GPUs and shows " + std::to_string(report.gpus.size()));
    if (report.verdict < Verdict::unknown && !any_passed) flaw.say(claim + ", and none of its checks passed");
}

}  // namespace gpucheck::fleet
