// Reads /proc/cpuinfo, /proc/meminfo, the kernel's lists of processors and memory nodes, and statvfs(2); see
// resources.h.
#include "agent/host/resources.h"

#include <charconv>
#include <string>

namespace gpucheck::host {
namespace {

std::string_view strip(std::string_view text) {
    text = trim(text);
    const std::size_t start = text.find_first_not_of(" \t");
    return start == std::string_view::npos ? std::string_view{} : text.substr(start);
}

// The value of the first "KEY<blanks>: VALUE" line.
std::optional<std::string_view> field_of(std::string_view text, std::string_view key) {
    for (std::string_view line : lines_of(text)) {
        const std::size_t colon = line.find(':');
        if (colon != std::string_view::npos && trim(line.substr(0, colon)) == key)
            return strip(line.substr(colon + 1));
    }
    return std::nullopt;
}

Fact<std::string> read_cpu_model(const Sysroot& root) {
    const Fact<std::string> file = root.read("/proc/cpuinfo", kLargeFile);
    if (!file.known()) return file;
    for (const char* key : {"model name", "cpu model", "cpu"}) {  // x86, MIPS and LoongArch, POWER
        if (const auto model = field_of(*file, key); model && !model->empty() && is_text(*model)) {
            return Fact<std::string>(std::string(*model), file.source());
        }
    }
    // arm64 prints numbers only (Documentation/arch/arm64/cpu-feature-registers.rst names them MIDR fields).
    const auto implementer = field_of(*file, "CPU implementer"), part = field_of(*file, "CPU part");
    if (implementer && part && is_text(*implementer) && is_text(*part) && !implementer->empty() &&
        !part->empty()) {
        return Fact<std::string>("implementer " + std::string(*implementer) + " part " + std::string(*part),
                                 file.source());
    }
    return Missing{file.source(), file->empty() ? "empty" : "no processor model in it"};
}

Fact<unsigned> read_count(const Sysroot& root, const char* path) {
    const Fact<std::string> line = root.read_line(path);
    if (!line.known()) return line.missing();
    if (const auto count = count_of_list(*line)) return Fact<unsigned>(*count, line.source());
    return Missing{line.source(), "malformed: '" + line->substr(0, 40) + "'"};
}

Fact<std::uint64_t> memory_field(const Fact<std::string>& file, const char* key) {
    constexpr std::uint64_t kAbsurdKib = std::uint64_t{1} << 44;  // 16 PiB
    if (!file.known()) return file.missing();
    const auto text = field_of(*file, key);
    if (!text) return Missing{file.source(), std::string("no ") + key + " in it"};
    std::uint64_t kib = 0;
    const char* end = text->data() + text->size();
    const auto parsed = std::from_chars(text->data(), end, kib);
    if (parsed.ec != std::errc{} ||
        std::string_view(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr)) != " kB" ||
        kib >= kAbsurdKib) {
        return Missing{file.source(), std::string("malformed: ") + key};
    }
    return Fact<std::uint64_t>(kib * 1024, file.source());
}

void read_memory(const Sysroot& root, Host& host) {
    const Fact<std::string> file = root.read("/proc/meminfo");
    host.memory_total_bytes = memory_field(file, "MemTotal");
    host.memory_available_bytes = memory_field(file, "MemAvailable");
    const Fact<std::uint64_t>& total = host.memory_total_bytes;
    if (total.is(0U)) host.memory_total_bytes = Missing{file.source(), "malformed: MemTotal"};
    if (total.known() && host.memory_available_bytes.known() && *host.memory_available_bytes > *total) {
        host.memory_available_bytes = Missing{file.source(), "malformed: more available than there is"};
    }
}

void read_filesystems(const Sysroot& root, Host& host) {
    for (const std::string_view path : kWatchedFilesystems) {
        const Fact<RecordedProcess::Space> space = root.filesystem(path);
        if (space.absent()) continue;
        Filesystem entry;
        entry.path = path;
        if (!space.known()) {
            entry.total_bytes = space.missing();
            entry.free_bytes = space.missing();
        } else if (space->free_bytes > space->total_bytes) {
            entry.total_bytes = entry.free_bytes =
                Missing{space.source(), "malformed: more free than there is"};
        } else {
            entry.total_bytes = Fact<std::uint64_t>(space->total_bytes, space.source());
            entry.free_bytes = Fact<std::uint64_t>(space->free_bytes, space.source());
        }
        host.filesystems.push_back(std::move(entry));
    }
}

}  // namespace

std::optional<unsigned> count_of_list(std::string_view text) {
    constexpr unsigned kMaxNumber = 65535;  // far above NR_CPUS and MAX_NUMNODES of any kernel configuration
    unsigned count = 0, next = 0;           // the kernel prints its lists in ascending order
    text = strip(text);
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const std::string_view range = text.substr(0, comma);
        unsigned first = 0;
        auto parsed = std::from_chars(range.data(), range.data() + range.size(), first);
        if (parsed.ec != std::errc{}) return std::nullopt;
        unsigned last = first;
        const char* const end = range.data() + range.size();
        if (parsed.ptr != end) {
            if (*parsed.ptr != '-') return std::nullopt;
            parsed = std::from_chars(parsed.ptr + 1, end, last);
            if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
        }
        if (first < next || last < first || last > kMaxNumber) return std::nullopt;
        count += last - first + 1;
        next = last + 1;
        if (comma == std::string_view::npos) return count;
        text.remove_prefix(comma + 1);
    }
    return std::nullopt;  // empty, or a comma at the end
}

void read_resources(const Sysroot& root, Host& host) {
    host.cpu_model = read_cpu_model(root);
    host.cpus_online = read_count(root, "/sys/devices/system/cpu/online");
    host.numa_nodes = read_count(root, "/sys/devices/system/node/online");
    read_memory(root, host);
    read_filesystems(root, host);
}

}  // namespace gpucheck::host
