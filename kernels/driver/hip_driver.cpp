// AMD GPUs through libamdhip64: module and memory functions alone, which have been the same since ROCm 5.
#include "kernels/driver/hip_api.h"
#include "kernels/driver/vendor_gpu.h"
#include "kernels/driver/vendors.h"

namespace gpucheck::gpu {
namespace {

struct Hip {
    using Functions = hip::Functions;
    using Pointer = void*;
    using Handle = hip::Device;
    using Word = int;
    static constexpr int kOutOfMemory = hip::kOutOfMemory, kInvalidDevice = hip::kInvalidDevice,
                         kInvalidValue = hip::kInvalidValue,
                         kPeerAccessAlreadyEnabled = hip::kPeerAccessAlreadyEnabled,
                         kAttributeClockRate = hip::kAttributeClockRate,
                         kAttributeMultiprocessorCount = hip::kAttributeMultiprocessorCount;
    static constexpr unsigned kStreamNonBlocking = hip::kStreamNonBlocking,
                              kHostPortable = hip::kHostMallocPortable;

    static Pointer pointer(DevicePointer address) { return reinterpret_cast<Pointer>(address); }
    static DevicePointer address(Pointer pointer) { return reinterpret_cast<DevicePointer>(pointer); }
    static const char* error_name(const Functions& call, int result) {
        return call.error_name.function != nullptr ? call.error_name.function(result) : nullptr;
    }
    static void take_all(const vendor::Library& library, Functions& functions, std::string& lacking) {
        GPUCHECK_HIP_FUNCTIONS(GPUCHECK_CALL_TAKE)
    }
    static Done acquire(const VendorLibrary<Hip>& library, int device, Handle& handle) {
        handle = device;
        return library(library.call.select, device);
    }
    // "gfx942:sramecc+:xnack-" stands alone in the properties, wherever this version keeps it; without it the
    // architecture stays unknown.
    static Done architecture(const VendorLibrary<Hip>& library, int device, std::string& name) {
        std::string bytes(hip::kPropertyBytes, '\0');
        if (library(library.call.device_properties, static_cast<void*>(bytes.data()), device))
            return std::nullopt;
        for (std::size_t at = bytes.find("gfx"); at != std::string::npos; at = bytes.find("gfx", at + 1)) {
            const std::string_view rest = std::string_view(bytes).substr(at);
            const std::size_t end = rest.find_first_of(std::string_view(":\0", 2));
            const bool starts = at == 0 || bytes[at - 1] == '\0';
            if (!starts || end <= 3 || end >= 16) continue;
            name = rest.substr(0, end);
            break;
        }
        return std::nullopt;
    }
};

class HipGpu final : public VendorGpu<Hip> {
  public:
    using VendorGpu::VendorGpu;

    Done allow_shared(Kernel, unsigned) override {
        return std::nullopt;  // a kernel may use all of a compute unit's LDS
    }
    Done copy(Direction direction, std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
              Stream stream) override {
        const int kind = direction == Direction::to_device ? hip::kHostToDevice
                         : direction == Direction::to_host ? hip::kDeviceToHost
                                                           : hip::kDeviceToDevice;
        return on(call().copy, reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from),
                  static_cast<std::size_t>(bytes), kind, stream.handle);
    }
};

}  // namespace

std::variant<std::unique_ptr<Driver>, Missing> open_hip(const vendor::LibrarySource& source,
                                                        child::Reporter& reporter) {
    return open_vendor<Hip, HipGpu>(Vendor::amd, source,
                                    {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}, reporter);
}

}  // namespace gpucheck::gpu
