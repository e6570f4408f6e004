// The gpu_metrics files that samples.py wrote, and small recorded machines of a test's own.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>

#include "agent/host/sysroot.h"

namespace gpucheck::test {

inline std::string sample(const std::string& layout) {
    std::ifstream file(std::string(GPUCHECK_METRICS_SAMPLES) + "/" + layout + ".bin", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A recorded machine in a folder of its own, removed at the end.
class Folder {
  public:
    explicit Folder(const std::string& name)
        : path_(std::filesystem::temp_directory_path() /
                ("gpucheck-" + name + "-" + std::to_string(::getpid()))) {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_ / "sysroot");
        write_beside("nodes.json", "[]\n");
        write_beside("process.json",
                     R"({"uid": 0, "gids": [0], "env": {}, "now": "2026-11-30T10:00:00Z", "uptime_s": 9})");
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path_); }

    void write(const std::string& file, const std::string& content) const {
        const std::filesystem::path place = path_ / "sysroot" / file.substr(1);
        std::filesystem::create_directories(place.parent_path());
        std::ofstream(place, std::ios::binary) << content;
    }
    void link(const std::string& file, const std::string& target) const {
        const std::filesystem::path place = path_ / "sysroot" / file.substr(1);
        std::filesystem::create_directories(place.parent_path());
        std::filesystem::create_symlink(target, place);
    }
    void write_beside(const std::string& file, const std::string& content) const {
        std::ofstream(path_ / file) << content;
    }
    host::Sysroot open() const { return std::get<host::Sysroot>(host::Sysroot::recorded(path_.string())); }

  private:
    std::filesystem::path path_;
};

}  // namespace gpucheck::test
