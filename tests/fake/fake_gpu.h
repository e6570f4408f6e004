// GPUs made of host memory and the kernels' own source compiled for the host, with the faults that real ones
// have: what the fake libcuda and the fake libamdhip64 share.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/fake/device_clock.h"

namespace gpucheck::fake {

/// One line of "faults" (README.md has the words). Sticky unless `once`; the same call, place and data give
/// the same fault every time.
struct Fault {
    std::string kind;
    std::string gpu;               ///< PCI address; empty: all
    std::string call;              ///< of the faults that calls meet: "cuLaunchKernel"
    std::string kernel;            ///< only while this kernel runs: "matrix_bf16"; empty: any
    std::uint64_t after = 0;       ///< so many matching occasions go well first
    std::uint64_t address = 0;     ///< from the start of the GPU's memory, or of what is copied
    unsigned bit = 0;              ///< of that byte's 64-bit word; of the result of a lane
    bool value = false;            ///< stuck_bit, lane: what the bit always is
    std::optional<unsigned> unit;  ///< lane, flip_lane, nan; nullopt: all
    std::optional<unsigned> lane;
    std::optional<unsigned> element;  ///< accumulator register
    int error = 719;                  ///< error, lost
    unsigned ms = 0;                  ///< slow
    bool once = false;
    mutable std::uint64_t seen = 0;
};

struct GpuDescription {
    std::string bdf, vendor, name, architecture;
    unsigned units = 2;
    std::uint64_t memory_bytes = std::uint64_t{16} << 20;
    unsigned clock_mhz = 1000;
    bool hidden = false;  ///< on the bus, but the library does not list it
    std::optional<Figures> figures;
};

/// One GPU: memory with an allocator of its own, and what is wrong with it.
class FakeGpu {
  public:
    FakeGpu(GpuDescription description, std::vector<Fault> faults);
    ~FakeGpu();
    FakeGpu(const FakeGpu&) = delete;
    FakeGpu& operator=(const FakeGpu&) = delete;

    const GpuDescription& about() const { return about_; }
    DeviceClock& clock() { return clock_; }
    /// At the start of every call: hangs, crashes, waits, or gives the error to return; 0: go on.
    int enter(const char* call, const std::string& kernel = {});

    /// Large blocks from the bottom, small ones from the top, so that a test knows where they are. nullptr:
    /// full.
    void* allocate(std::uint64_t bytes);
    bool release(void* memory);
    std::uint64_t free_bytes() const;
    /// Within one of the blocks that are allocated.
    bool owns(const void* memory, std::uint64_t bytes) const;
    /// After everything that wrote: broken cells do not keep what was written.
    void settle();
    /// What a copy delivered, after a link that flips bits.
    void deliver(const char* call, void* to, std::uint64_t bytes);
    /// Whether a launch of `kernel` is to do nothing, without an error.
    bool skips(const std::string& kernel);
    const std::vector<Fault>& faults() const { return faults_; }

  private:
    GpuDescription about_;
    std::vector<Fault> faults_;
    DeviceClock clock_;
    int lost_ = 0;
    unsigned char* memory_ = nullptr;
    std::map<std::uint64_t, std::uint64_t> blocks_;  // offset, bytes
};

/// The GPUs of one vendor in scenario.json ("compute"): the file that GPUCHECK_FAKE_SCENARIO names, or the
/// one beside this library. One that cannot be read, or that has a word nobody knows, ends the process
/// loudly: a test that runs without its faults would pass for the wrong reason.
std::vector<std::unique_ptr<FakeGpu>>& gpus(const char* vendor);
[[noreturn]] void refuse(const std::string& why);

/// Counts a matching occasion; true when the fault strikes now.
bool strikes(const Fault& fault);

/// Whether this architecture has such a kernel.
bool has_kernel(const FakeGpu& gpu, const std::string& name);
/// Runs a kernel of the product's own source by name; an error number or 0.
int run_kernel(FakeGpu& gpu, Stream& stream, const std::string& name, unsigned blocks, unsigned threads,
               void** arguments);

inline constexpr int kInvalidValue = 1, kOutOfMemory = 2, kNoDevice = 100, kInvalidDevice = 101,
                     kInvalidHandle = 400, kNotFound = 500, kIllegalAddress = 700, kLaunchFailed = 719;

}  // namespace gpucheck::fake
