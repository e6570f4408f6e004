// One GPU behind libcuda or libamdhip64, as the experiments need it: what a vendor call answered is kept by
// its own name, because "launch failed" and "uncorrectable ECC error" send different machines back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "agent/child/child.h"
#include "agent/vendor/library.h"
#include "checks/model/bdf.h"
#include "checks/model/board.h"
#include "checks/model/fact.h"

namespace gpucheck::gpu {

/// A vendor call that did not do what it should.
struct Failure {
    std::string call;  ///< "cuModuleLoadData"
    std::string
        error;  ///< "CUDA_ERROR_ECC_UNCORRECTABLE", "hipErrorOutOfMemory"; "error 12345" without a name
    bool out_of_memory = false;
    bool operator==(const Failure&) const = default;
};
/// nullopt: done.
using Done = std::optional<Failure>;

using DevicePointer = std::uint64_t;
struct Module {
    void* handle = nullptr;
};
struct Kernel {
    void* handle = nullptr;
};
struct Stream {
    void* handle = nullptr;
};
struct Event {
    void* handle = nullptr;
};

struct Properties {
    std::string name;          ///< what the library calls it
    std::string architecture;  ///< "sm_90", "gfx942"; empty when the library does not say
    unsigned units = 0;        ///< SMs or compute units
    unsigned clock_mhz = 0;    ///< the highest one; 0: not said
    std::uint64_t total_bytes = 0;
};

struct Shape {
    unsigned blocks = 1;
    unsigned threads = 1;  ///< of one block
    unsigned shared_bytes = 0;
};

enum class Direction : std::uint8_t { to_device, to_host, on_device };

/// One open GPU. Every call announces itself to the reporter first, so that one that hangs is named.
class Gpu {
  public:
    virtual ~Gpu() = default;

    virtual const Properties& properties() const = 0;
    [[nodiscard]] virtual Done memory(std::uint64_t& free_bytes, std::uint64_t& total_bytes) = 0;

    [[nodiscard]] virtual Done load(const void* image, Module& module) = 0;
    [[nodiscard]] virtual Done find(Module module, const char* name, Kernel& kernel) = 0;
    /// Allows a kernel more dynamic shared memory than every GPU has; nothing to do where that is not needed.
    [[nodiscard]] virtual Done allow_shared(Kernel kernel, unsigned bytes) = 0;
    /// `arguments`: one pointer to each parameter, as both vendors' launch calls take them.
    [[nodiscard]] virtual Done launch(Kernel kernel, Shape shape, void** arguments, Stream stream) = 0;

    [[nodiscard]] virtual Done allocate(std::uint64_t bytes, DevicePointer& memory) = 0;
    [[nodiscard]] virtual Done release(DevicePointer memory) = 0;
    [[nodiscard]] virtual Done allocate_pinned(std::uint64_t bytes, void*& memory) = 0;
    [[nodiscard]] virtual Done release_pinned(void* memory) = 0;

    /// Asynchronous; `to` and `from` are device addresses or pinned host pointers as `direction` says.
    [[nodiscard]] virtual Done copy(Direction direction, std::uint64_t to, std::uint64_t from,
                                    std::uint64_t bytes, Stream stream) = 0;
    /// From this GPU's `from` to `peer`'s `to`; both were opened by the same Driver.
    [[nodiscard]] virtual Done copy_to_peer(Gpu& peer, DevicePointer to, DevicePointer from,
                                            std::uint64_t bytes, Stream stream) = 0;
    /// Whether this GPU reaches `peer`'s memory directly, and makes it so when it can.
    [[nodiscard]] virtual Done reach_peer(Gpu& peer, bool& direct) = 0;
    [[nodiscard]] virtual Done fill_words(DevicePointer memory, std::uint32_t word, std::uint64_t words,
                                          Stream stream) = 0;

    [[nodiscard]] virtual Done create(Stream& stream) = 0;
    [[nodiscard]] virtual Done create(Event& event) = 0;
    [[nodiscard]] virtual Done record(Event event, Stream stream) = 0;
    /// Between two recorded events that have passed.
    [[nodiscard]] virtual Done elapsed(Event start, Event stop, double& ms) = 0;
    [[nodiscard]] virtual Done synchronize(Stream stream) = 0;
};

/// A loaded and initialised vendor library; make it in a child only.
class Driver {
  public:
    virtual ~Driver() = default;
    /// The GPU at this PCI address, whatever number the library gives it. Missing: the library does not list
    /// it (ENOENT) or cannot open it (its error name).
    virtual std::variant<std::unique_ptr<Gpu>, Missing> open(const Bdf& bdf) = 0;
};

/// Missing: the library is not there, lacks a function that we need, or does not initialise; which of these
/// is in `why`. `reporter` must outlive the driver and its GPUs.
std::variant<std::unique_ptr<Driver>, Missing> open_driver(Vendor vendor, const vendor::LibrarySource& source,
                                                           child::Reporter& reporter);

/// What is loaded for a vendor's GPUs: "libcuda.so.1", "libamdhip64.so".
std::string library_of(Vendor vendor);

/// Takes away what would hide a GPU from the library or renumber it (CUDA_VISIBLE_DEVICES, ...): that the
/// variable is set is a finding of its own, and must not keep a GPU from being tested.
void neutralise_environment();

/// From here on memory comes from this NUMA node first; a node that is not there changes nothing.
void prefer_numa_node(int node);

}  // namespace gpucheck::gpu
