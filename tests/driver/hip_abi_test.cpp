// What we declare of libamdhip64 by hand is what ROCm's header says, where it is installed.
#include <gtest/gtest.h>

#include "kernels/driver/hip_api.h"
#include "tests/driver/match.h"

#if __has_include(<hip/hip_runtime_api.h>)
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_PLATFORM_HCC__ 1  // its name before ROCm 5
#include <hip/hip_runtime_api.h>
#endif

namespace gpucheck::gpu::hip {
namespace {

#if __has_include(<hip/hip_runtime_api.h>)

using test::kMatches;

#define EXPECT_DECLARED(member, theirs) \
    EXPECT_TRUE((kMatches<decltype(Functions{}.member), decltype(theirs)>)) << #theirs

// Some have templates beside them: the plain one is chosen by its parameters, or this does not compile.
#define EXPECT_OVERLOAD(member, theirs, parameters)                                                          \
    EXPECT_TRUE((kMatches<decltype(Functions{}.member),                                                      \
                          std::remove_pointer_t<decltype(static_cast<hipError_t(*) parameters>(&theirs))>>)) \
        << #theirs

TEST(HipAbi, FunctionsHaveTheHeadersParameters) {
    EXPECT_DECLARED(init, hipInit);
    EXPECT_DECLARED(device_by_bus_id, hipDeviceGetByPCIBusId);
    EXPECT_DECLARED(device_name, hipDeviceGetName);
    EXPECT_DECLARED(device_attribute, hipDeviceGetAttribute);
    EXPECT_DECLARED(device_memory, hipDeviceTotalMem);
    // A macro for hipGetDevicePropertiesR0600 since ROCm 6.
    EXPECT_DECLARED(device_properties, hipGetDeviceProperties);
    EXPECT_DECLARED(select, hipSetDevice);
    EXPECT_DECLARED(memory_info, hipMemGetInfo);
    EXPECT_DECLARED(load_module, hipModuleLoadData);
    EXPECT_DECLARED(get_function, hipModuleGetFunction);
    EXPECT_DECLARED(launch, hipModuleLaunchKernel);
    EXPECT_OVERLOAD(allocate, hipMalloc, (void**, std::size_t));
    EXPECT_DECLARED(release, hipFree);
    EXPECT_OVERLOAD(allocate_host, hipHostMalloc, (void**, std::size_t, unsigned));
    EXPECT_DECLARED(release_host, hipHostFree);
    EXPECT_DECLARED(copy, hipMemcpyAsync);
    EXPECT_DECLARED(copy_peer, hipMemcpyPeerAsync);
    EXPECT_DECLARED(can_reach_peer, hipDeviceCanAccessPeer);
    EXPECT_DECLARED(enable_peer, hipDeviceEnablePeerAccess);
    EXPECT_DECLARED(fill_words, hipMemsetD32Async);
    EXPECT_DECLARED(create_stream, hipStreamCreateWithFlags);
    EXPECT_DECLARED(synchronize, hipStreamSynchronize);
    EXPECT_DECLARED(create_event, hipEventCreateWithFlags);
    EXPECT_DECLARED(record_event, hipEventRecord);
    EXPECT_DECLARED(elapsed, hipEventElapsedTime);
    EXPECT_DECLARED(error_name, hipGetErrorName);
}

TEST(HipAbi, NumbersAreTheHeaders) {
    EXPECT_EQ(kSuccess, hipSuccess);
    EXPECT_EQ(kInvalidValue, hipErrorInvalidValue);
    EXPECT_EQ(kOutOfMemory, hipErrorOutOfMemory);
    EXPECT_EQ(kInvalidDevice, hipErrorInvalidDevice);
    EXPECT_EQ(kPeerAccessAlreadyEnabled, hipErrorPeerAccessAlreadyEnabled);
    EXPECT_EQ(kAttributeClockRate, hipDeviceAttributeClockRate);
    EXPECT_EQ(kAttributeMultiprocessorCount, hipDeviceAttributeMultiprocessorCount);
    EXPECT_EQ(kStreamNonBlocking, unsigned{hipStreamNonBlocking});
    EXPECT_EQ(kHostMallocPortable, unsigned{hipHostMallocPortable});
    EXPECT_EQ(kHostToDevice, hipMemcpyHostToDevice);
    EXPECT_EQ(kDeviceToHost, hipMemcpyDeviceToHost);
    EXPECT_EQ(kDeviceToDevice, hipMemcpyDeviceToDevice);
    static_assert(sizeof(hipDeviceProp_t) < kPropertyBytes);
}

#else

TEST(HipAbi, FunctionsHaveTheHeadersParameters) {
    GTEST_SKIP() << "no hip/hip_runtime_api.h here (looked in the compiler's folders and /opt/rocm/include)";
}

#endif

}  // namespace
}  // namespace gpucheck::gpu::hip
