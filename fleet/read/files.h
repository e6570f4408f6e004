// The report files below the paths that an operator names, in one order; what is no readable file is said, so
// that a folder of 400 links to nothing is not a healthy fleet.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "providers/disk/files.h"

namespace gpucheck::fleet {

struct Walk {
    std::function<void(const std::string& path)> file;
    std::function<void(const std::string& path, const std::string& why)> refused;
    std::function<void(const std::string& path)> passed_over = {};  ///< by its name; empty: nobody asks
};

/// `path` is a file or a folder. An error: it is not there.
std::optional<std::string> walk(const std::string& path, const Walk& walk);

struct OpenFile {
    disk::Descriptor descriptor;
    std::size_t size = 0;  ///< 0 for a stream too
};
/// A regular file; or a pipe below /dev/fd, which is how a shell hands one over. The text says why not.
std::variant<OpenFile, std::string> open_file(const std::string& path);

}  // namespace gpucheck::fleet
