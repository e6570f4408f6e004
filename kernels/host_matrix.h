// The matrix unit of the host build: collects the operands of a wave's lanes, multiplies the numbers they
// stand for, and hands each lane its results, by the documented layouts.
#pragma once

#include <cstdint>

#include "kernels/matrix_layouts.h"

namespace gpucheck::kernels {

struct HostInstruction {
    Target target;
    MatrixType type;
};

/// All lanes of the wave must call this. `sum` is replaced; its elements are 4 bytes wide, 8 for f64. `words`
/// of each operand follow from the shape.
void host_multiply_add_bits(HostInstruction instruction, const u32* a, const u32* b, u32 scale_a, u32 scale_b,
                            void* sum);

/// The same with B in shared memory, where wgmma's descriptor says; `shared` is what lies at kHostSharedBase.
constexpr u32 kHostSharedBase = 1024;
void host_multiply_add_shared_bits(HostInstruction instruction, const u32* a, const u32* shared,
                                   u64 descriptor, void* sum);

template <class Element>
void host_multiply_add_shared(HostInstruction instruction, const u32* a, const u32* shared, u64 descriptor,
                              Element* sum) {
    host_multiply_add_shared_bits(instruction, a, shared, descriptor, sum);
}

template <class Element>
void host_multiply_add(HostInstruction instruction, const u32* a, const u32* b, u32 scale_a, u32 scale_b,
                       Element* sum) {
    host_multiply_add_bits(instruction, a, b, scale_a, scale_b, sum);
}

}  // namespace gpucheck::kernels
