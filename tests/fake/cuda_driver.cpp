// A libcuda.so.1 of fake GPUs: the entry points that gpucheck calls, with NVIDIA's names and numbers.
#include <cstdio>
#include <cstdlib>

#include "tests/fake/device_memory.h"

namespace {

using gpucheck::fake::FakeGpu;
using gpucheck::fake::Function;
using gpucheck::fake::Moment;

FakeGpu* current = nullptr;

std::vector<std::unique_ptr<FakeGpu>>& gpus() {
    return gpucheck::fake::gpus("nvidia");
}
FakeGpu* at(int device) {
    return device >= 0 && static_cast<std::size_t>(device) < gpus().size()
               ? gpus()[static_cast<std::size_t>(device)].get()
               : nullptr;
}
FakeGpu* owner_of(const void* memory) {
    for (const auto& gpu : gpus()) {
        if (gpu->owns(memory, 1)) return gpu.get();
    }
    return nullptr;
}
void* pointer(unsigned long long address) {
    return reinterpret_cast<void*>(address);
}
int version_of(const std::string& architecture) {
    return architecture.size() > 3 ? std::atoi(architecture.c_str() + 3) : 0;
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
    for (const auto& gpu : gpus()) {
        if (const int error = gpu->enter("cuInit")) return error;
    }
    return gpus().empty() ? 100 : 0;
}
int cuDeviceGetByPCIBusId(int* device, const char* address) {
    *device = gpucheck::fake::find_gpu("nvidia", address);
    if (*device < 0) return gpucheck::fake::kInvalidDevice;
    return at(*device)->enter("cuDeviceGetByPCIBusId");
}
int cuDeviceGetName(char* name, int length, int device) {
    if (at(device) == nullptr) return gpucheck::fake::kInvalidDevice;
    std::snprintf(name, static_cast<std::size_t>(length), "%s", at(device)->about().name.c_str());
    return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
    if (at(device) == nullptr) return gpucheck::fake::kInvalidDevice;
    const auto& about = at(device)->about();
    switch (attribute) {
        case 13:
            *value = static_cast<int>(about.clock_mhz * 1000);
            return 0;
        case 16:
            *value = static_cast<int>(about.units);
            return 0;
        case 75:
            *value = version_of(about.architecture) / 10;
            return 0;
        case 76:
            *value = version_of(about.architecture) % 10;
            return 0;
        default:
            return gpucheck::fake::kInvalidValue;
    }
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
    if (at(device) == nullptr) return gpucheck::fake::kInvalidDevice;
    *bytes = at(device)->about().memory_bytes;
    return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
    if (at(device) == nullptr) return gpucheck::fake::kInvalidDevice;
    *context = at(device);
    return at(device)->enter("cuDevicePrimaryCtxRetain");
}
int cuCtxSetCurrent(void* context) {
    current = static_cast<FakeGpu*>(context);
    return 0;
}
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    if (const int error = current->enter("cuMemGetInfo")) return error;
    *free = current->free_bytes();
    *total = current->about().memory_bytes;
    return 0;
}
int cuModuleLoadData(void** module, const void* image) {
    if (image == nullptr) return gpucheck::fake::kInvalidValue;
    *module = current;
    return current->enter("cuModuleLoadData");
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
    auto* gpu = static_cast<FakeGpu*>(module);
    if (const int error = gpu->enter("cuModuleGetFunction", name)) return error;
    if (!has_kernel(*gpu, name)) return gpucheck::fake::kNotFound;
    *function = new Function{gpu, name};  // lives as long as the process, as modules do here
    return 0;
}
int cuFuncSetAttribute(void*, int, int) {
    return 0;
}
int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned, void*, void** arguments, void**) {
    return gpucheck::fake::launch(static_cast<Function*>(function), blocks, threads, arguments,
                                  "cuLaunchKernel");
}
int cuMemAlloc_v2(unsigned long long* memory, std::size_t bytes) {
    if (const int error = current->enter("cuMemAlloc")) return error;
    *memory = reinterpret_cast<unsigned long long>(current->allocate(bytes));
    return *memory == 0 ? gpucheck::fake::kOutOfMemory : 0;
}
int cuMemFree_v2(unsigned long long memory) {
    return current->release(pointer(memory)) ? 0 : gpucheck::fake::kInvalidValue;
}
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
    if (const int error = current->enter("cuMemHostAlloc")) return error;
    *memory = std::malloc(bytes);
    return *memory == nullptr ? gpucheck::fake::kOutOfMemory : 0;
}
int cuMemFreeHost(void* memory) {
    std::free(memory);
    return 0;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t bytes, void*) {
    return gpucheck::fake::copy(*current, pointer(to), from, bytes, true, false, "cuMemcpyHtoDAsync");
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t bytes, void*) {
    return gpucheck::fake::copy(*current, to, pointer(from), bytes, false, true, "cuMemcpyDtoHAsync");
}
int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, std::size_t bytes, void*) {
    return gpucheck::fake::copy(*current, pointer(to), pointer(from), bytes, true, true, "cuMemcpyDtoDAsync");
}
int cuMemcpyPeerAsync(unsigned long long to, void* other, unsigned long long from, void*, std::size_t bytes,
                      void*) {
    auto* target = static_cast<FakeGpu*>(other);
    if (owner_of(pointer(to)) != target || !target->owns(pointer(to), bytes))
        return gpucheck::fake::kIllegalAddress;
    const int error =
        gpucheck::fake::copy(*current, pointer(to), pointer(from), bytes, false, true, "cuMemcpyPeerAsync");
    target->settle();
    return error;
}
int cuDeviceCanAccessPeer(int* can, int, int) {
    *can = 1;
    return 0;
}
int cuCtxEnablePeerAccess(void*, unsigned) {
    return current->enter("cuCtxEnablePeerAccess");
}
int cuMemsetD32Async(unsigned long long memory, unsigned word, std::size_t words, void*) {
    return gpucheck::fake::fill_words(*current, pointer(memory), word, words, "cuMemsetD32Async");
}
int cuStreamCreate(void** stream, unsigned) {
    *stream = current;
    return current->enter("cuStreamCreate");
}
int cuStreamSynchronize(void*) {
    return current->enter("cuStreamSynchronize");
}
int cuEventCreate(void** event, unsigned) {
    *event = new Moment{};
    return 0;
}
int cuEventRecord(void* event, void*) {
    static_cast<Moment*>(event)->at = std::chrono::steady_clock::now();
    return current->enter("cuEventRecord");
}
int cuEventElapsedTime(float* ms, void* start, void* stop) {
    const auto duration = static_cast<Moment*>(stop)->at - static_cast<Moment*>(start)->at;
    *ms = std::chrono::duration<float, std::milli>(duration).count();
    return 0;
}
int cuGetErrorName(int error, const char** name) {
    static const std::map<int, const char*> names{{1, "CUDA_ERROR_INVALID_VALUE"},
                                                  {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                  {100, "CUDA_ERROR_NO_DEVICE"},
                                                  {101, "CUDA_ERROR_INVALID_DEVICE"},
                                                  {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
                                                  {400, "CUDA_ERROR_INVALID_HANDLE"},
                                                  {500, "CUDA_ERROR_NOT_FOUND"},
                                                  {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                  {719, "CUDA_ERROR_LAUNCH_FAILED"},
                                                  {802, "CUDA_ERROR_SYSTEM_NOT_READY"},
                                                  {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
                                                  {999, "CUDA_ERROR_UNKNOWN"}};
    const auto found = names.find(error);
    if (found == names.end()) return gpucheck::fake::kInvalidValue;
    *name = found->second;
    return 0;
}

}  // extern "C"
