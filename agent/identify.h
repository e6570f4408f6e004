// Whose instance this is and what its type promises, from the machine's own marks first and from the
// provider's metadata service after: without the promise seven GPUs of eight look complete.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/cli/options.h"
#include "agent/host/sysroot.h"
#include "checks/model/snapshot.h"
#include "providers/detect.h"

namespace gpucheck {

/// What a run waits for while a child asks; a run that was given up there asks nobody.
inline constexpr std::string_view kMetadataService = "metadata service";

/// What firmware, kernel, cloud-init and the judged process' environment show. Nothing is asked.
providers::Sightings read_sightings(const host::Sysroot& root);

struct IdentifyPlan {
    std::chrono::milliseconds deadline{1000};  ///< for all requests together
    bool given_up = false;                     ///< an earlier try hung in it
    bool price_from_api = false;               ///< --price api
    bool record = false;                       ///< for a capture
    /// Before a wait for the child that asks: what for, and for how long at most.
    std::function<void(std::string_view what, std::chrono::milliseconds at_most)> waiting;
};

struct Identified {
    Instance instance;
    Expectations promised;               ///< by the provider itself, not by our table
    Fact<std::string> type_offline;      ///< what firmware or cloud-init's file said, whoever wins
    std::vector<std::string> conflicts;  ///< sentences: the options and the machine disagree
    std::string metadata_json;           ///< what was asked and answered, when it was recorded
};

/// Reads the marks and asks, as far as --metadata allows. On a recorded machine its metadata.json answers.
/// The text is a sentence for the command line: a metadata.json, or a token file of the command line that was
/// to be asked with, that cannot be used. A token file of the config is a reason in what it would have told.
std::variant<Identified, std::string> identify(const host::Sysroot& root, const cli::MachineOptions& options,
                                               const IdentifyPlan& plan);

}  // namespace gpucheck
