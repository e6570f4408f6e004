// The files of a recorded machine beside its sysroot: nodes.json, process.json, captured.txt.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/host/sysroot.h"

namespace gpucheck::host {

struct RecordedMachine {
    std::map<std::string, RecordedNode, std::less<>> nodes;  ///< by real path
    RecordedProcess process;
    std::optional<std::vector<std::string>> captured;  ///< patterns; nullopt: everything absent is absent
};

/// Reads the files of `folder`; nullopt and a sentence in `error` when one of them is unusable. Absent files
/// are fine.
std::optional<RecordedMachine> read_recorded(const std::string& folder, std::string& error);

/// Does `path` match `pattern`: `*` and `?` within one component, `**` across components.
bool path_matches(std::string_view pattern, std::string_view path);
/// Was `path` tried by the capture? `as_folder`: its listing was, because it or something below it is
/// covered.
bool is_captured(const std::vector<std::string>& patterns, std::string_view path, bool as_folder);

}  // namespace gpucheck::host
