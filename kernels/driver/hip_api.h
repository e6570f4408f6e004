// What we call of libamdhip64, declared by hand, so that one binary starts on machines without ROCm; the
// numbers are those of ROCm/HIP's hip_runtime_api.h, and a test compares them with it where it is installed.
#pragma once

#include <cstddef>

#include "kernels/driver/functions.h"

namespace gpucheck::gpu::hip {

using Result = int;  // hipError_t
using Device = int;

inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidValue = 1;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kInvalidDevice = 101;
inline constexpr Result kPeerAccessAlreadyEnabled = 704;
// hipDeviceAttribute_t: the same numbers since ROCm 4.5; what was dropped since then left its place behind.
inline constexpr int kAttributeClockRate = 5;  // kHz
inline constexpr int kAttributeMultiprocessorCount = 63;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kHostMallocPortable = 1;
inline constexpr int kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3;  // hipMemcpyKind
/// hipDeviceProp_t has had several layouts (792 bytes in ROCm 5, 1472 since 6.0) and grows; we give room for
/// more and look in it for the one string that we want.
inline constexpr std::size_t kPropertyBytes = 8192;

// X(member, required, return type, (parameters), names newest first).
// clang-format off
#define GPUCHECK_HIP_FUNCTIONS(X)                                                                              \
    X(init,             true,  Result, (unsigned),                          "hipInit")                         \
    X(device_by_bus_id, true,  Result, (Device*, const char*),              "hipDeviceGetByPCIBusId")          \
    X(device_name,      false, Result, (char*, int, Device),                "hipDeviceGetName")                \
    X(device_attribute, true,  Result, (int*, int, Device),                 "hipDeviceGetAttribute")           \
    X(device_memory,    true,  Result, (std::size_t*, Device),              "hipDeviceTotalMem")               \
    X(device_properties, false, Result, (void*, int),  "hipGetDevicePropertiesR0600", "hipGetDeviceProperties") \
    X(select,           true,  Result, (int),                               "hipSetDevice")                    \
    X(memory_info,      true,  Result, (std::size_t*, std::size_t*),        "hipMemGetInfo")                   \
    X(load_module,      true,  Result, (void**, const void*),               "hipModuleLoadData")               \
    X(get_function,     true,  Result, (void**, void*, const char*),        "hipModuleGetFunction")            \
    X(launch,           true,  Result, (void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
                                        unsigned, void*, void**, void**),   "hipModuleLaunchKernel")           \
    X(allocate,         true,  Result, (void**, std::size_t),               "hipMalloc")                       \
    X(release,          true,  Result, (void*),                             "hipFree")                         \
    X(allocate_host,    true,  Result, (void**, std::size_t, unsigned),     "hipHostMalloc")                   \
    X(release_host,     true,  Result, (void*),                             "hipHostFree")                     \
    X(copy,             true,  Result, (void*, const void*, std::size_t, int, void*), "hipMemcpyAsync")        \
    X(copy_peer,        false, Result, (void*, int, const void*, int, std::size_t, void*),                     \
                                                                            "hipMemcpyPeerAsync")              \
    X(can_reach_peer,   false, Result, (int*, int, int),                    "hipDeviceCanAccessPeer")          \
    X(enable_peer,      false, Result, (int, unsigned),                     "hipDeviceEnablePeerAccess")       \
    X(fill_words,       true,  Result, (void*, int, std::size_t, void*),    "hipMemsetD32Async")               \
    X(create_stream,    true,  Result, (void**, unsigned),                  "hipStreamCreateWithFlags")        \
    X(synchronize,      true,  Result, (void*),                             "hipStreamSynchronize")            \
    X(create_event,     true,  Result, (void**, unsigned),                  "hipEventCreateWithFlags")         \
    X(record_event,     true,  Result, (void*, void*),                      "hipEventRecord")                  \
    X(elapsed,          true,  Result, (float*, void*, void*),              "hipEventElapsedTime")             \
    X(error_name,       false, const char*, (Result),                       "hipGetErrorName")
// clang-format on

struct Functions {
    GPUCHECK_HIP_FUNCTIONS(GPUCHECK_CALL_MEMBER)
};

static_assert(sizeof(void*) == 8 && sizeof(Result) == 4 && sizeof(std::size_t) == 8);

}  // namespace gpucheck::gpu::hip
