// What we declare of libcuda by hand is what NVIDIA's header says, where it is installed.
#include <gtest/gtest.h>

#include "kernels/driver/cuda_api.h"
#include "tests/driver/match.h"

#if __has_include(<cuda.h>)
#include <cuda.h>
#endif

namespace gpucheck::gpu::cuda {
namespace {

using test::kMatches;

#if __has_include(<cuda.h>)

// Newer headers declare some functions under a macro of their newest version only: those are named here.
#define EXPECT_DECLARED(member, theirs) \
    EXPECT_TRUE((kMatches<decltype(Functions{}.member), decltype(theirs)>)) << #theirs

TEST(CudaAbi, FunctionsHaveTheHeadersParameters) {
    EXPECT_DECLARED(init, cuInit);
    EXPECT_DECLARED(device_by_bus_id, cuDeviceGetByPCIBusId);
    EXPECT_DECLARED(device_name, cuDeviceGetName);
    EXPECT_DECLARED(device_attribute, cuDeviceGetAttribute);
    EXPECT_DECLARED(device_memory, cuDeviceTotalMem);
    EXPECT_DECLARED(retain_context, cuDevicePrimaryCtxRetain);
    EXPECT_DECLARED(select, cuCtxSetCurrent);
    EXPECT_DECLARED(memory_info, cuMemGetInfo);
    EXPECT_DECLARED(load_module, cuModuleLoadData);
    EXPECT_DECLARED(get_function, cuModuleGetFunction);
    EXPECT_DECLARED(set_attribute, cuFuncSetAttribute);
    EXPECT_DECLARED(launch, cuLaunchKernel);
    EXPECT_DECLARED(allocate, cuMemAlloc);
    EXPECT_DECLARED(release, cuMemFree);
    EXPECT_DECLARED(allocate_host, cuMemHostAlloc);
    EXPECT_DECLARED(release_host, cuMemFreeHost);
    EXPECT_DECLARED(copy_to_device, cuMemcpyHtoDAsync);
    EXPECT_DECLARED(copy_to_host, cuMemcpyDtoHAsync);
    EXPECT_DECLARED(copy_on_device, cuMemcpyDtoDAsync);
    EXPECT_DECLARED(copy_peer, cuMemcpyPeerAsync);
    EXPECT_DECLARED(can_reach_peer, cuDeviceCanAccessPeer);
    EXPECT_DECLARED(enable_peer, cuCtxEnablePeerAccess);
    EXPECT_DECLARED(fill_words, cuMemsetD32Async);
    EXPECT_DECLARED(create_stream, cuStreamCreate);
    EXPECT_DECLARED(synchronize, cuStreamSynchronize);
    EXPECT_DECLARED(create_event, cuEventCreate);
    EXPECT_DECLARED(record_event, cuEventRecord);
    EXPECT_DECLARED(elapsed, cuEventElapsedTime);
    EXPECT_DECLARED(error_name, cuGetErrorName);
}

TEST(CudaAbi, NumbersAreTheHeaders) {
    static_assert(sizeof(Pointer) == sizeof(CUdeviceptr) && sizeof(Device) == sizeof(CUdevice));
    EXPECT_EQ(kSuccess, CUDA_SUCCESS);
    EXPECT_EQ(kInvalidValue, CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(kInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
    EXPECT_EQ(kPeerAccessAlreadyEnabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    EXPECT_EQ(kAttributeClockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    EXPECT_EQ(kAttributeMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    EXPECT_EQ(kAttributeComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    EXPECT_EQ(kAttributeComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    EXPECT_EQ(kFunctionMaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    EXPECT_EQ(kStreamNonBlocking, unsigned{CU_STREAM_NON_BLOCKING});
    EXPECT_EQ(kHostAllocPortable, unsigned{CU_MEMHOSTALLOC_PORTABLE});
}

#else

TEST(CudaAbi, FunctionsHaveTheHeadersParameters) {
    GTEST_SKIP() << "no cuda.h here (looked in /usr/local/cuda/include)";
}

#endif

}  // namespace
}  // namespace gpucheck::gpu::cuda
