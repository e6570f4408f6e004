// A libamdhip64.so.7 of fake GPUs: the entry points that gpucheck calls, with AMD's names and numbers.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fake/device_memory.h"

namespace {

using gpucheck::fake::FakeGpu;
using gpucheck::fake::Function;
using gpucheck::fake::Moment;

FakeGpu* current = nullptr;

std::vector<std::unique_ptr<FakeGpu>>& gpus() {
    return gpucheck::fake::gpus("amd");
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
}  // namespace

extern "C" {

int hipInit(unsigned) {
    for (const auto& gpu : gpus()) {
        if (const int error = gpu->enter("hipInit")) return error;
    }
    return gpus().empty() ? 100 : 0;
}
int hipDeviceGetByPCIBusId(int* device, const char* address) {
    *device = gpucheck::fake::find_gpu("amd", address);
    if (*device < 0) return gpucheck::fake::kInvalidDevice;
    return at(*device)->enter("hipDeviceGetByPCIBusId");
}
int hipDeviceGetName(char* name, int length, int device) {
    if (at(device) == nullptr) return gpucheck::fake::kInvalidDevice;
    std::snprintf(name, static_cast<std::size_t>(length), "%s", at(device)->about().name.c_str());
    return 0;
}
int hipDeviceGetAttribute(int* value, int attribute, int device) {
    if (at(device) == nullptr) return gpucheck::fake::kInvalidDevice;
    switch (attribute) {
        case 5:
            *value = static_cast<int>(at(device)->about().clock_mhz * 1000);
            return 0;
        case 63:
            *value = static_cast<int>(at(device)->about().units);
            return 0;
        default:
            return gpucheck::fake::kInvalidValue;
    }
}
int hipDeviceTotalMem(std::size_t* bytes, int device) {
    if (at(device) == nullptr) return gpucheck::fake::kInvalidDevice;
    *bytes = at(device)->about().memory_bytes;
    return 0;
}
// 1472 bytes with the name of the architecture at 1160, as since ROCm 6.0.
int hipGetDevicePropertiesR0600(void* properties, int device) {
    if (at(device) == nullptr) return gpucheck::fake::kInvalidDevice;
    auto* bytes = static_cast<char*>(properties);
    std::memset(bytes, 0, 1472);
    std::snprintf(bytes, 256, "%s", at(device)->about().name.c_str());
    std::snprintf(bytes + 1160, 256, "%s:sramecc+:xnack-", at(device)->about().architecture.c_str());
    return 0;
}
int hipSetDevice(int device) {
    current = at(device);
    return current == nullptr ? gpucheck::fake::kInvalidDevice : current->enter("hipSetDevice");
}
int hipMemGetInfo(std::size_t* free, std::size_t* total) {
    if (const int error = current->enter("hipMemGetInfo")) return error;
    *free = current->free_bytes();
    *total = current->about().memory_bytes;
    return 0;
}
int hipModuleLoadData(void** module, const void* image) {
    if (image == nullptr) return gpucheck::fake::kInvalidValue;
    *module = current;
    return current->enter("hipModuleLoadData");
}
int hipModuleGetFunction(void** function, void* module, const char* name) {
    auto* gpu = static_cast<FakeGpu*>(module);
    if (const int error = gpu->enter("hipModuleGetFunction", name)) return error;
    if (!has_kernel(*gpu, name)) return gpucheck::fake::kNotFound;
    *function = new Function{gpu, name};  // lives as long as the process, as modules do here
    return 0;
}
int hipModuleLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned,
                          unsigned, unsigned, void*, void** arguments, void**) {
    return gpucheck::fake::launch(static_cast<Function*>(function), blocks, threads, arguments,
                                  "hipModuleLaunchKernel");
}
int hipMalloc(void** memory, std::size_t bytes) {
    if (const int error = current->enter("hipMalloc")) return error;
    *memory = current->allocate(bytes);
    return *memory == nullptr ? gpucheck::fake::kOutOfMemory : 0;
}
int hipFree(void* memory) {
    return current->release(memory) ? 0 : gpucheck::fake::kInvalidValue;
}
int hipHostMalloc(void** memory, std::size_t bytes, unsigned) {
    if (const int error = current->enter("hipHostMalloc")) return error;
    *memory = std::malloc(bytes);
    return *memory == nullptr ? gpucheck::fake::kOutOfMemory : 0;
}
int hipHostFree(void* memory) {
    std::free(memory);
    return 0;
}
int hipMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void*) {
    return gpucheck::fake::copy(*current, to, from, bytes, kind == 1 || kind == 3, kind == 2 || kind == 3,
                                "hipMemcpyAsync");
}
int hipMemcpyPeerAsync(void* to, int other, const void* from, int, std::size_t bytes, void*) {
    FakeGpu* target = at(other);
    if (target == nullptr || owner_of(to) != target || !target->owns(to, bytes))
        return gpucheck::fake::kIllegalAddress;
    const int error = gpucheck::fake::copy(*current, to, from, bytes, false, true, "hipMemcpyPeerAsync");
    target->settle();
    return error;
}
int hipDeviceCanAccessPeer(int* can, int, int) {
    *can = 1;
    return 0;
}
int hipDeviceEnablePeerAccess(int, unsigned) {
    return current->enter("hipDeviceEnablePeerAccess");
}
int hipMemsetD32Async(void* memory, int word, std::size_t words, void*) {
    return gpucheck::fake::fill_words(*current, memory, static_cast<unsigned>(word), words,
                                      "hipMemsetD32Async");
}
int hipStreamCreateWithFlags(void** stream, unsigned) {
    *stream = current;
    return current->enter("hipStreamCreateWithFlags");
}
int hipStreamSynchronize(void*) {
    return current->enter("hipStreamSynchronize");
}
int hipEventCreateWithFlags(void** event, unsigned) {
    *event = new Moment{};
    return 0;
}
int hipEventRecord(void* event, void*) {
    static_cast<Moment*>(event)->at = std::chrono::steady_clock::now();
    return current->enter("hipEventRecord");
}
int hipEventElapsedTime(float* ms, void* start, void* stop) {
    const auto duration = static_cast<Moment*>(stop)->at - static_cast<Moment*>(start)->at;
    *ms = std::chrono::duration<float, std::milli>(duration).count();
    return 0;
}
const char* hipGetErrorName(int error) {
    static const std::map<int, const char*> names{{1, "hipErrorInvalidValue"},
                                                  {2, "hipErrorOutOfMemory"},
                                                  {100, "hipErrorNoDevice"},
                                                  {101, "hipErrorInvalidDevice"},
                                                  {214, "hipErrorECCNotCorrectable"},
                                                  {400, "hipErrorInvalidHandle"},
                                                  {500, "hipErrorNotFound"},
                                                  {700, "hipErrorIllegalAddress"},
                                                  {704, "hipErrorPeerAccessAlreadyEnabled"},
                                                  {719, "hipErrorLaunchFailure"}};
    const auto found = names.find(error);
    return found == names.end() ? "hipErrorUnknown" : found->second;
}

}  // extern "C"
