// Readings of the vendors' interfaces over a run, so that counters are judged as deltas and what hung is
// named.
#pragma once

#include <string>
#include <vector>

#include "checks/model/amd_telemetry.h"
#include "checks/model/fact.h"
#include "checks/model/fields.h"
#include "checks/model/nvidia_telemetry.h"

namespace gpucheck {

/// One reading of one GPU; the other vendor's part is all Missing.
struct Reading {
    Fact<double> at_s;  ///< seconds since the run began
    NvidiaTelemetry nvidia;
    AmdTelemetry amd;
    bool operator==(const Reading&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(Reading, at_s), GPUCHECK_FIELD(Reading, nvidia),
                     GPUCHECK_FIELD(Reading, amd));
    }
};

/// The readings of one GPU: at the start of the run and, in profiles that last, at its end.
struct Telemetry {
    Reading first;
    Reading last;  ///< all Missing when there was one reading only
    bool operator==(const Telemetry&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(Telemetry, first), GPUCHECK_FIELD(Telemetry, last));
    }
};

/// A vendor call that did not end as calls should: the child that made it was given up.
struct VendorTrouble {
    std::string library;  ///< "libnvidia-ml.so.1"
    std::string call;     ///< "nvmlDeviceGetEccMode"; what the child had announced last
    std::string device;   ///< PCI address, or empty for the library as a whole
    /// "hangs", "unkillable", "crashed", "exited", "flooded", "garbage", "out_of_memory", "not_started"
    std::string outcome;
    std::string detail;  ///< "SIGSEGV", "exit status 3", "no answer within 800 ms; could not be killed"
    bool operator==(const VendorTrouble&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(VendorTrouble, library), GPUCHECK_FIELD(VendorTrouble, call),
                     GPUCHECK_FIELD(VendorTrouble, device), GPUCHECK_FIELD(VendorTrouble, outcome),
                     GPUCHECK_FIELD(VendorTrouble, detail));
    }
};
}  // namespace gpucheck
