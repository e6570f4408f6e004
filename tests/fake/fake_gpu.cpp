// Memory, calls and faults of the fake GPUs.
#include "tests/fake/device_memory.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "checks/model/bdf.h"

namespace gpucheck::fake {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLarge = std::uint64_t{1} << 20;

Fault fault_of(const Json& json) {
    Fault fault;
    fault.kind = json.value("kind", "");
    fault.gpu = json.value("gpu", "");
    fault.call = json.value("call", "");
    fault.kernel = json.value("kernel", "");
    fault.after = json.value("after", std::uint64_t{0});
    fault.address = json.value("address", std::uint64_t{0});
    fault.bit = json.value("bit", 0U);
    fault.value = json.value("value", false);
    if (json.contains("unit")) fault.unit = json["unit"].get<unsigned>();
    if (json.contains("lane")) fault.lane = json["lane"].get<unsigned>();
    if (json.contains("element")) fault.element = json["element"].get<unsigned>();
    fault.error = json.value("error", 719);
    fault.ms = json.value("ms", 0U);
    fault.once = json.value("once", false);
    return fault;
}

GpuDescription description_of(const Json& json) {
    GpuDescription gpu;
    gpu.bdf = json.value("bdf", "");
    gpu.vendor = json.value("vendor", "nvidia");
    gpu.architecture = json.value("architecture", gpu.vendor == "amd" ? "gfx942" : "sm_90");
    gpu.name = json.value("name", "fake " + gpu.architecture);
    gpu.units = json.value("units", gpu.units);
    gpu.memory_bytes = json.value("memory_bytes", gpu.memory_bytes);
    gpu.clock_mhz = json.value("clock_mhz", gpu.clock_mhz);
    return gpu;
}

std::string scenario_path() {
    if (const char* path = std::getenv("GPUCHECK_FAKE_SCENARIO")) return path;
    Dl_info info{};
    if (::dladdr(reinterpret_cast<const void*>(&scenario_path), &info) == 0 || info.dli_fname == nullptr)
        return {};
    const std::string library = info.dli_fname;
    return library.substr(0, library.rfind('/') + 1) + "scenario.json";
}

/// The GPUs that "compute" describes; without it those that the fake NVML lists, small ones of Hopper's kind.
std::vector<GpuDescription> descriptions_in(const Json& scenario) {
    std::vector<GpuDescription> gpus;
    const Json compute = scenario.value("compute", Json::object());
    for (const Json& each : compute.value("gpus", Json::array())) gpus.push_back(description_of(each));
    if (compute.contains("gpus")) return gpus;
    for (const Json& each : scenario.value("gpus", Json::array()))
        gpus.push_back(description_of({{"bdf", each.value("at", "")}}));
    return gpus;
}

std::vector<std::unique_ptr<FakeGpu>> read_gpus(const std::string& vendor) {
    std::vector<std::unique_ptr<FakeGpu>> result;
    std::ifstream file(scenario_path());
    const Json scenario = Json::parse(file, nullptr, false);
    if (!scenario.is_object()) return result;
    const Json compute = scenario.value("compute", Json::object());
    for (GpuDescription& gpu : descriptions_in(scenario)) {
        if (gpu.vendor != vendor) continue;
        std::vector<Fault> faults;
        for (const Json& one : compute.value("faults", Json::array())) {
            Fault fault = fault_of(one);
            if (fault.gpu.empty() || fault.gpu == gpu.bdf) faults.push_back(std::move(fault));
        }
        result.push_back(std::make_unique<FakeGpu>(std::move(gpu), std::move(faults)));
    }
    return result;
}

}  // namespace

bool strikes(const Fault& fault) {
    const std::uint64_t nth = fault.seen++;
    return fault.once ? nth == fault.after : nth >= fault.after;
}

FakeGpu::FakeGpu(GpuDescription description, std::vector<Fault> faults)
    : about_(std::move(description)), faults_(std::move(faults)) {
    void* memory = ::mmap(nullptr, about_.memory_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) memory_ = static_cast<unsigned char*>(memory);
}

