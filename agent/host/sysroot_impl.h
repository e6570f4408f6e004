// The inside of Sysroot, shared by the file that reads and the file that looks up what a recorded machine
// holds in nodes.json.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/host/confined.h"
#include "agent/host/recorded.h"
#include "agent/host/sysroot.h"

namespace gpucheck::host {

struct Sysroot::Impl {
    Descriptor root;
    Confinement confinement = Confinement::live;
    std::string folder;
    RecordedMachine machine;
    std::set<std::string, std::less<>>
        node_names;  ///< last components in machine.nodes: most paths match none
    std::function<void(const Access&)> observer;
    std::vector<std::string> refused;
    mutable RecordedFolders folders;
    mutable std::map<std::string, Fact<std::string>, std::less<>> read_once;  ///< see reading_resets

    bool live() const { return confinement == Confinement::live; }
    void note(AccessKind kind, std::string_view path) const {
        if (observer) observer({kind, std::string(path)});
    }
    bool refuses(std::string_view path) const;
    Descriptor open(std::string_view path, int flags, int& error) const;
    using Entry = std::map<std::string, RecordedNode, std::less<>>::value_type;
    const Entry* entry_at(std::string_view path) const;
    const Entry* entry_behind(std::string_view path) const;
    std::optional<Missing> refusal(const RecordedNode& node, const std::string& source) const;
    std::string real_form(std::string_view path) const;
    std::string resolved(std::string_view path) const;
    bool covered(std::string_view path, bool as_folder) const;
    Missing why_missing(std::string_view path, int error, bool as_folder = false) const;
};

std::string parent_of(std::string_view path);
std::string_view base_of(std::string_view path);
/// What open(2) would answer by mode and ids alone: "ok" or "EACCES".
std::string open_by_mode(const NodeStat& stat, const RecordedProcess& process, bool write);

}  // namespace gpucheck::host
