// A file that somebody names on the command line may be a pipe without a writer, a device or endless: reading
// it must end.
#pragma once

#include <cstddef>
#include <string>
#include <variant>

namespace gpucheck {

struct FileError {
    std::string what;  ///< "report.json: No such file or directory"
};

/// All of a regular file, or of standard input for "-", up to `most_bytes`.
std::variant<std::string, FileError> read_text_file(const std::string& path, std::size_t most_bytes);

}  // namespace gpucheck
