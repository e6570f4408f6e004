// Reads what git cannot hold of a recorded machine; every field is checked, because a recorded machine comes
// from a stranger's bug report.
#include "agent/host/recorded.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "agent/host/confined.h"
#include "checks/json/json.h"

namespace gpucheck::host {
namespace {

std::optional<Json> slurp_json(const std::string& folder, const char* name, std::string& error) {
    const std::optional<std::string> text = read_beside(folder, name, error);
    if (!text) return std::nullopt;
    auto parsed = parse_json(*text);
    if (const auto* bad = std::get_if<JsonError>(&parsed)) {
        error = folder + "/" + name + ": " + bad->what;
        return std::nullopt;
    }
    return std::get<Json>(std::move(parsed));
}

std::optional<unsigned> unsigned_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_integer()) return std::nullopt;
    const auto value = found->get<std::int64_t>();
    if (value < 0 || value > 0xffffffffLL) return std::nullopt;
    return static_cast<unsigned>(value);
}

std::string text_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_outcome(const std::string& name) {
    return name.empty() || name == "ok" || name == kNotCaptured || errno_number(name) != 0;
}

bool read_node(const Json& entry, RecordedMachine& machine, std::string& error) {
    if (!entry.is_object()) {
        error = "an entry is no object";
        return false;
    }
    const std::string path = text_of(entry, "path");
    if (path.empty() || path.front() != '/' || path.find('\0') != std::string::npos) {
        error = "an entry has no absolute \"path\"";
        return false;
    }
    RecordedNode node;
    node.stat.type = text_of(entry, "type");
    static const char* const kTypes[] = {"char", "block", "file", "dir", "socket", "fifo"};
    bool known_type = false;
    for (const char* type : kTypes) known_type = known_type || node.stat.type == type;
    if (!known_type) {
        error = path + ": \"type\" is none of char, block, file, dir, socket, fifo";
        return false;
    }
    node.stat.major = unsigned_of(entry, "major").value_or(0);
    node.stat.minor = unsigned_of(entry, "minor").value_or(0);
    node.stat.uid = unsigned_of(entry, "uid").value_or(0);
    node.stat.gid = unsigned_of(entry, "gid").value_or(0);
    const std::string mode = text_of(entry, "mode");
    const auto parsed = std::from_chars(mode.data(), mode.data() + mode.size(), node.stat.mode, 8);
    if (parsed.ec != std::errc{} || parsed.ptr != mode.data() + mode.size() || node.stat.mode > 07777) {
        error = path + ": \"mode\" is no octal text such as \"0660\"";
        return false;
    }
    node.open = text_of(entry, "open");
    node.read = text_of(entry, "read");
    if (!is_outcome(node.open) || !is_outcome(node.read)) {
        error = path + ": \"open\" and \"read\" are \"ok\", \"not captured\" or an errno name";
        return false;
    }
    if (const auto size = entry.find("size"); size != entry.end()) {
        if (!size->is_number_unsigned()) {
            error = path + ": \"size\" is no number of bytes";
            return false;
        }
        node.size = size->get<std::uint64_t>();
    }
    machine.nodes[path] = std::move(node);
    return true;
}

bool read_nodes(const Json& document, RecordedMachine& machine, std::string& error) {
    if (!document.is_array()) {
        error = "not an array";
        return false;
    }
    for (const Json& entry : document) {
        if (!read_node(entry, machine, error)) return false;
    }
    return true;
}

bool read_process(const Json& document, RecordedProcess& process, std::string& error) {
    if (!document.is_object()) {
        error = "not an object";
        return false;
    }
    const std::string source = "process.json";
    if (const auto uid = unsigned_of(document, "uid")) process.uid = Fact<unsigned>(*uid, source);
    if (const auto gids = document.find("gids"); gids != document.end()) {
        std::vector<unsigned> list;
        for (const Json& gid : *gids) {
            if (!gid.is_number_unsigned() || gid.get<std::uint64_t>() > 0xffffffffULL) {
                error = "\"gids\" is no list of numbers";
                return false;
            }
            list.push_back(gid.get<unsigned>());
        }
        process.gids = Fact<std::vector<unsigned>>(std::move(list), source);
    }
    if (const auto env = document.find("env"); env != document.end() && env->is_object()) {
        for (const auto& [name, value] : env->items()) {
            if (value.is_string()) process.env[name] = value.get<std::string>();
        }
    }
    if (const std::string now = text_of(document, "now"); !now.empty())
        process.now = Fact<std::string>(now, source);
    if (const auto uptime = document.find("uptime_s"); uptime != document.end() && uptime->is_number()) {
        process.uptime_s = Fact<double>(uptime->get<double>(), source);
    }
    if (const auto clock = document.find("clock_synchronized");
        clock != document.end() && clock->is_boolean()) {
        process.clock_synchronized = Fact<bool>(clock->get<bool>(), source);
    }
    if (const auto spaces = document.find("filesystems"); spaces != document.end() && spaces->is_object()) {
        for (const auto& [path, value] : spaces->items()) {
            if (!value.is_object()) continue;
            const auto total = value.find("total_bytes"), free = value.find("free_bytes");
            if (total == value.end() || free == value.end() || !total->is_number_unsigned() ||
                !free->is_number_unsigned()) {
                error = "\"filesystems\": " + path + " lacks total_bytes and free_bytes";
                return false;
            }
            process.filesystems[path] = {total->get<std::uint64_t>(), free->get<std::uint64_t>()};
        }
    }
    return true;
}

}  // namespace

std::optional<std::string> read_beside(const std::string& folder, const char* name, std::string& error) {
    const std::string path = folder + "/" + name;
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.valid()) {
        if (errno != ENOENT) error = path + ": " + errno_name(errno);
        return std::nullopt;
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        error = path + ": not a regular file";
        return std::nullopt;
    }
    std::string content;
    constexpr std::size_t kLimit = std::size_t{16} * 1024 * 1024;
    char buffer[65536];
    for (;;) {
        const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
        if (got == 0) break;
        if (got < 0) {
            if (errno == EINTR) continue;
            error = path + ": " + errno_name(errno);
            return std::nullopt;
        }
        content.append(buffer, static_cast<std::size_t>(got));
        if (content.size() > kLimit) {
            error = path + ": larger than 16 MiB";
            return std::nullopt;
        }
    }
    return content;
}

std::optional<RecordedMachine> read_recorded(const std::string& folder, std::string& error) {
    RecordedMachine machine;
    const auto fail = [&](const char* name, const std::string& what) -> std::optional<RecordedMachine> {
        error = folder + "/" + name + ": " + what;
        return std::nullopt;
    };
    error.clear();
    std::string problem;
    const std::optional<Json> nodes = slurp_json(folder, "nodes.json", error);
    if (!error.empty()) return std::nullopt;
    if (nodes && !read_nodes(*nodes, machine, problem)) return fail("nodes.json", problem);

    const std::optional<Json> process = slurp_json(folder, "process.json", error);
    if (!error.empty()) return std::nullopt;
    if (process && !read_process(*process, machine.process, problem)) return fail("process.json", problem);

    const std::optional<std::string> captured = read_beside(folder, "captured.txt", error);
    if (!error.empty()) return std::nullopt;
    if (captured) {
        machine.captured.emplace();
        for (std::string_view line : lines_of(*captured)) {
            line = trim(line);
            if (!line.empty() && line.front() == '/') machine.captured->add(line);
        }
    }
    return machine;
}

}  // namespace gpucheck::host
