// Where a data file comes from: the copy inside the binary, or the operator's folder of --specs, read as
// suspicious input so that a broken override is named instead of silently giving other expectations.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "checks/json/json.h"

namespace gpucheck {

struct DataFile {
    std::string name;  ///< for complaints: "gpus.json", with the folder when it came from there
    Json document;
    bool overridden = false;  ///< it came from the folder
};

/// Parses `folder`/`name` when that file exists, else `embedded`. With an empty `folder` always the latter.
/// The error names the file. A folder that is not there, a file that is not a regular one, is unreadable or
/// larger than 4 MiB, nesting deeper than 16 levels and a member named twice are errors.
std::variant<DataFile, std::string> load_data_file(const std::string& folder, const std::string& name,
                                                   std::string_view embedded);

/// parse_json, and members named twice are an error.
std::variant<Json, std::string> parse_data(std::string_view text);

}  // namespace gpucheck
