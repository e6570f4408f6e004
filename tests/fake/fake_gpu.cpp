// Memory, calls and faults of the fake GPUs.
#include "tests/fake/fake_gpu.h"

#include <sys/mman.h>

#include <cstring>
#include <thread>

#include "tests/fake/harm.h"

namespace gpucheck::fake {
namespace {

constexpr std::uint64_t kLarge = std::uint64_t{1} << 20;

}  // namespace
bool strikes(const Fault& fault) {
    const std::uint64_t nth = fault.seen++;
    return fault.once ? nth == fault.after : nth >= fault.after;
}

FakeGpu::FakeGpu(GpuDescription description, std::vector<Fault> faults)
    : about_(std::move(description)), faults_(std::move(faults)), clock_(about_.figures, about_.bdf) {
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
        if (fault.call != call || fault.kind == "flip_copy") continue;
        if ((!fault.kernel.empty() && fault.kernel != kernel) || !strikes(fault)) continue;
        ::fake::harm(fault.kind);
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

void FakeGpu::deliver(const char* call, void* to, std::uint64_t bytes) {
    for (const Fault& fault : faults_) {
        if (fault.kind != "flip_copy" || fault.call != call || fault.address >= bytes || !strikes(fault))
            continue;
        static_cast<unsigned char*>(to)[fault.address] ^= static_cast<unsigned char>(1U << fault.bit % 8);
    }
}

bool FakeGpu::skips(const std::string& kernel) {
    for (const Fault& fault : faults_) {
        if (fault.kind == "skip" && (fault.kernel.empty() || fault.kernel == kernel) && strikes(fault))
            return true;
    }
    return false;
}

}  // namespace gpucheck::fake
