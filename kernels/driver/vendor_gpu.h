// What libcuda and libamdhip64 have in common, written once, so that no GPU is tested less carefully because
// of its maker. An Api says what differs: its functions, types, numbers, and how it is asked for its
// architecture.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "kernels/driver/driver.h"
#include "kernels/driver/functions.h"

namespace gpucheck::gpu {

/// The functions of an open library, and who is told before each call.
template <class Api>
struct VendorLibrary {
    typename Api::Functions call;
    child::Reporter& reporter;

    std::string error_name(int result) const {
        const char* name = Api::error_name(call, result);
        return name != nullptr ? name : "error " + std::to_string(result);
    }
    Failure failure(std::string_view name, int result) const {
        return {std::string(name), error_name(result), result == Api::kOutOfMemory};
    }
    template <class Signature, class... Arguments>
    Done operator()(const Call<Signature>& wanted, Arguments... arguments) const {
        if (wanted.function == nullptr) return Failure{std::string(wanted.name), "not in this library"};
        reporter.step(wanted.name);
        try {
            const int result = wanted.function(arguments...);
            if (result == 0) return std::nullopt;
            return failure(wanted.name, result);
        } catch (...) {  // C++ behind a C interface: further up nobody would know which call it was
            return Failure{std::string(wanted.name), "threw an exception"};
        }
    }
};

template <class Api>
class VendorGpu : public Gpu {
  public:
    using Handle = typename Api::Handle;  ///< by which the library is told whose turn it is

    VendorGpu(const VendorLibrary<Api>& library, int device, Handle handle, Properties properties)
        : library_(library), device_(device), handle_(handle), properties_(std::move(properties)) {}

    const Properties& properties() const override { return properties_; }

    Done memory(std::uint64_t& free_bytes, std::uint64_t& total_bytes) override {
        std::size_t free = 0, total = 0;
        Done done = on(call().memory_info, &free, &total);
        free_bytes = free;
        total_bytes = total;
        return done;
    }
    Done load(const void* image, Module& module) override {
        return on(call().load_module, &module.handle, image);
    }
    Done find(Module module, const char* name, Kernel& kernel) override {
        return on(call().get_function, &kernel.handle, module.handle, name);
    }
    Done launch(Kernel kernel, Shape shape, void** arguments, Stream stream) override {
        return on(call().launch, kernel.handle, shape.blocks, 1U, 1U, shape.threads, 1U, 1U,
                  shape.shared_bytes, stream.handle, arguments, static_cast<void**>(nullptr));
    }
    Done allocate(std::uint64_t bytes, DevicePointer& memory) override {
        typename Api::Pointer pointer{};
        Done done = on(call().allocate, &pointer, static_cast<std::size_t>(bytes));
        memory = Api::address(pointer);
        return done;
    }
    Done release(DevicePointer memory) override { return on(call().release, Api::pointer(memory)); }
    Done allocate_pinned(std::uint64_t bytes, void*& memory) override {
        return on(call().allocate_host, &memory, static_cast<std::size_t>(bytes), Api::kHostPortable);
    }
    Done release_pinned(void* memory) override { return on(call().release_host, memory); }
    Done copy_to_peer(Gpu& peer, DevicePointer to, DevicePointer from, std::uint64_t bytes,
                      Stream stream) override {
        auto* other = dynamic_cast<VendorGpu*>(&peer);
        if (other == nullptr) return foreign(call().copy_peer.name);
        return on(call().copy_peer, Api::pointer(to), other->handle_, Api::pointer(from), handle_,
                  static_cast<std::size_t>(bytes), stream.handle);
    }
    Done reach_peer(Gpu& peer, bool& direct) override {
        direct = false;
        auto* other = dynamic_cast<VendorGpu*>(&peer);
        if (other == nullptr) return foreign(call().can_reach_peer.name);
        int can = 0;
        if (Done failed = on(call().can_reach_peer, &can, device_, other->device_)) return failed;
        if (can == 0) return std::nullopt;
        Done failed = on(call().enable_peer, other->handle_, 0U);
        if (failed && failed->error != library_.error_name(Api::kPeerAccessAlreadyEnabled)) return failed;
        direct = true;
        return std::nullopt;
    }
    Done fill_words(DevicePointer memory, std::uint32_t word, std::uint64_t words, Stream stream) override {
        return on(call().fill_words, Api::pointer(memory), static_cast<typename Api::Word>(word),
                  static_cast<std::size_t>(words), stream.handle);
    }
    Done create(Stream& stream) override {
        return on(call().create_stream, &stream.handle, Api::kStreamNonBlocking);
    }
    Done create(Event& event) override { return on(call().create_event, &event.handle, 0U); }
    Done record(Event event, Stream stream) override {
        return on(call().record_event, event.handle, stream.handle);
    }
    Done elapsed(Event start, Event stop, double& ms) override {
        float value = 0;
        Done done = on(call().elapsed, &value, start.handle, stop.handle);
        ms = static_cast<double>(value);
        return done;
    }
    Done synchronize(Stream stream) override { return on(call().synchronize, stream.handle); }