FakeGpu::~FakeGpu() {
    if (memory_ != nullptr) ::munmap(memory_, about_.memory_bytes);
}

int FakeGpu::enter(const char* call, const std::string& kernel) {
    if (lost_ != 0) return lost_;
    for (const Fault& fault : faults_) {
        if (fault.call != call || (!fault.kernel.empty() && fault.kernel != kernel)) continue;
        if (!strikes(fault)) continue;
        if (fault.kind == "hang") {
            for (;;) ::pause();
        }
        if (fault.kind == "crash") ::raise(SIGSEGV);
        if (fault.kind == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(fault.ms));
        if (fault.kind == "error") return fault.error;
        if (fault.kind == "lost") return lost_ = fault.error;
    }
    return 0;
}

void* FakeGpu::allocate(std::uint64_t bytes) {
    if (bytes == 0 || memory_ == nullptr) return nullptr;
    const std::uint64_t size = (bytes + 255) / 256 * 256;
    if (size < bytes || size > about_.memory_bytes) return nullptr;
    if (size >= kLarge) {
        std::uint64_t at = 0;  // the first gap that is large enough
        for (const auto& [offset, length] : blocks_) {
            if (offset - at >= size) break;
            at = offset + length;
        }
        if (about_.memory_bytes - at < size) return nullptr;
        blocks_[at] = size;
        return memory_ + at;
    }
    std::uint64_t end = about_.memory_bytes;
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
        if (end - (block->first + block->second) >= size) break;
        end = block->first;
    }
    if (end < size) return nullptr;
    blocks_[end - size] = size;
    return memory_ + (end - size);
}

bool FakeGpu::release(void* memory) {
    const auto offset = static_cast<std::uint64_t>(static_cast<unsigned char*>(memory) - memory_);
    return blocks_.erase(offset) == 1;
}

std::uint64_t FakeGpu::free_bytes() const {
    std::uint64_t used = 0;
    for (const auto& [offset, bytes] : blocks_) used += bytes;
    return about_.memory_bytes - used;
}

bool FakeGpu::owns(const void* memory, std::uint64_t bytes) const {
    const auto* start = static_cast<const unsigned char*>(memory);
    if (start < memory_ || start >= memory_ + about_.memory_bytes) return false;
    const auto offset = static_cast<std::uint64_t>(start - memory_);
    auto block = blocks_.upper_bound(offset);
    if (block == blocks_.begin()) return false;
    --block;
    return offset - block->first < block->second && bytes <= block->second - (offset - block->first);
}

void FakeGpu::settle() {
    for (const Fault& fault : faults_) {
        if (fault.kind != "stuck_bit" && fault.kind != "flip_bit") continue;
        if (fault.address / 8 * 8 + 8 > about_.memory_bytes || !owns(memory_ + fault.address, 1)) continue;
        if (!strikes(fault)) continue;
        unsigned char* at = memory_ + fault.address / 8 * 8;
        std::uint64_t word = 0;
        std::memcpy(&word, at, sizeof word);
        const std::uint64_t mask = std::uint64_t{1} << (fault.bit % 64);
        word = fault.kind == "flip_bit" ? word ^ mask : fault.value ? word | mask : word & ~mask;
        std::memcpy(at, &word, sizeof word);
    }
}

bool FakeGpu::skips(const std::string& kernel) {
    for (const Fault& fault : faults_) {
        if (fault.kind == "skip" && (fault.kernel.empty() || fault.kernel == kernel) && strikes(fault))
            return true;
    }
    return false;
}

std::vector<std::unique_ptr<FakeGpu>>& gpus(const char* vendor) {
    // Never destroyed, as a vendor library's state never is.
    static auto& found = *new std::vector<std::unique_ptr<FakeGpu>>(read_gpus(vendor));
    return found;
}

int find_gpu(const char* vendor, const std::string& bdf) {
    const auto wanted = Bdf::parse(bdf);
    const auto& all = gpus(vendor);
    for (std::size_t i = 0; wanted && i < all.size(); ++i) {
        if (Bdf::parse(all[i]->about().bdf) == wanted) return static_cast<int>(i);
    }
    return -1;
}

}  // namespace gpucheck::fake
