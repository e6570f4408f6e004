// Finds a clock that nobody set: it makes TLS, tokens and reports fail at boot while the GPUs are fine.
#include "checks/all.h"

namespace gpucheck {
namespace {

// No correct clock shows less than the year this program was written in (field case C137).
constexpr std::string_view kProgramWritten = "2026-01-01T00:00:00Z";

void judge(const Snapshot& snapshot, Findings& findings) {
    const Fact<std::string>& now = snapshot.host.process.now;
    const std::string expected = "after " + std::string(kProgramWritten);
    if (!now.known()) {
        findings.push_back(finding("clock.unread", Verdict::unknown, {}, expected, now.why(), now.source()));
        return;
    }
    const bool wrong = now.value() < kProgramWritten;  // RFC 3339 UTC sorts as text
    findings.push_back(finding(wrong ? "clock.wrong" : "clock", wrong ? Verdict::fail : Verdict::pass, {},
                               expected, now.value(), now.source()));
}

}  // namespace

const Check kClockCheck{.id = "clock",
                        .title = "System clock",
                        .impact = Impact::passive,
                        .required_from = Profile::acceptance,
                        .applies = nullptr,
                        .judge = judge};

}  // namespace gpucheck
