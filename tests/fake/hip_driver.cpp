// A libamdhip64.so.7 of fake GPUs: the entry points that gpucheck calls, with AMD's names and numbers.
#include <cstdio>
#include <cstring>

#include "tests/fake/fake_calls.h"

namespace {

using gpucheck::fake::Path;

gpucheck::fake::Calls& calls() {
    static auto& only = *new gpucheck::fake::Calls("amd");
    return only;
}

}  // namespace

extern "C" {

int hipInit(unsigned) {
    return calls().init("hipInit");
}
int hipDeviceGetByPCIBusId(int* device, const char* address) {
    return calls().by_bus_id(device, address, "hipDeviceGetByPCIBusId");
}
int hipDeviceGetName(char* name, int length, int device) {
    return calls().device_name(name, length, device);
}
int hipDeviceGetAttribute(int* value, int attribute, int device) {
    if (calls().at(device) == nullptr) return gpucheck::fake::kInvalidDevice;
    switch (attribute) {
        case 5:
            *value = static_cast<int>(calls().at(device)->about().clock_mhz * 1000);
            return 0;
        case 63:
            *value = static_cast<int>(calls().at(device)->about().units);
            return 0;
        default:
            return gpucheck::fake::kInvalidValue;
    }
}
int hipDeviceTotalMem(std::size_t* bytes, int device) {
    return calls().total_memory(bytes, device);
}
// 1472 bytes with the name of the architecture at 1160, as since ROCm 6.0.
int hipGetDevicePropertiesR0600(void* properties, int device) {
    if (calls().at(device) == nullptr) return gpucheck::fake::kInvalidDevice;
    const auto& about = calls().at(device)->about();
    auto* bytes = static_cast<char*>(properties);
    std::memset(bytes, 0, 1472);
    std::snprintf(bytes, 256, "%s", about.name.c_str());
    std::snprintf(bytes + 1160, 256, "%s:sramecc+:xnack-", about.architecture.c_str());
    return 0;
}
int hipSetDevice(int device) {
    const int error = calls().select(calls().at(device));
    return error != 0 ? error : calls().enter("hipSetDevice");
}
int hipMemGetInfo(std::size_t* free, std::size_t* total) {
    return calls().memory_info(free, total, "hipMemGetInfo");
}
int hipModuleLoadData(void** module, const void* image) {
    return calls().load(module, image, "hipModuleLoadData");
}
int hipModuleGetFunction(void** function, void* module, const char* name) {
    return calls().function(function, module, name, "hipModuleGetFunction");
}
int hipModuleLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned,
                          unsigned, unsigned, void* stream, void** arguments, void**) {
    return calls().launch(function, blocks, threads, stream, arguments, "hipModuleLaunchKernel");
}
int hipMalloc(void** memory, std::size_t bytes) {
    return calls().allocate(memory, bytes, "hipMalloc");
}
int hipFree(void* memory) {
    return calls().release(memory);
}
int hipHostMalloc(void** memory, std::size_t bytes, unsigned) {
    return calls().allocate_host(memory, bytes, "hipHostMalloc");
}
int hipHostFree(void* memory) {
    return calls().release_host(memory);
}
int hipMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* stream) {
    const Path path = kind == 1 ? Path::to_device : kind == 2 ? Path::to_host : Path::memory;
    return calls().copy(to, from, bytes, path, stream, "hipMemcpyAsync");
}
int hipMemcpyPeerAsync(void* to, int other, const void* from, int, std::size_t bytes, void* stream) {
    return calls().copy_peer(to, calls().at(other), from, bytes, stream, "hipMemcpyPeerAsync");
}
int hipDeviceCanAccessPeer(int* can, int, int) {
    return calls().can_reach_peer(can);
}
int hipDeviceEnablePeerAccess(int, unsigned) {
    return calls().enter("hipDeviceEnablePeerAccess");
}
int hipMemsetD32Async(void* memory, int word, std::size_t words, void* stream) {
    return calls().fill(memory, static_cast<unsigned>(word), words, stream, "hipMemsetD32Async");
}
int hipStreamCreateWithFlags(void** stream, unsigned) {
    return calls().create_stream(stream, "hipStreamCreateWithFlags");
}
int hipStreamSynchronize(void* stream) {
    return calls().synchronize(stream, "hipStreamSynchronize");
}
int hipEventCreateWithFlags(void** event, unsigned) {
    return calls().create_event(event);
}
int hipEventRecord(void* event, void* stream) {
    return calls().record(event, stream, "hipEventRecord");
}
int hipEventElapsedTime(float* ms, void* start, void* stop) {
    return calls().elapsed(ms, start, stop);
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
