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

namespace gpucheck::fake {

/// One line of "faults". Sticky unless `once`; the same call, place and data give the same fault every time.
struct Fault {
    std::string kind;              ///< stuck_bit flip_bit lane flip_lane nan error lost hang crash slow skip
    std::string gpu;               ///< PCI address; empty: all
    std::string call;              ///< error, lost, hang, crash, slow: "cuLaunchKernel"
    std::string kernel;            ///< only while this kernel runs: "matrix_bf16"; empty: any
    std::uint64_t after = 0;       ///< so many matching calls go well first
    std::uint64_t address = 0;     ///< stuck_bit, flip_bit: from the start of the GPU's memory
    unsigned bit = 0;              ///< of that byte's 64-bit word; of the result in lane
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
    std::uint64_t memory_bytes = std::uint64_t{64} << 20;
    unsigned clock_mhz = 1000;
};

/// One GPU: memory with an allocator of its own, and what is wrong with it.
class FakeGpu {
  public:
    FakeGpu(GpuDescription description, std::vector<Fault> faults);
    ~FakeGpu();
    FakeGpu(const FakeGpu&) = delete;
    FakeGpu& operator=(const FakeGpu&) = delete;

    const GpuDescription& about() const { return about_; }
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
    /// Whether a launch of `kernel` is to do nothing, without an error.
    bool skips(const std::string& kernel);
    const std::vector<Fault>& faults() const { return faults_; }

  private:
    GpuDescription about_;
    std::vector<Fault> faults_;
    int lost_ = 0;
    unsigned char* memory_ = nullptr;
    std::map<std::uint64_t, std::uint64_t> blocks_;  // offset, bytes
};

/// The GPUs of one vendor in scenario.json ("compute"): the file that GPUCHECK_FAKE_SCENARIO names, or the
/// one beside this library. Empty when there is none.
std::vector<std::unique_ptr<FakeGpu>>& gpus(const char* vendor);
/// By PCI address in any spelling; -1: none.
int find_gpu(const char* vendor, const std::string& bdf);

/// Counts a matching occasion; true when the fault strikes now.
bool strikes(const Fault& fault);

/// Whether this architecture has such a kernel.
bool has_kernel(const FakeGpu& gpu, const std::string& name);
/// Runs a kernel of the product's own source by name; an error number or 0.
int run_kernel(FakeGpu& gpu, const std::string& name, unsigned blocks, unsigned threads, void** arguments);

/// What a handle of a function points to.
struct Function {
    FakeGpu* gpu = nullptr;
    std::string name;
};
struct Moment {
    std::chrono::steady_clock::time_point at;
};

/// The calls that both vendors have, with the same numbers for their errors. `name` is the vendor's own.
int launch(Function* function, unsigned blocks, unsigned threads, void** arguments, const char* name);
/// Between host and device, or on the device; `gpu` is whose stream it is.
int copy(FakeGpu& gpu, void* to, const void* from, std::uint64_t bytes, bool to_device, bool from_device,
         const char* name);
int fill_words(FakeGpu& gpu, void* to, std::uint32_t word, std::uint64_t words, const char* name);

inline constexpr int kInvalidValue = 1, kOutOfMemory = 2, kInvalidDevice = 101, kInvalidHandle = 400,
                     kNotFound = 500, kIllegalAddress = 700, kLaunchFailed = 719;

}  // namespace gpucheck::fake
