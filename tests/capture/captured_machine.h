// Captures a machine into a temporary folder and opens the result, for tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "agent/capture/capture.h"
#include "tests/host/temp_machine.h"

namespace gpucheck::capture {

class Captured {
  public:
    Captured(host::Sysroot source, const std::function<void(const host::Sysroot&)>& collect,
             const Options& options = {}) {
        const auto result = capture(source, folder(), collect, options);
        if (const auto* why = std::get_if<std::string>(&result)) {
            error = *why;
        } else {
            summary = std::get<Summary>(result);
        }
    }
    std::string folder() const { return (place_.path() / "captured").string(); }
    host::Sysroot open() const { return std::get<host::Sysroot>(host::Sysroot::recorded(folder())); }
    std::string beside(const std::string& name) const {
        std::ifstream file(folder() + "/" + name, std::ios::binary);
        std::ostringstream content;
        content << file.rdbuf();
        return content.str();
    }
    std::string at(const std::string& path) const { return beside("sysroot" + path); }
    /// Every file's path and content, every link's target, in one text: what must not be told is searched
    /// here.
    std::string everything() const {
        std::string all;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder())) {
            const std::string path = entry.path().lexically_relative(folder()).string();
            all += path + "\n";
            if (entry.is_symlink()) {
                all += std::filesystem::read_symlink(entry.path()).string() + "\n";
            } else if (entry.is_regular_file()) {
                all += beside(path) + "\n";
            }
        }
        return all;
    }

    std::string error;
    Summary summary;

  private:
    host::TempMachine place_;
};

/// Reads, lists, stats, opens and follows everything below `path`, as the greediest collector would; links
/// are not descended into.
inline void ask_for_all(const host::Sysroot& root, const std::string& path, std::string* log = nullptr) {
    const auto say = [&](const char* what, const auto& fact) {
        if (log != nullptr)
            *log += std::string(what) + " " + path + ": " + (fact.known() ? "known" : fact.why()) + "\n";
    };
    const auto target = root.link_target(path);
    if (log != nullptr && target.known()) *log += "link " + path + " -> " + *target + "\n";
    say("exists", root.exists(path));
    const auto stat = root.stat(path);
    if (log != nullptr && stat.known() && stat->type != "dir" && stat->type != "file") {
        *log += path + " is " + stat->type + " " + std::to_string(stat->major) + ":" +
                std::to_string(stat->minor) + " " + std::to_string(stat->mode) + " " +
                std::to_string(stat->gid) + "\n";
    }
    say("read", root.read(path, host::kLargeFile));
    say("open", root.try_open(path));
    if (target.known()) return;
    const auto names = root.list(path);
    if (!names.known()) return;
    for (const std::string& name : *names) {
        if (log != nullptr) *log += path + " holds " + name + "\n";
        ask_for_all(root, (path == "/" ? "" : path) + "/" + name, log);
    }
}

}  // namespace gpucheck::capture
