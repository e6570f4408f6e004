// The few words all GPU kernels are written in, so that a kernel's arithmetic exists once and a fault is not
// hidden by one vendor's copy of it: compiled by clang for AMD (no ROCm headers), by nvcc, and by the host
// compiler.
#pragma once

#include <cstdint>
#include <utility>

#if defined(__CUDA_ARCH__) || defined(__CUDACC__)
#define GPUCHECK_NVIDIA 1
#elif defined(__AMDGCN__)
#define GPUCHECK_AMD 1
#elif !defined(__HIP__)
#define GPUCHECK_ON_HOST 1
#endif

#if defined(GPUCHECK_NVIDIA)
#define GPU_FN __device__ __forceinline__
#define GPU_PURE __host__ __device__ __forceinline__ constexpr
#define GPU_KERNEL(max_threads) extern "C" __global__ void __launch_bounds__(max_threads)
#define GPU_SHARED(type, name, count) alignas(16) __shared__ type name[count]
#elif defined(GPUCHECK_AMD) || defined(__HIP__)
#define GPU_FN __attribute__((device)) __attribute__((always_inline)) inline
#define GPU_PURE __attribute__((device)) __attribute__((host)) __attribute__((always_inline)) inline constexpr
// launch_bounds is ignored without the ROCm headers (clang 22): 1024 threads would be assumed and registers
// halved.
#define GPU_KERNEL(max_threads) \
    extern "C" __attribute__((global)) void __attribute__((amdgpu_flat_work_group_size(1, max_threads)))
#define GPU_SHARED(type, name, count) alignas(16) static __attribute__((shared)) type name[count]
#else
#include "kernels/host_execution.h"
#define GPU_FN inline
#define GPU_PURE inline constexpr
#define GPU_KERNEL(max_threads) void
// All threads of a block are fibers of one operating system thread, and blocks run one after the other.
#define GPU_SHARED(type, name, count) alignas(16) static thread_local type name[count]
#endif

#if defined(__clang__) && !defined(GPUCHECK_ON_HOST)
#define GPU_NO_UNROLL _Pragma("clang loop unroll(disable)")
#define GPU_UNROLL _Pragma("unroll")
#elif defined(GPUCHECK_NVIDIA)
#define GPU_NO_UNROLL _Pragma("unroll 1")
#define GPU_UNROLL _Pragma("unroll")
#else
#define GPU_NO_UNROLL
#define GPU_UNROLL
#endif

