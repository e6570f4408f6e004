// Serialises what a capture knows beyond files; see documents.h. The format is in docs/recorded-machines.md.
#include "agent/capture/documents.h"

#include <array>
#include <cstdio>

#include "agent/host/os.h"
#include "checks/json/json.h"

namespace gpucheck::capture {
namespace {

std::string octal(unsigned mode) {
    std::array<char, 16> buffer{};
    const int length = std::snprintf(buffer.data(), buffer.size(), "%04o", mode & 07777U);
    return {buffer.data(), static_cast<std::size_t>(length)};
}

Json node_json(const std::string& path, const host::RecordedNode& node) {
    Json entry;
    entry["path"] = path;
    entry["type"] = node.stat.type;
    if (node.stat.type == "char" || node.stat.type == "block") {
        entry["major"] = node.stat.major;
        entry["minor"] = node.stat.minor;
    }
    entry["mode"] = octal(node.stat.mode);
    entry["uid"] = node.stat.uid;
    entry["gid"] = node.stat.gid;
    if (!node.open.empty()) entry["open"] = node.open;
    if (!node.read.empty()) entry["read"] = node.read;
    if (node.size) entry["size"] = *node.size;
    return entry;
}

std::string first_line(const Recording& recording, const char* path) {
    const auto file = recording.files.find(path);
    return file == recording.files.end() ? std::string() : file->second.substr(0, file->second.find('\n'));
}

}  // namespace

std::string nodes_json(const Recording& recording) {
    std::string text = "[";
    const char* separator = "\n";
    for (const auto& [path, node] : recording.nodes) {  // one a line: people read and edit these
        text += separator + dump_json(node_json(path, node), -1);
        separator = ",\n";
    }
    return text + "\n]\n";
}

std::string process_json(const host::RecordedProcess& process) {
    Json document = Json::object();
    if (process.uid.known()) document["uid"] = *process.uid;
    if (process.gids.known()) document["gids"] = *process.gids;
    document["env"] = Json::object();
    for (const auto& [name, value] : process.env) document["env"][name] = value;
    if (process.now.known()) document["now"] = *process.now;
    if (process.uptime_s.known()) document["uptime_s"] = *process.uptime_s;
    if (process.clock_synchronized.known()) document["clock_synchronized"] = *process.clock_synchronized;
    if (!process.filesystems.empty()) {
        Json& spaces = document["filesystems"] = Json::object();
        for (const auto& [path, space] : process.filesystems) {
            spaces[path] = {{"total_bytes", space.total_bytes}, {"free_bytes", space.free_bytes}};
        }
    }
    return dump_json(document) + "\n";
}

std::string captured_txt(const Recording& recording) {
    std::string text =
        "# Paths that were asked for and are absent, and folders that were listed (FOLDER/*).\n";
    for (const std::string& line : recording.tried) {
        if (line.find_first_of("\r\n") == std::string::npos) text += line + "\n";
    }
    return text;
}

std::string readme(const Recording& recording) {
    std::string system;
    for (const char* path : {"/etc/os-release", "/usr/lib/os-release"}) {
        const auto file = recording.files.find(path);
        if (file == recording.files.end() || !system.empty()) continue;
        const auto values = host::parse_os_release(file->second);
        if (const auto name = values.find("PRETTY_NAME"); name != values.end() && host::is_text(name->second))
            system = name->second;
    }
    const std::string kernel = first_line(recording, "/proc/sys/kernel/osrelease");
    std::string text = "# A machine captured by `gpucheck capture`\n\n";
    text += (system.empty() ? std::string("An unnamed system") : system);
    if (!kernel.empty() && host::is_text(kernel)) text += ", kernel " + kernel;
    if (recording.process.now.known()) text += ", at " + *recording.process.now;
    text +=
        ". Serial numbers, UUIDs, network addresses, host and user names, e-mail addresses and machine ids "
        "were replaced by "
        "invented ones, the same original always by the same one; of the environment only variables that "
        "matter to GPUs and "
        "proxies were kept. Judge it with `gpucheck run --machine FOLDER`. Say here what is wrong with it.\n";
    return text;
}

}  // namespace gpucheck::capture
