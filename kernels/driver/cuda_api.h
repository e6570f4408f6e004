// What we call of libcuda, declared by hand, so that one binary starts on machines without CUDA; the numbers
// are those of NVIDIA's cuda.h, and a test compares them with it.
#pragma once

#include <cstddef>

#include "kernels/driver/functions.h"

namespace gpucheck::gpu::cuda {

using Result = int;     // CUresult
using Device = int;     // CUdevice
using Context = void*;  // CUcontext, CUmodule, CUfunction, CUstream, CUevent: pointers to what we never see
using Pointer = unsigned long long;  // CUdeviceptr

inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidValue = 1;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kInvalidDevice = 101;
inline constexpr Result kPeerAccessAlreadyEnabled = 704;
inline constexpr int kAttributeClockRate = 13;  // kHz
inline constexpr int kAttributeMultiprocessorCount = 16;
inline constexpr int kAttributeComputeCapabilityMajor = 75;
inline constexpr int kAttributeComputeCapabilityMinor = 76;
inline constexpr int kFunctionMaxDynamicShared = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kHostAllocPortable = 1;

// X(member, required, return type, (parameters), names newest first).
// A newer name is listed only where its parameters are the same.
// clang-format off
#define GPUCHECK_CUDA_FUNCTIONS(X)                                                                             \
    X(init,             true,  Result, (unsigned),                          "cuInit")                          \
    X(device_by_bus_id, true,  Result, (Device*, const char*),              "cuDeviceGetByPCIBusId")           \
    X(device_name,      false, Result, (char*, int, Device),                "cuDeviceGetName")                 \
    X(device_attribute, true,  Result, (int*, int, Device),                 "cuDeviceGetAttribute")            \
    X(device_memory,    true,  Result, (std::size_t*, Device),              "cuDeviceTotalMem_v2")             \
    X(retain_context,   true,  Result, (Context*, Device),                  "cuDevicePrimaryCtxRetain")        \
    X(select,           true,  Result, (Context),                           "cuCtxSetCurrent")                 \
    X(memory_info,      true,  Result, (std::size_t*, std::size_t*),        "cuMemGetInfo_v2")                 \
    X(load_module,      true,  Result, (void**, const void*),               "cuModuleLoadData")                \
    X(get_function,     true,  Result, (void**, void*, const char*),        "cuModuleGetFunction")             \
    X(set_attribute,    false, Result, (void*, int, int),                   "cuFuncSetAttribute")              \
    X(launch,           true,  Result, (void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
                                        unsigned, void*, void**, void**),   "cuLaunchKernel")                  \
    X(allocate,         true,  Result, (Pointer*, std::size_t),             "cuMemAlloc_v2")                   \
    X(release,          true,  Result, (Pointer),                           "cuMemFree_v2")                    \
    X(allocate_host,    true,  Result, (void**, std::size_t, unsigned),     "cuMemHostAlloc")                  \
    X(release_host,     true,  Result, (void*),                             "cuMemFreeHost")                   \
    X(copy_to_device,   true,  Result, (Pointer, const void*, std::size_t, void*), "cuMemcpyHtoDAsync_v2")     \
    X(copy_to_host,     true,  Result, (void*, Pointer, std::size_t, void*), "cuMemcpyDtoHAsync_v2")           \
    X(copy_on_device,   true,  Result, (Pointer, Pointer, std::size_t, void*), "cuMemcpyDtoDAsync_v2")         \
    X(copy_peer,        false, Result, (Pointer, Context, Pointer, Context, std::size_t, void*),               \
                                                                            "cuMemcpyPeerAsync")               \
    X(can_reach_peer,   false, Result, (int*, Device, Device),              "cuDeviceCanAccessPeer")           \
    X(enable_peer,      false, Result, (Context, unsigned),                 "cuCtxEnablePeerAccess")           \
    X(fill_words,       true,  Result, (Pointer, unsigned, std::size_t, void*), "cuMemsetD32Async")            \
    X(create_stream,    true,  Result, (void**, unsigned),                  "cuStreamCreate")                  \
    X(synchronize,      true,  Result, (void*),                             "cuStreamSynchronize")             \
    X(create_event,     true,  Result, (void**, unsigned),                  "cuEventCreate")                   \
    X(record_event,     true,  Result, (void*, void*),                      "cuEventRecord")                   \
    X(elapsed,          true,  Result, (float*, void*, void*),              "cuEventElapsedTime_v2", "cuEventElapsedTime") \
    X(error_name,       false, Result, (Result, const char**),              "cuGetErrorName")
// clang-format on

struct Functions {
    GPUCHECK_CUDA_FUNCTIONS(GPUCHECK_CALL_MEMBER)
};

static_assert(sizeof(Pointer) == 8 && sizeof(Result) == 4 && sizeof(std::size_t) == 8);

}  // namespace gpucheck::gpu::cuda
