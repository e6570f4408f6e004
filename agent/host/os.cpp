// Reads kernel, distribution and ROCm release; see os.h.
#include "agent/host/os.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

namespace gpucheck::host {
namespace {

using Assignments = std::map<std::string, std::string, std::less<>>;

// The value of one assignment under the shell rules that os-release(5) allows: plain, '...' or "..." with
// \ before $ " \ `.
std::optional<std::string> unquote(std::string_view text) {
    if (text.empty()) return std::string();
    const char quote = text.front();
    if (quote != '"' && quote != '\'') {
        if (text.find_first_of("\"' \t") != std::string_view::npos) return std::nullopt;
        return std::string(text);
    }
    std::string value;
    for (std::size_t i = 1; i < text.size(); ++i) {
        const char c = text[i];
        if (c == quote) return i + 1 == text.size() ? std::optional(value) : std::nullopt;
        if (c == '\\' && quote == '"' && i + 1 < text.size() &&
            std::string_view("$\"\\`").find(text[i + 1]) != std::string_view::npos) {
            value += text[++i];
        } else {
            value += c;
        }
    }
    return std::nullopt;  // never closed
}

Fact<std::string> assigned(const Fact<std::string>& file, const Assignments& values, const char* key) {
    if (!file.known()) return file.missing();
    const auto found = values.find(key);
    if (found == values.end()) return Missing{file.source(), std::string("no ") + key + " in it"};
    if (found->second.empty() || !is_text(found->second))
        return Missing{file.source(), std::string("malformed: ") + key};
    return Fact<std::string>(found->second, file.source());
}

void read_distribution(const Sysroot& root, Host& host) {
    Fact<std::string> file = root.read("/etc/os-release");
    if (file.absent()) file = root.read("/usr/lib/os-release");
    const Assignments values = file.known() ? parse_os_release(*file) : Assignments();
    host.os_id = assigned(file, values, "ID");
    host.os_version_id = assigned(file, values, "VERSION_ID");
    host.os_pretty_name = assigned(file, values, "PRETTY_NAME");
}

// An empty command line is an answer; a file without a single byte is none.
Fact<std::string> read_cmdline(const Sysroot& root) {
    const Fact<std::string> file = root.read("/proc/cmdline");
    if (!file.known()) return file;
    if (file->empty()) return Missing{file.source(), "empty"};
    const std::string_view line = trim(*file);
    if (!is_text(line)) return Missing{file.source(), "malformed: not text"};
    return Fact<std::string>(std::string(line), file.source());
}

// The kernel's own name first: /etc/hostname is only what the next boot will set.
Fact<std::string> read_hostname(const Sysroot& root) {
    Fact<std::string> name = root.read_line("/proc/sys/kernel/hostname");
    if (name.known()) return name;
    const Fact<std::string> file = root.read("/etc/hostname");
    if (!file.known()) return name.absent() ? file : name;
    for (std::string_view line : lines_of(*file)) {  // comments are allowed: hostname(5)
        line = trim(line);
        while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
        if (line.empty() || line.front() == '#') continue;
        if (!is_text(line)) return Missing{file.source(), "malformed: not text"};
        return Fact<std::string>(std::string(line), file.source());
    }
    return Missing{file.source(), "empty"};
}

Fact<double> read_uptime(const Sysroot& root) {
    constexpr double kAbsurd = 100.0 * 366 * 86400;  // a hundred years
    const Fact<double>& given = root.process().uptime_s;
    if (given.known()) {
        if (std::isfinite(*given) && *given >= 0 && *given < kAbsurd) return given;
        return Missing{given.source(), "malformed: uptime_s"};
    }
    const Fact<std::string> line = root.read_line("/proc/uptime");
    if (!line.known()) return line.missing();
    const std::string_view first = std::string_view(*line).substr(0, line->find(' '));
    double seconds = 0;
    const auto parsed =
        std::from_chars(first.data(), first.data() + first.size(), seconds, std::chars_format::fixed);
    if (parsed.ec != std::errc{} || parsed.ptr != first.data() + first.size() || !std::isfinite(seconds) ||
        seconds < 0 || seconds >= kAbsurd) {
        return Missing{line.source(), "malformed: '" + line->substr(0, 40) + "'"};
    }
    return Fact<double>(seconds, line.source());
}

// The numbers of a release, for comparing "6.10.0" with "6.4.1".
std::vector<unsigned long> numbers_of(std::string_view text) {
    std::vector<unsigned long> numbers;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] < '0' || text[i] > '9') continue;
        unsigned long number = 0;
        const auto parsed = std::from_chars(text.data() + i, text.data() + text.size(), number);
        if (parsed.ec == std::errc{}) numbers.push_back(number);
        i = static_cast<std::size_t>(parsed.ptr - text.data()) - 1;
    }
    return numbers;
}

Fact<std::string> read_release_of(const Sysroot& root, const std::string& folder) {
    Fact<std::string> line = root.read_line(folder + "/.info/version");
    if (line.absent()) line = root.read_line(folder + "/.info/version-dev");
    if (line.known() && (line->front() < '0' || line->front() > '9')) {
        return Missing{line.source(), "malformed: '" + line->substr(0, 40) + "'"};
    }
    return line;
}

// /opt/rocm is what an unqualified build uses; without that link, the newest of the releases installed side
// by side.
Fact<std::string> read_rocm(const Sysroot& root) {
    Fact<std::string> release = read_release_of(root, "/opt/rocm");
    if (!release.absent()) return release;
    const Fact<std::vector<std::string>> folders = root.list("/opt");
    if (!folders.known()) return folders.absent() ? release : Fact<std::string>(folders.missing());
    for (const std::string& name : *folders) {
        if (!name.starts_with("rocm-")) continue;
        Fact<std::string> found = read_release_of(root, "/opt/" + name);
        if (found.absent()) continue;
        if (!release.known() || (found.known() && numbers_of(*release) < numbers_of(*found)))
            release = std::move(found);
    }
    return release;
}

}  // namespace

Assignments parse_os_release(std::string_view text) {
    Assignments values;
    for (std::string_view line : lines_of(text)) {
        line = trim(line);
        while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
        const std::size_t equals = line.find('=');
        if (line.empty() || line.front() == '#' || equals == std::string_view::npos) continue;
        if (auto value = unquote(line.substr(equals + 1)))
            values[std::string(line.substr(0, equals))] = std::move(*value);
    }
    return values;
}

void read_os(const Sysroot& root, Host& host) {
    host.kernel_release = root.read_line("/proc/sys/kernel/osrelease");
    host.kernel_version = root.read_line("/proc/version");
    host.kernel_cmdline = read_cmdline(root);
    read_distribution(root, host);
    host.hostname = read_hostname(root);
    host.boot_id = root.read_line("/proc/sys/kernel/random/boot_id");
    host.uptime_s = read_uptime(root);
    host.tainted = root.read_u64("/proc/sys/kernel/tainted");
    host.numa_balancing = root.read_int("/proc/sys/kernel/numa_balancing");
    host.rocm_version = read_rocm(root);
}

}  // namespace gpucheck::host
