// NVIDIA GPUs through libcuda's driver interface: the only part of CUDA that every driver brings along.
#include <cstdio>
#include <utility>

#include "kernels/driver/cuda_api.h"
#include "kernels/driver/functions.h"
#include "kernels/driver/vendors.h"

namespace gpucheck::gpu {
namespace {

using namespace cuda;

/// The functions, the name of each for messages, and who is told before a call.
struct Library {
    Functions call;
    child::Reporter& reporter;

    std::string error_name(Result result) const {
        const char* name = nullptr;
        if (call.error_name != nullptr && call.error_name(result, &name) == kSuccess && name != nullptr)
            return name;
        return "error " + std::to_string(result);
    }
    Failure failure(const char* name, Result result) const {
        return {name, error_name(result), result == kOutOfMemory};
    }
    template <class Function, class... Arguments>
    Done operator()(const char* name, Function* function, Arguments... arguments) const {
        if (function == nullptr) return Failure{name, "not in this library"};
        reporter.step(name);
        const Result result = function(arguments...);
        if (result == kSuccess) return std::nullopt;
        return failure(name, result);
    }
};

class CudaGpu final : public Gpu {
  public:
    CudaGpu(const Library& library, Device device, Context context, Properties properties)
        : library_(library), device_(device), context_(context), properties_(std::move(properties)) {}

    const Properties& properties() const override { return properties_; }

    Done memory(std::uint64_t& free_bytes, std::uint64_t& total_bytes) override {
        std::size_t free = 0, total = 0;
        Done done = on("cuMemGetInfo", library_.call.memory_info, &free, &total);
        free_bytes = free;
        total_bytes = total;
        return done;
    }
    Done load(const void* image, Module& module) override {
        return on("cuModuleLoadData", library_.call.load_module, &module.handle, image);
    }
    Done find(Module module, const char* name, Kernel& kernel) override {
        return on("cuModuleGetFunction", library_.call.get_function, &kernel.handle, module.handle, name);
    }
    Done allow_shared(Kernel kernel, unsigned bytes) override {
        return on("cuFuncSetAttribute", library_.call.set_attribute, kernel.handle, kFunctionMaxDynamicShared,
                  static_cast<int>(bytes));
    }
    Done launch(Kernel kernel, Shape shape, void** arguments, Stream stream) override {
        return on("cuLaunchKernel", library_.call.launch, kernel.handle, shape.blocks, 1U, 1U, shape.threads,
                  1U, 1U, shape.shared_bytes, stream.handle, arguments, static_cast<void**>(nullptr));
    }
    Done allocate(std::uint64_t bytes, DevicePointer& memory) override {
        Pointer pointer = 0;
        Done done = on("cuMemAlloc", library_.call.allocate, &pointer, static_cast<std::size_t>(bytes));
        memory = pointer;
        return done;
    }
    Done release(DevicePointer memory) override {
        return on("cuMemFree", library_.call.release, Pointer{memory});
    }
    Done allocate_pinned(std::uint64_t bytes, void*& memory) override {
        return on("cuMemHostAlloc", library_.call.allocate_host, &memory, static_cast<std::size_t>(bytes),
                  kHostAllocPortable);
    }
    Done release_pinned(void* memory) override {
        return on("cuMemFreeHost", library_.call.release_host, memory);
    }
    Done copy(Direction direction, std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
              Stream stream) override {
        const auto size = static_cast<std::size_t>(bytes);
        switch (direction) {
            case Direction::to_device:
                return on("cuMemcpyHtoDAsync", library_.call.copy_to_device, Pointer{to},
                          reinterpret_cast<const void*>(from), size, stream.handle);
            case Direction::to_host:
                return on("cuMemcpyDtoHAsync", library_.call.copy_to_host, reinterpret_cast<void*>(to),
                          Pointer{from}, size, stream.handle);
            case Direction::on_device:
                break;
        }
        return on("cuMemcpyDtoDAsync", library_.call.copy_on_device, Pointer{to}, Pointer{from}, size,
                  stream.handle);
    }
    Done copy_to_peer(Gpu& peer, DevicePointer to, DevicePointer from, std::uint64_t bytes,
                      Stream stream) override {
        auto* other = dynamic_cast<CudaGpu*>(&peer);
        if (other == nullptr) return Failure{"cuMemcpyPeerAsync", "not a GPU of this library"};
        return on("cuMemcpyPeerAsync", library_.call.copy_peer, Pointer{to}, other->context_, Pointer{from},
                  context_, static_cast<std::size_t>(bytes), stream.handle);
    }
    Done reach_peer(Gpu& peer, bool& direct) override {
        direct = false;
        auto* other = dynamic_cast<CudaGpu*>(&peer);
        if (other == nullptr) return Failure{"cuDeviceCanAccessPeer", "not a GPU of this library"};
        int can = 0;
        if (Done failed =
                on("cuDeviceCanAccessPeer", library_.call.can_reach_peer, &can, device_, other->device_))
            return failed;
        if (can == 0) return std::nullopt;
        Done failed = on("cuCtxEnablePeerAccess", library_.call.enable_peer, other->context_, 0U);
        if (failed && failed->error != library_.error_name(kPeerAccessAlreadyEnabled)) return failed;
        direct = true;
        return std::nullopt;
    }
    Done fill_words(DevicePointer memory, std::uint32_t word, std::uint64_t words, Stream stream) override {
        return on("cuMemsetD32Async", library_.call.fill_words, Pointer{memory}, unsigned{word},
                  static_cast<std::size_t>(words), stream.handle);
    }
    Done create(Stream& stream) override {
        return on("cuStreamCreate", library_.call.create_stream, &stream.handle, kStreamNonBlocking);
    }
    Done create(Event& event) override {
        return on("cuEventCreate", library_.call.create_event, &event.handle, 0U);
    }
    Done record(Event event, Stream stream) override {
        return on("cuEventRecord", library_.call.record_event, event.handle, stream.handle);
    }
    Done elapsed(Event start, Event stop, double& ms) override {
        float value = 0;
        Done done = on("cuEventElapsedTime", library_.call.elapsed, &value, start.handle, stop.handle);
        ms = static_cast<double>(value);
        return done;
    }
    Done synchronize(Stream stream) override {
        return on("cuStreamSynchronize", library_.call.synchronize, stream.handle);
    }

