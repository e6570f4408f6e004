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
    std::array<u64, 64> sum;
};

/// One instruction's operands: what its lanes hand in, and B in shared memory where it lies there.
struct WaveOperands {
    std::array<Lane, 128> lanes;
    const u32* shared;
    u64 descriptor;
};

/// Of the waves of a block; made when the first one multiplies.
thread_local std::vector<WaveOperands> waves;

WaveOperands& wave_of_thread(u32 lanes) {
    if (waves.empty()) waves.resize(kHostMaxThreads / 32);
    return waves[host_thread().thread / lanes];
}

/// Element e of packed words, as its format's own bits.
u64 element_bits(const u32* words, Storage storage, u32 bits, u32 e) {
    u64 value = 0;
    for (u32 i = 0; i < bits; ++i) {
        const u32 at = e * storage.bits + storage.shift + i;
        value |= u64{words[at / 32] >> (at % 32) & 1} << i;
    }
    return value;
}

/// The 32 bytes of k of one column of B, found as the PTX ISA says of a descriptor without swizzle: blocks of
/// 8 lines by 16 bytes, the leading dimension's offset from one to the next along k, the stride dimension's
/// to the next 8 lines. A descriptor that says something else finds nothing right.
std::array<u32, 8> column_in_shared(const u32* shared, u64 descriptor, u32 column) {
    std::array<u32, 8> words{};
    if (descriptor >> 62 != 0) return words;
    const auto bytes = [&](u32 low) { return static_cast<u32>(descriptor >> low & 0x3FFF) * 16; };
    const u32 start = bytes(0), leading = bytes(16), stride = bytes(32);
    for (u32 word = 0; word < 8; ++word) {
        const u32 address =
            start + column / 8 * stride + column % 8 * 16 + word * 4 / 16 * leading + word * 4 % 16;
        words[word] = shared[(address - kHostSharedBase) / 4];
    }
    return words;
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
    const Storage storage = storage_of(target, type);
    std::vector<double> a(shape.m * shape.k), b(shape.n * shape.k), scale_a(shape.m), scale_b(shape.n);
    for (u32 lane = 0; lane < shape.wave; ++lane) {
        const Lane& from = wave.lanes[lane];
        for (u32 e = 0; e < shape.a_elements; ++e) {
            const Place at = place_a(target, type, lane, e);
            a[at.line * shape.k + at.other] =
                decode(type, fp8, element_bits(from.a.data(), storage, bits, e));
            scale_a[at.line] = scale_of(from.scale_a);
        }
        for (u32 e = 0; e < shape.b_elements && wave.shared == nullptr; ++e) {
            const Place at = place_b(target, type, lane, e);
            b[at.line * shape.k + at.other] =
                decode(type, fp8, element_bits(from.b.data(), storage, bits, e));
            scale_b[at.line] = scale_of(from.scale_b);
        }
    }
    if (u64* done = host_thread().machine->operations)
        done[static_cast<u32>(type)] += u64{2} * shape.m * shape.n * shape.k;
    for (u32 column = 0; column < shape.n && wave.shared != nullptr; ++column) {
        const std::array<u32, 8> words = column_in_shared(wave.shared, wave.descriptor, column);
        for (u32 k = 0; k < shape.k; ++k)
            b[column * shape.k + k] = decode(type, fp8, element_bits(words.data(), storage, bits, k));
    }
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

/// Hands this lane's part in, lets the wave's first lane multiply, and takes the lane's results out.
void multiply_together(HostInstruction instruction, WaveOperands& wave, Lane& lane, void* sum) {
    const MatrixShape shape = matrix_shape(instruction.target, instruction.type);
    const HostThread thread = host_thread();
    const u32 lane_number = thread.thread % shape.wave;
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

}  // namespace

void host_multiply_add_bits(HostInstruction instruction, const u32* a, const u32* b, u32 scale_a, u32 scale_b,
                            void* sum) {
    const MatrixShape shape = matrix_shape(instruction.target, instruction.type);
    const u32 bits = storage_of(instruction.target, instruction.type).bits;
    WaveOperands& wave = wave_of_thread(shape.wave);
    Lane& lane = wave.lanes[host_thread().thread % shape.wave];
    std::memcpy(lane.a.data(), a, shape.a_elements * bits / 8);
    std::memcpy(lane.b.data(), b, shape.b_elements * bits / 8);
    lane.scale_a = scale_a;
    lane.scale_b = scale_b;
    wave.shared = nullptr;
    multiply_together(instruction, wave, lane, sum);
}

void host_multiply_add_shared_bits(HostInstruction instruction, const u32* a, const u32* shared,
                                   u64 descriptor, void* sum) {
    const MatrixShape shape = matrix_shape(instruction.target, instruction.type);
    WaveOperands& wave = wave_of_thread(shape.wave);
    Lane& lane = wave.lanes[host_thread().thread % shape.wave];
    std::memcpy(lane.a.data(), a, 16);
    wave.shared = shared;
    wave.descriptor = descriptor;
    multiply_together(instruction, wave, lane, sum);
}

}  // namespace gpucheck::kernels