namespace gpucheck::kernels {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

/// What one access of a stream kernel moves: 16 bytes.
struct alignas(16) Pair {
    u64 x, y;
};

#if defined(GPUCHECK_NVIDIA)

GPU_FN u32 thread_index() {
    return threadIdx.x;
}
GPU_FN u32 block_index() {
    return blockIdx.x;
}
GPU_FN u32 block_size() {
    return blockDim.x;
}
GPU_FN u32 grid_size() {
    return gridDim.x;
}
GPU_FN void block_barrier() {
    __syncthreads();
}
/// Before a matrix instruction, which all lanes must execute together.
GPU_FN void wave_converge() {
    __syncwarp();
}
GPU_FN u64 atomic_add(u64* p, u64 v) {
    return atomicAdd(reinterpret_cast<unsigned long long*>(p), static_cast<unsigned long long>(v));
}
GPU_FN u32 atomic_add(u32* p, u32 v) {
    return atomicAdd(p, v);
}
GPU_FN void atomic_or(u64* p, u64 v) {
    atomicOr(reinterpret_cast<unsigned long long*>(p), static_cast<unsigned long long>(v));
}
GPU_FN void atomic_min(u64* p, u64 v) {
    atomicMin(reinterpret_cast<unsigned long long*>(p), static_cast<unsigned long long>(v));
}
/// Number of the streaming multiprocessor, from the special register %smid (PTX ISA).
GPU_FN u32 unit_id() {
    u32 id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}
GPU_FN u64 device_clock() {
    return static_cast<u64>(clock64());
}
GPU_FN Pair load_streaming(const Pair* p) {
    Pair v;
    asm volatile("ld.global.cs.v2.u64 {%0, %1}, [%2];" : "=l"(v.x), "=l"(v.y) : "l"(p) : "memory");
    return v;
}
GPU_FN void store_streaming(Pair* p, Pair v) {
    asm volatile("st.global.cs.v2.u64 [%0], {%1, %2};" ::"l"(p), "l"(v.x), "l"(v.y) : "memory");
}

#elif defined(GPUCHECK_AMD)

GPU_FN u32 thread_index() {
    return __builtin_amdgcn_workitem_id_x();
}
GPU_FN u32 block_index() {
    return __builtin_amdgcn_workgroup_id_x();
}
// The sizes come from the implicit kernel arguments of code object version 5 (LLVM AMDGPU usage:
// hidden_block_count_x at 0, hidden_group_size_x at 12), which the runtime fills in.
using ImplicitArguments = const __attribute__((address_space(4))) char*;
GPU_FN u32 block_size() {
    const auto* at = (ImplicitArguments)__builtin_amdgcn_implicitarg_ptr() + 12;
    return *(const __attribute__((address_space(4))) std::uint16_t*)at;
}
GPU_FN u32 grid_size() {
    return *(const __attribute__((address_space(4))) u32*)__builtin_amdgcn_implicitarg_ptr();
}
GPU_FN void block_barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
/// The lanes of an AMD wave run in step, and the compiler joins them after a branch.
GPU_FN void wave_converge() {
    __builtin_amdgcn_wave_barrier();
}
GPU_FN u64 atomic_add(u64* p, u64 v) {
    return __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
GPU_FN u32 atomic_add(u32* p, u32 v) {
    return __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
GPU_FN void atomic_or(u64* p, u64 v) {
    __hip_atomic_fetch_or(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
GPU_FN void atomic_min(u64* p, u64 v) {
    __hip_atomic_fetch_min(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
/// Twelve bits that name the compute unit; the numbers are physical, so harvested units leave gaps.
/// Fields of HW_ID (gfx9) and HW_ID1 (gfx11, gfx12) as in the HIP headers and LLVM's SIDefines.h; XCC_ID on
/// gfx94x/95x.
GPU_FN u32 unit_id() {
#if defined(__GFX11__) || defined(__GFX12__)
    const u32 id = __builtin_amdgcn_s_getreg(23 | (31 << 11));
    return ((id >> 10) & 15) | ((id >> 16 & 1) << 4) | ((id >> 18 & 7) << 5);
#elif defined(__gfx90a__)
    const u32 id = __builtin_amdgcn_s_getreg(4 | (31 << 11));
    return ((id >> 8) & 31) | ((id >> 13 & 7) << 5);
#else
    const u32 id = __builtin_amdgcn_s_getreg(4 | (31 << 11));
    const u32 xcc = __builtin_amdgcn_s_getreg(20 | (3 << 11));
    return ((id >> 8) & 31) | ((id >> 13 & 3) << 5) | ((xcc & 15) << 8);
#endif
}
GPU_FN u64 device_clock() {
    return __builtin_readcyclecounter();
}
using NativePair = u64 __attribute__((ext_vector_type(2)));
GPU_FN Pair load_streaming(const Pair* p) {
    const NativePair v = __builtin_nontemporal_load(reinterpret_cast<const NativePair*>(p));
    return {v.x, v.y};
}
GPU_FN void store_streaming(Pair* p, Pair v) {
    __builtin_nontemporal_store(NativePair{v.x, v.y}, reinterpret_cast<NativePair*>(p));
}
/// As a vector: clang takes a copied struct through scratch memory.
GPU_FN Pair load_pair(const Pair* p) {
    const NativePair v = *reinterpret_cast<const NativePair*>(p);
    return {v.x, v.y};
}
GPU_FN void store_pair(Pair* p, Pair v) {
    *reinterpret_cast<NativePair*>(p) = NativePair{v.x, v.y};
}

#elif defined(GPUCHECK_ON_HOST)

GPU_FN u32 thread_index() {
    return host_thread().thread;
}
GPU_FN u32 block_index() {
    return host_thread().block;
}
GPU_FN u32 block_size() {
    return host_thread().block_size;
}
GPU_FN u32 grid_size() {
    return host_thread().grid_size;
}
GPU_FN void block_barrier() {
    host_block_barrier();
}
GPU_FN void wave_converge() {}
template <class T>
GPU_FN T atomic_add(T* p, T v) {
    const T old = *p;
    *p += v;
    return old;
}
GPU_FN void atomic_or(u64* p, u64 v) {
    *p |= v;
}
GPU_FN void atomic_min(u64* p, u64 v) {
    *p = v < *p ? v : *p;
}
GPU_FN u32 unit_id() {
    return host_thread().unit;
}
GPU_FN u64 device_clock() {
    return host_thread().block;
}
GPU_FN Pair load_streaming(const Pair* p) {
    return *p;
}
GPU_FN void store_streaming(Pair* p, Pair v) {
    *p = v;
}

#endif

#if !defined(GPUCHECK_AMD)
GPU_FN Pair load_pair(const Pair* p) {
    return *p;
}
GPU_FN void store_pair(Pair* p, Pair v) {
    *p = v;
}
#endif

template <u32 kValue>
struct Number {
    static constexpr u32 value = kValue;
    GPU_PURE operator u32() const { return kValue; }
};

template <class F, u32... kIndices>
GPU_FN void each_of(F&& f, std::integer_sequence<u32, kIndices...>) {
    (f(Number<kIndices>{}), ...);
}

/// f(0), f(1) ... f(kCount - 1) with constants: what it indexes can stay in registers. nvcc unrolls loops too
/// late for that.
template <u32 kCount, class F>
GPU_FN void each(F&& f) {
    each_of(f, std::make_integer_sequence<u32, kCount>{});
}

/// Bits of one type as another, as std::bit_cast, which the device compilers lack without their headers.
template <class To, class From>
GPU_FN To bits_as(const From& from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

}  // namespace gpucheck::kernels