  private:
    // With this GPU's context current: one child may hold two GPUs.
    template <class Function, class... Arguments>
    Done on(const char* name, Function* function, Arguments... arguments) const {
        if (const Result result = library_.call.set_context(context_); result != kSuccess)
            return library_.failure("cuCtxSetCurrent", result);
        return library_(name, function, arguments...);
    }

    const Library& library_;
    Device device_;
    Context context_;
    Properties properties_;
};

class CudaDriver final : public Driver {
  public:
    CudaDriver(const Functions& functions, child::Reporter& reporter) : library_{functions, reporter} {}

    std::variant<std::unique_ptr<Gpu>, Missing> open(const Bdf& bdf) override {
        Device device = 0;
        const std::string address = bdf.str();
        if (const Done failed =
                library_("cuDeviceGetByPCIBusId", library_.call.device_by_bus_id, &device, address.c_str()))
            return missing(*failed);
        Properties properties;
        if (const Done failed = read(device, properties)) return missing(*failed);
        Context context = nullptr;
        if (const Done failed =
                library_("cuDevicePrimaryCtxRetain", library_.call.retain_context, &context, device))
            return missing(*failed);
        return std::make_unique<CudaGpu>(library_, device, context, std::move(properties));
    }

  private:
    static Missing missing(const Failure& failure) {
        const bool unlisted =
            failure.call == "cuDeviceGetByPCIBusId" &&
            (failure.error == "CUDA_ERROR_INVALID_DEVICE" || failure.error == "CUDA_ERROR_INVALID_VALUE");
        return {failure.call, unlisted ? "ENOENT" : failure.error};
    }
    Done attribute(int which, Device device, int& value) {
        return library_("cuDeviceGetAttribute", library_.call.device_attribute, &value, which, device);
    }
    Done read(Device device, Properties& properties) {
        char name[256] = {};
        if (!library_("cuDeviceGetName", library_.call.device_name, name, int{sizeof name - 1}, device))
            properties.name = name;
        int units = 0, khz = 0, major = 0, minor = 0;
        if (Done failed = attribute(kAttributeMultiprocessorCount, device, units)) return failed;
        if (Done failed = attribute(kAttributeComputeCapabilityMajor, device, major)) return failed;
        if (Done failed = attribute(kAttributeComputeCapabilityMinor, device, minor)) return failed;
        if (!attribute(kAttributeClockRate, device, khz) && khz > 0)
            properties.clock_mhz = static_cast<unsigned>(khz) / 1000;
        std::size_t bytes = 0;
        if (Done failed = library_("cuDeviceTotalMem", library_.call.device_memory, &bytes, device))
            return failed;
        if (units > 0) properties.units = static_cast<unsigned>(units);
        if (major > 0 && minor >= 0)
            properties.architecture = "sm_" + std::to_string(major) + std::to_string(minor);
        properties.total_bytes = bytes;
        return std::nullopt;
    }

    Library library_;
};

}  // namespace

std::variant<std::unique_ptr<Driver>, Missing> open_cuda(const vendor::LibrarySource& source,
                                                         child::Reporter& reporter) {
    reporter.step("dlopen libcuda.so.1");
    auto opened = vendor::Library::open(source, {"libcuda.so.1"});
    if (auto* missing = std::get_if<Missing>(&opened)) return *missing;
    const auto& library = std::get<vendor::Library>(opened);
    Functions functions;
    std::string lacking;
#define GPUCHECK_CUDA_TAKE(member, required, result, parameters, ...) \
    take(library, functions.member, required, {__VA_ARGS__}, lacking);
    GPUCHECK_CUDA_FUNCTIONS(GPUCHECK_CUDA_TAKE)
#undef GPUCHECK_CUDA_TAKE
    if (!lacking.empty()) return Missing{library.path(), "lacks " + lacking};
    reporter.step("cuInit");
    if (const Result result = functions.init(0); result != kSuccess)
        return Missing{"cuInit", Library{functions, reporter}.error_name(result)};
    return std::make_unique<CudaDriver>(functions, reporter);
}

}  // namespace gpucheck::gpu
