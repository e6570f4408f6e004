// Keeps a verdict honest when nobody asked the vendor's interface: ECC, row remapping, NVLink and throttling
// are in no file.
#include "checks/all.h"
#include "checks/gpus.h"
#include "checks/vendor_trouble.h"

namespace gpucheck {
namespace {

void judge(const Snapshot& snapshot, Findings& findings) {
    const Fact<bool>& read = snapshot.measurements.vendor_telemetry;
    const std::string expected = "ECC, row remapping, links and throttling read from the vendor's interface";
    if (read.is(true)) {
        findings.push_back(finding("telemetry", Verdict::pass, {}, expected, "read", read.source()));
        return;
    }
    if (snapshot.host.vendor_troubles.known()) {
        for (const VendorTrouble& trouble : *snapshot.host.vendor_troubles) {
            if (is_slow_start(trouble)) findings.push_back(finding_of(trouble));
        }
    }
    findings.push_back(finding("telemetry.not_read", Verdict::unknown, {}, expected,
                               read.known() ? "not read" : read.why(), read.source()));
}

}  // namespace

const Check kTelemetryCheck{.id = "telemetry",
                            .title = "Vendor telemetry",
                            .impact = Impact::passive,
                            .required_from = Profile::boot,
                            .applies = without_gpus,
                            .judge = judge};

}  // namespace gpucheck
