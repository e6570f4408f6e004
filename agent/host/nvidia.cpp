// Reads /proc/driver/nvidia; see nvidia.h. Formats: open-gpu-kernel-modules kernel-open/nvidia/nv-procfs.c
// and nv.c, and the version lines printed in zzzhouuu/truenas-nvidia-drivers#19.
#include "agent/host/nvidia.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace gpucheck::host {
namespace {

constexpr std::string_view kProc = "/proc/driver/nvidia";
constexpr std::size_t kMaxParams = 200;

struct KeyValue {
    std::string_view key, value;
};

std::string_view strip(std::string_view text) {
    const std::size_t start = text.find_first_not_of(" \t");
    return start == std::string_view::npos ? std::string_view{} : trim(text.substr(start));
}

// "Key: \t value" lines, as both `params` and `information` print them.
std::vector<KeyValue> rows_of(std::string_view text) {
    std::vector<KeyValue> rows;
    for (const std::string_view line : lines_of(text)) {
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos || colon == 0 || !is_text(line)) continue;
        rows.push_back({strip(line.substr(0, colon)), strip(line.substr(colon + 1))});
    }
    return rows;
}

// Two to four groups of digits: 570.133.20, 410.48.
bool is_version(std::string_view text) {
    if (text.empty() || text.size() > 20) return false;
    std::size_t dots = 0;
    bool digit_before = false;
    for (const char c : text) {
        if (c == '.') {
            if (!digit_before) return false;
            ++dots;
        } else if (c < '0' || c > '9') {
            return false;
        }
        digit_before = c != '.';
    }
    return digit_before && dots >= 1 && dots <= 3;
}

// Values that the driver prints before it has initialised the GPU: they are not yet known, not wrong.
bool is_placeholder(std::string_view value) {
    return value.empty() || value == "N/A" || value == "Unknown" || value.find('?') != std::string_view::npos;
}

Fact<std::string> text_row(const std::vector<KeyValue>& rows, std::string_view key, const std::string& file) {
    std::string source = file + " " + std::string(key);
    for (const KeyValue& row : rows) {
        if (row.key != key) continue;
        if (is_placeholder(row.value)) {
            return Missing{std::move(source),
                           "the driver says '" + std::string(row.value.substr(0, 60)) + "'"};
        }
        return Fact<std::string>(std::string(row.value), std::move(source));
    }
    return Missing{std::move(source), "ENOENT"};
}

std::optional<unsigned> minor_from(const std::string& text) {
    unsigned minor = 0;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, minor);
    if (result.ec != std::errc{} || result.ptr != end || minor > 0xfffff)  // MINORBITS is 20
        return std::nullopt;
    return minor;
}

std::optional<bool> yes_no(const std::string& text) {
    if (text == "Yes") return true;
    if (text == "No") return false;
    return std::nullopt;
}

// Folder names have 4- or 8-digit domains, in either case.
Fact<std::string> folder_of(const Sysroot& root, const Bdf& bdf) {
    const std::string gpus = std::string(kProc) + "/gpus";
    const Fact<std::vector<std::string>> names = root.list(gpus);
    if (!names.known()) return names.missing();
    for (const std::string& name : names.value()) {
        const std::optional<Bdf> found = Bdf::parse(name);
        if (found && *found == bdf) return Fact<std::string>(gpus + "/" + name, gpus);
    }
    return Missing{gpus + "/" + bdf.str(), "ENOENT"};
}

void set_all(NvidiaGpu& gpu, const Missing& missing) {
    gpu.model = gpu.uuid = gpu.gsp_firmware = gpu.vbios_version = missing;
    gpu.minor = missing;
    gpu.excluded = missing;
}

}  // namespace

std::optional<NvidiaModuleVersion> parse_nvidia_version(std::string_view line) {
    constexpr std::string_view kMaker = "NVIDIA UNIX ", kModule = "Kernel Module", kFor = " for ";
    const std::size_t maker = line.find(kMaker);
    if (maker == std::string_view::npos) return std::nullopt;
    line.remove_prefix(maker + kMaker.size());
    const std::size_t module = line.find(kModule);
    if (module == std::string_view::npos) return std::nullopt;
    const std::string_view before = line.substr(0, module);  // "x86_64 ", "Open ", "aarch64 "
    line.remove_prefix(module + kModule.size());
    if (line.starts_with(kFor)) {  // " for x86_64"
        line.remove_prefix(kFor.size());
        const std::size_t blank = line.find(' ');
        if (blank == 0 || blank == std::string_view::npos) return std::nullopt;
        line.remove_prefix(blank);
    }
    // Two blanks stand before the version in every release; one blank would be the next word of another
    // sentence.
    if (!line.starts_with("  ")) return std::nullopt;
    line = strip(line);
    const std::string_view version = line.substr(0, line.find_first_of(" \t"));
    if (!is_version(version)) return std::nullopt;
    return NvidiaModuleVersion{std::string(version), before.find("Open") != std::string_view::npos};
}

NvidiaDriver read_nvidia_driver(const Sysroot& root) {
    NvidiaDriver driver;
    const Fact<std::string> line = root.read_line(std::string(kProc) + "/version");
    if (!line.known()) {
        driver.version = line.missing();
        driver.open_kernel_module = line.missing();
    } else if (const auto parsed = parse_nvidia_version(line.value())) {
        driver.version = Fact<std::string>(parsed->version, line.source());
        driver.open_kernel_module = Fact<bool>(parsed->open_module, line.source());
    } else {
        const Missing malformed{line.source(), "malformed: '" + line.value().substr(0, 80) + "'"};
        driver.version = malformed;
        driver.open_kernel_module = malformed;
    }
    driver.proc_gpus = root.list(std::string(kProc) + "/gpus");
    const Fact<std::string> params = root.read(std::string(kProc) + "/params");
    if (params.known()) {
        for (const KeyValue& row : rows_of(params.value())) {
            if (driver.params.size() == kMaxParams) break;
            driver.params.push_back({std::string(row.key), std::string(row.value)});
        }
    }
    return driver;
}

void read_nvidia_gpu(const Sysroot& root, Device& gpu) {
    const Fact<std::string> folder = folder_of(root, gpu.bdf);
    if (!folder.known()) return set_all(gpu.nvidia, folder.missing());
    const std::string file = folder.value() + "/information";
    const Fact<std::string> content = root.read(file);
    if (!content.known()) return set_all(gpu.nvidia, content.missing());
    const std::vector<KeyValue> rows = rows_of(content.value());
    gpu.nvidia.model = text_row(rows, "Model", file);
    gpu.nvidia.uuid = text_row(rows, "GPU UUID", file);
    gpu.nvidia.gsp_firmware = text_row(rows, "GPU Firmware", file);
    gpu.nvidia.vbios_version = text_row(rows, "Video BIOS", file);
    gpu.nvidia.minor = convert_fact<unsigned>(text_row(rows, "Device Minor", file), minor_from);
    gpu.nvidia.excluded = convert_fact<bool>(text_row(rows, "GPU Excluded", file), yes_no);
}

}  // namespace gpucheck::host