  protected:
    const typename Api::Functions& call() const { return library_.call; }
    /// With this GPU as the current one: one child may hold two.
    template <class Signature, class... Arguments>
    Done on(const Call<Signature>& wanted, Arguments... arguments) const {
        if (const int result = call().select.function(handle_); result != 0)
            return library_.failure(call().select.name, result);
        return library_(wanted, arguments...);
    }

  private:
    static Done foreign(std::string_view name) {
        return Failure{std::string(name), "not a GPU of this library"};
    }

    const VendorLibrary<Api>& library_;
    int device_;
    Handle handle_;
    Properties properties_;
};

/// `GpuOfApi`: the VendorGpu<Api> with what only this vendor has.
template <class Api, class GpuOfApi>
class VendorDriver final : public Driver {
  public:
    VendorDriver(const typename Api::Functions& functions, child::Reporter& reporter)
        : library_{functions, reporter} {}

    std::variant<std::unique_ptr<Gpu>, Missing> open(const Bdf& bdf) override {
        int device = 0;
        const std::string address = bdf.str();
        if (const Done failed = library_(library_.call.device_by_bus_id, &device, address.c_str()))
            return Missing{failed->call, is_unlisted(failed->error) ? "ENOENT" : failed->error};
        Properties properties;
        if (const Done failed = read(device, properties)) return Missing{failed->call, failed->error};
        typename Api::Handle handle{};
        if (const Done failed = Api::acquire(library_, device, handle))
            return Missing{failed->call, failed->error};
        return std::make_unique<GpuOfApi>(library_, device, handle, std::move(properties));
    }

  private:
    bool is_unlisted(const std::string& error) const {
        return error == library_.error_name(Api::kInvalidDevice) ||
               error == library_.error_name(Api::kInvalidValue);
    }
    Done read(int device, Properties& properties) const {
        const auto& call = library_.call;
        char name[256] = {};
        if (!library_(call.device_name, name, int{sizeof name - 1}, device)) properties.name = name;
        int units = 0, khz = 0;
        if (Done failed = library_(call.device_attribute, &units, Api::kAttributeMultiprocessorCount, device))
            return failed;
        if (!library_(call.device_attribute, &khz, Api::kAttributeClockRate, device) && khz > 0)
            properties.clock_mhz = static_cast<unsigned>(khz) / 1000;
        std::size_t bytes = 0;
        if (Done failed = library_(call.device_memory, &bytes, device)) return failed;
        if (units > 0) properties.units = static_cast<unsigned>(units);
        properties.total_bytes = bytes;
        return Api::architecture(library_, device, properties.architecture);
    }

    VendorLibrary<Api> library_;
};

/// Opens and initialises the library. Missing: none there, one that lacks what we need, or no init.
template <class Api, class GpuOfApi>
std::variant<std::unique_ptr<Driver>, Missing> open_vendor(Vendor vendor, const vendor::LibrarySource& source,
                                                           std::initializer_list<const char*> sonames,
                                                           child::Reporter& reporter) {
    reporter.step("dlopen " + library_of(vendor));
    auto opened = vendor::Library::open(source, sonames);
    if (auto* missing = std::get_if<Missing>(&opened)) return *missing;
    const auto& library = std::get<vendor::Library>(opened);
    typename Api::Functions functions;
    std::string lacking;
    Api::take_all(library, functions, lacking);
    if (!lacking.empty()) return Missing{library.path(), "lacks " + lacking};
    if (const Done failed = VendorLibrary<Api>{functions, reporter}(functions.init, 0U))
        return Missing{failed->call, failed->error};
    return std::make_unique<VendorDriver<Api, GpuOfApi>>(functions, reporter);
}

}  // namespace gpucheck::gpu
