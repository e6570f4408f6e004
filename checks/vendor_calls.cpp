// Names the GPU whose driver or vendor library hangs, crashes or answers with junk: tools that share a
// process with the library go down with it, and the machine is passed because nobody could ask.
#include "checks/all.h"
#include "checks/vendor_trouble.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "vendor.calls";

// Explicit, so that each code is a literal with a row in the catalogue.
std::string_view code_of(const std::string& outcome) {
    if (outcome == "hangs") return "vendor.call.hangs";
    if (outcome == "unkillable") return "vendor.call.unkillable";
    if (outcome == "crashed") return "vendor.call.crashes";
    if (outcome == "exited") return "vendor.call.exits";
    if (outcome == "flooded") return "vendor.call.floods";
    if (outcome == "out_of_memory") return "vendor.call.out_of_memory";
    if (outcome == "not_started") return "vendor.call.not_started";
    return "vendor.call.garbage";
}

NotApplicable applies(const Snapshot& snapshot) {
    const auto& troubles = snapshot.host.vendor_troubles;
    if (troubles.known()) return std::nullopt;
    return "no vendor library was asked: " + troubles.why();
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const auto& troubles = snapshot.host.vendor_troubles;
    for (const VendorTrouble& trouble : *troubles) {
        if (!is_slow_start(trouble)) findings.push_back(finding_of(trouble));
    }
    if (!findings.empty()) return;
    const bool slow = !troubles->empty();  // the telemetry check says so
    findings.push_back(finding(kId, Verdict::pass, {}, "every call into a vendor library comes back",
                               slow ? "none failed; the first was not over in time" : "they did",
                               troubles.source()));
}

}  // namespace

bool is_slow_start(const VendorTrouble& trouble) {
    const std::string_view call = trouble.call;
    return trouble.outcome == "hangs" &&
           (call.empty() || call.starts_with("dlopen ") || call.starts_with("nvmlInit") ||
            call.starts_with("nvmlDeviceGetHandle"));
}

Finding finding_of(const VendorTrouble& trouble) {
    const std::string call = trouble.call.empty() ? "its start" : trouble.call;
    std::string observed = trouble.detail.empty() ? trouble.outcome : trouble.detail;
    const std::string_view code = code_of(trouble.outcome);
    if (trouble.outcome != "garbage" && code == "vendor.call.garbage")
        observed = trouble.outcome + ": " + observed;
    return finding(code, Verdict::unknown, trouble.device.empty() ? Subject() : Subject(trouble.device),
                   trouble.library + ": " + call + " returns", std::move(observed),
                   trouble.library + " " + call);
}

const Check kVendorCallsCheck{.id = kId,
                              .title = "Calls into vendor libraries",
                              .impact = Impact::passive,
                              .required_from = Profile::quick,
                              .applies = applies,
                              .judge = judge};

}  // namespace gpucheck
