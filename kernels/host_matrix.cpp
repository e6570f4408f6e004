// See host_matrix.h. Numbers are decoded by reference.h, which shares nothing with the kernels' encoder.
#include "kernels/host_matrix.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/host_execution.h"
#include "kernels/reference.h"

namespace gpucheck::kernels {
namespace {

struct Lane {
    std::array<u32, 8> a, b;
    u32 scale_a, scale_b;
    std::array<u64, 16> sum;
};

struct WaveOperands {
    std::array<Lane, 64> lanes;
};

thread_local std::array<WaveOperands, kHostMaxThreads / 32> waves;

u64 element_bits(const std::array<u32, 8>& words, u32 bits, u32 e) {
    u64 value = 0;
    for (u32 i = 0; i < bits; ++i) {
        const u32 at = e * bits + i;
        value |= u64{words[at / 32] >> (at % 32) & 1} << i;
    }
    return value;
}

double scale_of(u32 register_value) {
    return std::ldexp(1.0, static_cast<int>(register_value & 0xFF) - 127);
}

u64 add(MatrixType type, u64 old_bits, double products) {
    if (type == MatrixType::f64) return std::bit_cast<u64>(std::bit_cast<double>(old_bits) + products);
    if (type == MatrixType::i8)
        return static_cast<u32>(static_cast<u32>(old_bits) + static_cast<u32>(static_cast<i64>(products)));
    const double sum = double{std::bit_cast<float>(static_cast<u32>(old_bits))} + products;
    return std::bit_cast<u32>(static_cast<float>(sum));
}

void multiply_wave(HostInstruction instruction, WaveOperands& wave) {
    const auto [target, type] = instruction;
    const MatrixShape shape = matrix_shape(target, type);
    const Fp8 fp8 = fp8_of(target);
    const u32 bits = element_bits_of(type);
    std::vector<double> a(shape.m * shape.k), b(shape.n * shape.k), scale_a(shape.m), scale_b(shape.n);
    for (u32 lane = 0; lane < shape.wave; ++lane) {
        const Lane& from = wave.lanes[lane];
        for (u32 e = 0; e < shape.a_elements; ++e) {
            const Place at = place_a(target, type, lane, e);
            a[at.line * shape.k + at.other] = decode(type, fp8, element_bits(from.a, bits, e));
            scale_a[at.line] = scale_of(from.scale_a);
        }
        for (u32 e = 0; e < shape.b_elements; ++e) {
            const Place at = place_b(target, type, lane, e);
            b[at.line * shape.k + at.other] = decode(type, fp8, element_bits(from.b, bits, e));
            scale_b[at.line] = scale_of(from.scale_b);
        }
    }
    if (u64* done = host_thread().machine->operations)
        done[static_cast<u32>(type)] += u64{2} * shape.m * shape.n * shape.k;
    const bool scaled = is_scaled(target, type);
    for (u32 lane = 0; lane < shape.wave; ++lane) {
        for (u32 r = 0; r < shape.d_elements; ++r) {
            const Place at = place_d(target, type, lane, r);
            double products = 0;
            for (u32 k = 0; k < shape.k; ++k)
                products += a[at.line * shape.k + k] * b[at.other * shape.k + k];
            if (scaled) products *= scale_a[at.line] * scale_b[at.other];
            u64& sum = wave.lanes[lane].sum[r];
            sum = add(type, sum, products);
        }
    }
}

}  // namespace

void host_multiply_add_bits(HostInstruction instruction, const u32* a, const u32* b, u32 scale_a, u32 scale_b,
                            void* sum) {
    const MatrixShape shape = matrix_shape(instruction.target, instruction.type);
    const u32 bits = element_bits_of(instruction.type);
    const HostThread thread = host_thread();
    const u32 lane_number = thread.thread % shape.wave;
    WaveOperands& wave = waves[thread.thread / shape.wave];
    Lane& lane = wave.lanes[lane_number];
    std::memcpy(lane.a.data(), a, shape.a_elements * bits / 8);
    std::memcpy(lane.b.data(), b, shape.b_elements * bits / 8);
    lane.scale_a = scale_a;
    lane.scale_b = scale_b;
    const std::size_t bytes = instruction.type == MatrixType::f64 ? 8 : 4;
    for (u32 r = 0; r < shape.d_elements; ++r) {
        lane.sum[r] = 0;
        std::memcpy(&lane.sum[r], static_cast<char*>(sum) + r * bytes, bytes);
    }
    host_wave_barrier(shape.wave);
    if (lane_number == 0) multiply_wave(instruction, wave);
    host_wave_barrier(shape.wave);
    for (u32 r = 0; r < shape.d_elements; ++r) {
        if (thread.machine->spoil_product) {
            HostProduct product{
                static_cast<u32>(instruction.type), thread.unit, thread.block, lane_number, r, lane.sum[r]};
            thread.machine->spoil_product(product);
            lane.sum[r] = product.bits;
        }
        std::memcpy(static_cast<char*>(sum) + r * bytes, &lane.sum[r], bytes);
    }
}

}  // namespace gpucheck::kernels
