// Hopper's warpgroup matrix instruction: one operand lies in shared memory and the product comes later, so
// that a missing fence or a wrong descriptor would call a healthy GPU broken. Order and descriptors: PTX ISA,
// "Asynchronous warpgroup level matrix instructions"; nothing here was run on hardware yet (see is_proven).
#pragma once

#include "kernels/matrix_layouts.h"

#if defined(GPUCHECK_ON_HOST)
#include "kernels/host_matrix.h"
#endif

namespace gpucheck::kernels {

constexpr u32 kTilesOfGroup = kSteps;  // one part of B for each step
constexpr u32 kWarpgroup = 128;

/// B of one step in shared memory, and how the instruction is told of it.
struct SharedOperand {
    u32* words;
    u64 descriptor;
};

/// The tiles of all warpgroups of a block.
GPU_FN u32* operand_tiles() {
    GPU_SHARED(u32, tiles, kMatrixThreads / kWarpgroup * kTilesOfGroup * kTileWords);
    return tiles;
}

#if defined(GPUCHECK_NVIDIA)

GPU_FN u64 descriptor_of(const u32* words) {
    return tile_descriptor(static_cast<u32>(__cvta_generic_to_shared(words)));
}
/// After the last write to shared memory and before the first product: the matrix unit reads through another
/// proxy, and all four warps read what all four wrote.
GPU_FN void publish_operands() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}
/// Between any access to accumulators or A and the next products.
GPU_FN void begin_products() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// Ends a group of products and waits until no more than `kPending` groups are on their way.
template <u32 kPending>
GPU_FN void end_products() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
/// Keeps the compiler from moving an access to these registers across a fence or a wait.
GPU_FN void pin(float& value) {
    asm volatile("" : "+f"(value)::"memory");
}
GPU_FN void pin(i32& value) {
    asm volatile("" : "+r"(value)::"memory");
}
GPU_FN void pin(u32& value) {
    asm volatile("" : "+r"(value)::"memory");
}

#define GPUCHECK_4(letter, i) \
    "+" letter(c[i]), "+" letter(c[i + 1]), "+" letter(c[i + 2]), "+" letter(c[i + 3])
#define GPUCHECK_16(letter, i) \
    GPUCHECK_4(letter, i), GPUCHECK_4(letter, i + 4), GPUCHECK_4(letter, i + 8), GPUCHECK_4(letter, i + 12)
// %0 to %63 accumulators, %64 to %67 A, %68 B's descriptor, %69 one: add to what is there. `flags`: both
// signs as they are; B not transposed, which only 16-bit types can say.
#define GPUCHECK_WGMMA_128(shape, letter, flags)                                                            \
    asm volatile(                                                                                           \
        "{\n.reg .pred add;\nsetp.ne.b32 add, %69, 0;\n"                                                    \
        "wgmma.mma_async.sync.aligned." shape                                                               \
        " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                          \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "                  \
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                  \
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "                 \
        "{%64, %65, %66, %67}, %68, add" flags ";\n}"                                                       \
        : GPUCHECK_16(letter, 0), GPUCHECK_16(letter, 16), GPUCHECK_16(letter, 32), GPUCHECK_16(letter, 48) \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(descriptor), "r"(1))

template <MatrixType kType, class Element>
GPU_FN void warpgroup_multiply_add(const u32* a, u64 descriptor, Element* c) {
    if constexpr (kType == MatrixType::tf32) {
        GPUCHECK_WGMMA_128("m64n128k8.f32.tf32.tf32", "f", ", 1, 1");
    } else if constexpr (kType == MatrixType::f16) {
        GPUCHECK_WGMMA_128("m64n128k16.f32.f16.f16", "f", ", 1, 1, 0");
    } else if constexpr (kType == MatrixType::bf16) {
        GPUCHECK_WGMMA_128("m64n128k16.f32.bf16.bf16", "f", ", 1, 1, 0");
    } else if constexpr (kType == MatrixType::e4m3) {
        GPUCHECK_WGMMA_128("m64n128k32.f32.e4m3.e4m3", "f", ", 1, 1");
    } else if constexpr (kType == MatrixType::e5m2) {
        GPUCHECK_WGMMA_128("m64n128k32.f32.e5m2.e5m2", "f", ", 1, 1");
    } else if constexpr (kType == MatrixType::i8) {
        GPUCHECK_WGMMA_128("m64n128k32.s32.s8.s8", "r", "");
    }
}
#undef GPUCHECK_WGMMA_128
#undef GPUCHECK_16
#undef GPUCHECK_4

#elif defined(GPUCHECK_ON_HOST)

// The host's addresses of shared memory begin anywhere but at zero.
GPU_FN u64 descriptor_of(const u32* words) {
    return tile_descriptor(kHostSharedBase + static_cast<u32>(words - operand_tiles()) * 4);
}
GPU_FN void publish_operands() {
    host_block_barrier();
}
GPU_FN void begin_products() {}
template <u32 kPending>
GPU_FN void end_products() {}
template <class T>
GPU_FN void pin(T&) {}

template <MatrixType kType, class Element>
GPU_FN void warpgroup_multiply_add(const u32* a, u64 descriptor, Element* c) {
    host_multiply_add_shared({Target::sm90, kType}, a, operand_tiles(), descriptor, c);
}

#endif

}  // namespace gpucheck::kernels
