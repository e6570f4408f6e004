// Puts a capture on disk so that it is either complete under its name or not there: half a machine would be
// judged as a broken one.
#pragma once

#include <string>
#include <string_view>

#include "agent/host/confined.h"

namespace gpucheck::capture {

/// A new folder FOLDER.partial, mode 0700, that becomes FOLDER at commit and vanishes without. Every function
/// returns an error sentence, empty on success.
class FolderWriter {
  public:
    FolderWriter() = default;
    FolderWriter(const FolderWriter&) = delete;
    FolderWriter& operator=(const FolderWriter&) = delete;
    ~FolderWriter();

    /// FOLDER must not exist or be empty.
    std::string open(const std::string& folder);
    /// Paths are relative to the folder; the folders above are made.
    std::string folder(const std::string& path);
    std::string file(const std::string& path, std::string_view content);
    std::string link(const std::string& path, const std::string& target);
    std::string commit();

  private:
    std::string make_parents(const std::string& path);

    std::string folder_, partial_;
    host::Descriptor root_;
    std::string last_parent_;  ///< already made: files of one folder come together
};

}  // namespace gpucheck::capture
