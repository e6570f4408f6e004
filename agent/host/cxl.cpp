// Reads CXL memory devices; file names as in the kernel's Documentation/ABI/testing/sysfs-bus-cxl.
#include "agent/host/cxl.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace gpucheck::host {
namespace {

// N of "memN"; other entries of the bus are ports, decoders and regions.
std::optional<unsigned> memory_number(std::string_view name) {
    constexpr std::string_view kPrefix = "mem";
    if (!name.starts_with(kPrefix)) return std::nullopt;
    unsigned number = 0;
    const char* end = name.data() + name.size();
    const auto result = std::from_chars(name.data() + kPrefix.size(), end, number);
    if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
    return number;
}

}  // namespace

std::vector<CxlMemory> read_cxl(const Sysroot& root) {
    const std::string bus = "/sys/bus/cxl/devices";
    const Fact<std::vector<std::string>> names = root.list(bus);
    if (!names.known()) return {};
    std::map<unsigned, CxlMemory> by_number;
    for (const std::string& name : names.value()) {
        const std::optional<unsigned> number = memory_number(name);
        if (!number) continue;
        const std::string folder = bus + "/" + name;
        CxlMemory memory;
        memory.name = name;
        memory.ram_bytes = root.read_u64(folder + "/ram/size");
        memory.pmem_bytes = root.read_u64(folder + "/pmem/size");
        memory.numa_node = root.read_int(folder + "/numa_node");
        memory.firmware_version = root.read_line(folder + "/firmware_version");
        by_number.emplace(*number, std::move(memory));
    }
    std::vector<CxlMemory> memories;
    for (auto& [number, memory] : by_number) memories.push_back(std::move(memory));
    return memories;
}

}  // namespace gpucheck::host
