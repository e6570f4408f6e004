// A libcuda.so.1 of fake GPUs: the entry points that gpucheck calls, with NVIDIA's names and numbers.
#include <cstdlib>

#include "tests/fake/fake_calls.h"

namespace {

using gpucheck::fake::FakeGpu;
using gpucheck::fake::Path;
using Pointer = unsigned long long;

gpucheck::fake::Calls& calls() {
    static auto& only = *new gpucheck::fake::Calls("nvidia");
    return only;
}
FakeGpu* gpu_of(void* context) {
    return static_cast<FakeGpu*>(context);
}
void* at(Pointer address) {
    return reinterpret_cast<void*>(address);
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
    return calls().init("cuInit");
}
int cuDeviceGetByPCIBusId(int* device, const char* address) {
    return calls().by_bus_id(device, address, "cuDeviceGetByPCIBusId");
}
int cuDeviceGetName(char* name, int length, int device) {
    return calls().device_name(name, length, device);
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
    if (calls().at(device) == nullptr) return gpucheck::fake::kInvalidDevice;
    const auto& about = calls().at(device)->about();
    const int capability = about.architecture.size() > 3 ? std::atoi(about.architecture.c_str() + 3) : 0;
    switch (attribute) {
        case 13:
            *value = static_cast<int>(about.clock_mhz * 1000);
            return 0;
        case 16:
            *value = static_cast<int>(about.units);
            return 0;
        case 75:
            *value = capability / 10;
            return 0;
        case 76:
            *value = capability % 10;
            return 0;
        default:
            return gpucheck::fake::kInvalidValue;
    }
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
    return calls().total_memory(bytes, device);
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
    *context = calls().at(device);
    return *context == nullptr ? gpucheck::fake::kInvalidDevice
                               : gpu_of(*context)->enter("cuDevicePrimaryCtxRetain");
}
int cuCtxSetCurrent(void* context) {
    return calls().select(gpu_of(context));
}
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    return calls().memory_info(free, total, "cuMemGetInfo");
}
int cuModuleLoadData(void** module, const void* image) {
    return calls().load(module, image, "cuModuleLoadData");
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
    return calls().function(function, module, name, "cuModuleGetFunction");
}
int cuFuncSetAttribute(void*, int, int) {
    return calls().enter("cuFuncSetAttribute");
}
int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned, void* stream, void** arguments, void**) {
    return calls().launch(function, blocks, threads, stream, arguments, "cuLaunchKernel");
}
int cuMemAlloc_v2(Pointer* memory, std::size_t bytes) {
    return calls().allocate(reinterpret_cast<void**>(memory), bytes, "cuMemAlloc");
}
int cuMemFree_v2(Pointer memory) {
    return calls().release(at(memory));
}
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
    return calls().allocate_host(memory, bytes, "cuMemHostAlloc");
}
int cuMemFreeHost(void* memory) {
    return calls().release_host(memory);
}
int cuMemcpyHtoDAsync_v2(Pointer to, const void* from, std::size_t bytes, void* stream) {
    return calls().copy(at(to), from, bytes, Path::to_device, stream, "cuMemcpyHtoDAsync");
}
int cuMemcpyDtoHAsync_v2(void* to, Pointer from, std::size_t bytes, void* stream) {
    return calls().copy(to, at(from), bytes, Path::to_host, stream, "cuMemcpyDtoHAsync");
}
int cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, std::size_t bytes, void* stream) {
    return calls().copy(at(to), at(from), bytes, Path::memory, stream, "cuMemcpyDtoDAsync");
}
int cuMemcpyPeerAsync(Pointer to, void* other, Pointer from, void*, std::size_t bytes, void* stream) {
    return calls().copy_peer(at(to), gpu_of(other), at(from), bytes, stream, "cuMemcpyPeerAsync");
}
int cuDeviceCanAccessPeer(int* can, int, int) {
    return calls().can_reach_peer(can);
}
int cuCtxEnablePeerAccess(void*, unsigned) {
    return calls().enter("cuCtxEnablePeerAccess");
}
int cuMemsetD32Async(Pointer memory, unsigned word, std::size_t words, void* stream) {
    return calls().fill(at(memory), word, words, stream, "cuMemsetD32Async");
}
int cuStreamCreate(void** stream, unsigned) {
    return calls().create_stream(stream, "cuStreamCreate");
}
int cuStreamSynchronize(void* stream) {
    return calls().synchronize(stream, "cuStreamSynchronize");
}
int cuEventCreate(void** event, unsigned) {
    return calls().create_event(event);
}
int cuEventRecord(void* event, void* stream) {
    return calls().record(event, stream, "cuEventRecord");
}
int cuEventElapsedTime(float* ms, void* start, void* stop) {
    return calls().elapsed(ms, start, stop);
}
int cuGetErrorName(int error, const char** name) {
    static const std::map<int, const char*> names{{1, "CUDA_ERROR_INVALID_VALUE"},
                                                  {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                  {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
                                                  {100, "CUDA_ERROR_NO_DEVICE"},
                                                  {101, "CUDA_ERROR_INVALID_DEVICE"},
                                                  {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
                                                  {400, "CUDA_ERROR_INVALID_HANDLE"},
                                                  {500, "CUDA_ERROR_NOT_FOUND"},
                                                  {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                  {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
                                                  {719, "CUDA_ERROR_LAUNCH_FAILED"},
                                                  {802, "CUDA_ERROR_SYSTEM_NOT_READY"},
                                                  {999, "CUDA_ERROR_UNKNOWN"}};
    const auto found = names.find(error);
    if (found == names.end()) return gpucheck::fake::kInvalidValue;
    *name = found->second;
    return 0;
}

}  // extern "C"
