// AMD GPUs through libamdhip64: module and memory functions alone, which have been the same since ROCm 5.
#include <cstdio>
#include <utility>

#include "kernels/driver/functions.h"
#include "kernels/driver/hip_api.h"
#include "kernels/driver/vendors.h"

namespace gpucheck::gpu {
namespace {

using namespace hip;

/// The functions, the name of each for messages, and who is told before a call.
struct Library {
    Functions call;
    child::Reporter& reporter;

    std::string error_name(Result result) const {
        const char* name = call.error_name != nullptr ? call.error_name(result) : nullptr;
        if (name != nullptr) return name;
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

class HipGpu final : public Gpu {
  public:
    HipGpu(const Library& library, Device device, Properties properties)
        : library_(library), device_(device), properties_(std::move(properties)) {}

    const Properties& properties() const override { return properties_; }

    Done memory(std::uint64_t& free_bytes, std::uint64_t& total_bytes) override {
        std::size_t free = 0, total = 0;
        Done done = on("hipMemGetInfo", library_.call.memory_info, &free, &total);
        free_bytes = free;
        total_bytes = total;
        return done;
    }
    Done load(const void* image, Module& module) override {
        return on("hipModuleLoadData", library_.call.load_module, &module.handle, image);
    }
    Done find(Module module, const char* name, Kernel& kernel) override {
        return on("hipModuleGetFunction", library_.call.get_function, &kernel.handle, module.handle, name);
    }
    Done allow_shared(Kernel, unsigned) override {
        return std::nullopt;  // a kernel may use all of a compute unit's LDS
    }
    Done launch(Kernel kernel, Shape shape, void** arguments, Stream stream) override {
        return on("hipModuleLaunchKernel", library_.call.launch, kernel.handle, shape.blocks, 1U, 1U,
                  shape.threads, 1U, 1U, shape.shared_bytes, stream.handle, arguments,
                  static_cast<void**>(nullptr));
    }
    Done allocate(std::uint64_t bytes, DevicePointer& memory) override {
        void* pointer = nullptr;
        Done done = on("hipMalloc", library_.call.allocate, &pointer, static_cast<std::size_t>(bytes));
        memory = reinterpret_cast<DevicePointer>(pointer);
        return done;
    }
    Done release(DevicePointer memory) override {
        return on("hipFree", library_.call.release, reinterpret_cast<void*>(memory));
    }
    Done allocate_pinned(std::uint64_t bytes, void*& memory) override {
        return on("hipHostMalloc", library_.call.allocate_host, &memory, static_cast<std::size_t>(bytes),
                  kHostMallocPortable);
    }
    Done release_pinned(void* memory) override {
        return on("hipHostFree", library_.call.release_host, memory);
    }
    Done copy(Direction direction, std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
              Stream stream) override {
        const int kind = direction == Direction::to_device ? kHostToDevice
                         : direction == Direction::to_host ? kDeviceToHost
                                                           : kDeviceToDevice;
        return on("hipMemcpyAsync", library_.call.copy, reinterpret_cast<void*>(to),
                  reinterpret_cast<const void*>(from), static_cast<std::size_t>(bytes), kind, stream.handle);
    }
    Done copy_to_peer(Gpu& peer, DevicePointer to, DevicePointer from, std::uint64_t bytes,
                      Stream stream) override {
        auto* other = dynamic_cast<HipGpu*>(&peer);
        if (other == nullptr) return Failure{"hipMemcpyPeerAsync", "not a GPU of this library"};
        return on("hipMemcpyPeerAsync", library_.call.copy_peer, reinterpret_cast<void*>(to), other->device_,
                  reinterpret_cast<const void*>(from), device_, static_cast<std::size_t>(bytes),
                  stream.handle);
    }
    Done reach_peer(Gpu& peer, bool& direct) override {
        direct = false;
        auto* other = dynamic_cast<HipGpu*>(&peer);
        if (other == nullptr) return Failure{"hipDeviceCanAccessPeer", "not a GPU of this library"};
        int can = 0;
        if (Done failed =
                on("hipDeviceCanAccessPeer", library_.call.can_reach_peer, &can, device_, other->device_))
            return failed;
        if (can == 0) return std::nullopt;
        Done failed = on("hipDeviceEnablePeerAccess", library_.call.enable_peer, other->device_, 0U);
        if (failed && failed->error != library_.error_name(kPeerAccessAlreadyEnabled)) return failed;
        direct = true;
        return std::nullopt;
    }
    Done fill_words(DevicePointer memory, std::uint32_t word, std::uint64_t words, Stream stream) override {
        return on("hipMemsetD32Async", library_.call.fill_words, reinterpret_cast<void*>(memory),
                  static_cast<int>(word), static_cast<std::size_t>(words), stream.handle);
    }
    Done create(Stream& stream) override {
        return on("hipStreamCreateWithFlags", library_.call.create_stream, &stream.handle,
                  kStreamNonBlocking);
    }
    Done create(Event& event) override {
        return on("hipEventCreateWithFlags", library_.call.create_event, &event.handle, 0U);
    }
    Done record(Event event, Stream stream) override {
        return on("hipEventRecord", library_.call.record_event, event.handle, stream.handle);
    }
    Done elapsed(Event start, Event stop, double& ms) override {
        float value = 0;
        Done done = on("hipEventElapsedTime", library_.call.elapsed, &value, start.handle, stop.handle);
        ms = static_cast<double>(value);
        return done;
    }
    Done synchronize(Stream stream) override {
        return on("hipStreamSynchronize", library_.call.synchronize, stream.handle);
    }

  private:
    // With this GPU as the current one: one child may hold two.
    template <class Function, class... Arguments>
    Done on(const char* name, Function* function, Arguments... arguments) const {
        if (const Result result = library_.call.set_device(device_); result != kSuccess)
            return library_.failure("hipSetDevice", result);
        return library_(name, function, arguments...);
    }

    const Library& library_;
    Device device_;
    Properties properties_;
};

class HipDriver final : public Driver {
  public:
    HipDriver(const Functions& functions, child::Reporter& reporter) : library_{functions, reporter} {}

    std::variant<std::unique_ptr<Gpu>, Missing> open(const Bdf& bdf) override {
        Device device = 0;
        const std::string address = bdf.str();
        if (const Done failed =
                library_("hipDeviceGetByPCIBusId", library_.call.device_by_bus_id, &device, address.c_str()))
            return missing(*failed);
        Properties properties;
        if (const Done failed = read(device, properties)) return missing(*failed);
        if (const Done failed = library_("hipSetDevice", library_.call.set_device, device))
            return missing(*failed);
        return std::make_unique<HipGpu>(library_, device, std::move(properties));
    }

  private:
    static Missing missing(const Failure& failure) {
        const bool unlisted =
            failure.call == "hipDeviceGetByPCIBusId" &&
            (failure.error == "hipErrorInvalidDevice" || failure.error == "hipErrorInvalidValue");
        return {failure.call, unlisted ? "ENOENT" : failure.error};
    }
    // "gfx942:sramecc+:xnack-" stands alone in the properties, wherever this version keeps it; without it the
    // architecture stays unknown.
    std::string architecture(Device device) {
        std::string bytes(kPropertyBytes, '\0');
        if (library_("hipGetDeviceProperties", library_.call.device_properties,
                     static_cast<void*>(bytes.data()), device))
            return {};
        for (std::size_t at = bytes.find("gfx"); at != std::string::npos; at = bytes.find("gfx", at + 1)) {
            const std::string_view rest = std::string_view(bytes).substr(at);
            const std::size_t end = rest.find_first_of(std::string_view(":\0", 2));
            const bool starts = at == 0 || bytes[at - 1] == '\0';
            if (starts && end > 3 && end < 16) return std::string(rest.substr(0, end));
        }
        return {};
    }
    Done attribute(int which, Device device, int& value) {
        return library_("hipDeviceGetAttribute", library_.call.device_attribute, &value, which, device);
    }
    Done read(Device device, Properties& properties) {
        char name[256] = {};
        if (!library_("hipDeviceGetName", library_.call.device_name, name, int{sizeof name - 1}, device))
            properties.name = name;
        int units = 0, khz = 0;
        if (Done failed = attribute(kAttributeMultiprocessorCount, device, units)) return failed;
        if (!attribute(kAttributeClockRate, device, khz) && khz > 0)
            properties.clock_mhz = static_cast<unsigned>(khz) / 1000;
        std::size_t bytes = 0;
        if (Done failed = library_("hipDeviceTotalMem", library_.call.device_memory, &bytes, device))
            return failed;
        if (units > 0) properties.units = static_cast<unsigned>(units);
        properties.architecture = architecture(device);
        properties.total_bytes = bytes;
        return std::nullopt;
    }

    Library library_;
};

}  // namespace

std::variant<std::unique_ptr<Driver>, Missing> open_hip(const vendor::LibrarySource& source,
                                                        child::Reporter& reporter) {
    reporter.step("dlopen libamdhip64.so");
    auto opened = vendor::Library::open(source, {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"});
    if (auto* missing = std::get_if<Missing>(&opened)) return *missing;
    const auto& library = std::get<vendor::Library>(opened);
    Functions functions;
    std::string lacking;
#define GPUCHECK_HIP_TAKE(member, required, result, parameters, ...) \
    take(library, functions.member, required, {__VA_ARGS__}, lacking);
    GPUCHECK_HIP_FUNCTIONS(GPUCHECK_HIP_TAKE)
#undef GPUCHECK_HIP_TAKE
    if (!lacking.empty()) return Missing{library.path(), "lacks " + lacking};
    reporter.step("hipInit");
    if (const Result result = functions.init(0); result != kSuccess)
        return Missing{"hipInit", Library{functions, reporter}.error_name(result)};
    return std::make_unique<HipDriver>(functions, reporter);
}

}  // namespace gpucheck::gpu
