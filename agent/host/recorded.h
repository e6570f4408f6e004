// The files of a recorded machine beside its sysroot: nodes.json, process.json, captured.txt.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "agent/host/captured.h"
#include "agent/host/sysroot.h"

namespace gpucheck::host {

struct RecordedMachine {
    std::map<std::string, RecordedNode, std::less<>> nodes;  ///< by real path
    RecordedProcess process;
    std::optional<CapturedPaths> captured;  ///< nullopt: everything absent is absent
};

/// Reads the files of `folder`; nullopt and a sentence in `error` when one of them is unusable. Absent files
/// are fine.
std::optional<RecordedMachine> read_recorded(const std::string& folder, std::string& error);

/// The content of FOLDER/name, a file beside sysroot/; nullopt when absent, and with a sentence in `error`
/// when it is larger than 16 MiB or cannot be read.
std::optional<std::string> read_beside(const std::string& folder, const char* name, std::string& error);

/// This process, for a live machine.
RecordedProcess this_process();

}  // namespace gpucheck::host
