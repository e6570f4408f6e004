// The vendor's answers of a recorded machine, so that a customer's fault that only NVML shows is judged, and
// kept as a test, without the machine.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "checks/model/snapshot.h"

namespace gpucheck::vendor {

/// vendor.json: what the vendors' interfaces answered. Facts that are not in it are Missing "not captured".
struct RecordedAnswers {
    /// Of one GPU; absent: nobody read it.
    template <class T>
    struct Readings {
        std::optional<T> first, last;
    };
    std::optional<NvmlSystem> nvml;
    std::map<Bdf, Readings<NvidiaTelemetry>> nvidia;
    std::map<Bdf, Readings<AmdTelemetry>> amd;  ///< `last` alone: the first reading is in sysroot/
    std::vector<VendorTrouble> troubles;
};

/// Reads FOLDER/vendor.json: nullopt when there is none, a sentence when it is not usable.
std::variant<std::optional<RecordedAnswers>, std::string> read_vendor_json(const std::string& folder);
/// The same from text; `name` is for the sentence.
std::variant<RecordedAnswers, std::string> parse_vendor_json(std::string_view text, const std::string& name);

/// Puts the answers into the snapshot, joined by PCI address. A GPU of the file that the snapshot lacks is
/// left out: PCI is who says which GPUs there are.
void apply(const RecordedAnswers& answers, Snapshot& snapshot);

/// What `snapshot` was told, as vendor.json.
std::string vendor_json(const Snapshot& snapshot);

}  // namespace gpucheck::vendor
