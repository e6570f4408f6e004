// A recorded machine in a temporary folder, written file by file, for tests of readers.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "agent/host/sysroot.h"

namespace gpucheck::host {

class TempMachine {
  public:
    TempMachine() {
        std::string pattern = (std::filesystem::temp_directory_path() / "gpucheck-test-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        std::filesystem::create_directories(folder_ / "sysroot");
    }
    ~TempMachine() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    TempMachine(const TempMachine&) = delete;
    TempMachine& operator=(const TempMachine&) = delete;

    /// Writes sysroot/PATH; PATH is absolute as on the machine.
    TempMachine& file(std::string_view path, std::string_view content) {
        const std::filesystem::path target = at(path);
        std::filesystem::create_directories(target.parent_path());
        std::ofstream(target, std::ios::binary) << content;
        return *this;
    }
    TempMachine& folder(std::string_view path) {
        std::filesystem::create_directories(at(path));
        return *this;
    }
    /// A link at PATH with exactly this target text.
    TempMachine& link(std::string_view path, std::string_view target) {
        const std::filesystem::path place = at(path);
        std::filesystem::create_directories(place.parent_path());
        std::filesystem::create_symlink(target, place);
        return *this;
    }
    /// A file beside sysroot: nodes.json, process.json, captured.txt.
    TempMachine& beside(std::string_view name, std::string_view content) {
        std::ofstream(folder_ / name, std::ios::binary) << content;
        return *this;
    }
    Sysroot open() const { return std::get<Sysroot>(Sysroot::recorded(folder_.string())); }
    std::filesystem::path at(std::string_view path) const {
        return folder_ / "sysroot" / std::filesystem::path(path).relative_path();
    }
    const std::filesystem::path& path() const { return folder_; }

  private:
    std::filesystem::path folder_;
};

}  // namespace gpucheck::host
