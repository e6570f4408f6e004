// NVIDIA GPUs through libcuda's driver interface: the only part of CUDA that every driver brings along.
#include "kernels/driver/cuda_api.h"
#include "kernels/driver/vendor_gpu.h"
#include "kernels/driver/vendors.h"

namespace gpucheck::gpu {
namespace {

struct Cuda {
    using Functions = cuda::Functions;
    using Pointer = cuda::Pointer;
    using Handle = cuda::Context;
    using Word = unsigned;
    static constexpr int kOutOfMemory = cuda::kOutOfMemory, kInvalidDevice = cuda::kInvalidDevice,
                         kInvalidValue = cuda::kInvalidValue,
                         kPeerAccessAlreadyEnabled = cuda::kPeerAccessAlreadyEnabled,
                         kAttributeClockRate = cuda::kAttributeClockRate,
                         kAttributeMultiprocessorCount = cuda::kAttributeMultiprocessorCount;
    static constexpr unsigned kStreamNonBlocking = cuda::kStreamNonBlocking,
                              kHostPortable = cuda::kHostAllocPortable;

    static Pointer pointer(DevicePointer address) { return address; }
    static DevicePointer address(Pointer pointer) { return pointer; }
    static const char* error_name(const Functions& call, int result) {
        const char* name = nullptr;
        if (call.error_name.function == nullptr || call.error_name.function(result, &name) != cuda::kSuccess)
            return nullptr;
        return name;
    }
    static void take_all(const vendor::Library& library, Functions& functions, std::string& lacking) {
        GPUCHECK_CUDA_FUNCTIONS(GPUCHECK_CALL_TAKE)
    }
    static Done acquire(const VendorLibrary<Cuda>& library, int device, Handle& context) {
        return library(library.call.retain_context, &context, device);
    }
    static Done architecture(const VendorLibrary<Cuda>& library, int device, std::string& name) {
        int major = 0, minor = 0;
        const auto& attribute = library.call.device_attribute;
        if (Done failed = library(attribute, &major, cuda::kAttributeComputeCapabilityMajor, device))
            return failed;
        if (Done failed = library(attribute, &minor, cuda::kAttributeComputeCapabilityMinor, device))
            return failed;
        if (major > 0 && minor >= 0) name = "sm_" + std::to_string(major) + std::to_string(minor);
        return std::nullopt;
    }
};

class CudaGpu final : public VendorGpu<Cuda> {
  public:
    using VendorGpu::VendorGpu;

    Done allow_shared(Kernel kernel, unsigned bytes) override {
        return on(call().set_attribute, kernel.handle, cuda::kFunctionMaxDynamicShared,
                  static_cast<int>(bytes));
    }
    Done copy(Direction direction, std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
              Stream stream) override {
        const auto size = static_cast<std::size_t>(bytes);
        switch (direction) {
            case Direction::to_device:
                return on(call().copy_to_device, to, reinterpret_cast<const void*>(from), size,
                          stream.handle);
            case Direction::to_host:
                return on(call().copy_to_host, reinterpret_cast<void*>(to), from, size, stream.handle);
            case Direction::on_device:
                break;
        }
        return on(call().copy_on_device, to, from, size, stream.handle);
    }
};

}  // namespace

std::variant<std::unique_ptr<Driver>, Missing> open_cuda(const vendor::LibrarySource& source,
                                                         child::Reporter& reporter) {
    return open_vendor<Cuda, CudaGpu>(Vendor::nvidia, source, {"libcuda.so.1"}, reporter);
}

}  // namespace gpucheck::gpu
