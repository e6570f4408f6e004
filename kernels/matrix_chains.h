// What a wave of the matrix kernel multiplies: operands that everybody can compute, and the loop that keeps
// the matrix unit busy with them. The only place where they are made, for every architecture and path.
#pragma once

#include "kernels/matrix_operations.h"

namespace gpucheck::kernels {

#if defined(GPUCHECK_ON_HOST)
namespace GPUCHECK_TARGET {
#endif

constexpr u32 kStagingWords = 16;

/// What a wave knows of itself and of its round.
struct Wave {
    u64 seed;
    u32 number, lane, round;
};

/// One wave's own words of the staging area; no other lane touches them, so no barrier is needed.
struct Staging {
    u32* words;  // of this thread, kMatrixThreads apart
    GPU_FN u32& operator[](u32 i) const { return words[i * kMatrixThreads]; }
};

/// Which operand: a step's A or B, or A with all signs turned.
struct Wanted {
    u32 step, part;
    bool is_a, negative;
};

/// Writes the words of one operand of this lane to the staging area.
template <MatrixType kType>
GPU_FN void stage_operand(const Wave& wave, Staging staging, Wanted wanted) {
    constexpr NumberFormat kFormat = number_format(kType, fp8_of(kTarget));
    constexpr Storage kStorage = storage_of(kTarget, kType);
    constexpr MatrixShape kShape = matrix_shape(kTarget, kType);
    const u32 key =
        fragment_key(wave.seed, wave.number, wave.round, wanted.step, wanted.is_a ? 0 : 1, wanted.part);
    const bool wide = wanted.is_a == (wave.round % 2 == 0);
    const u32 elements = wanted.is_a ? kShape.a_elements : kShape.b_elements;
    u64 pending = 0;
    u32 pending_bits = 0, word = 0;
    GPU_NO_UNROLL for (u32 e = 0; e < elements; ++e) {
        const Place at =
            wanted.is_a ? place_a(kTarget, kType, wave.lane, e) : place_b(kTarget, kType, wave.lane, e);
        const u32 pair = operand_pair(key, at.line, at.other / 2);
        const i32 value = operand_value(kType, wide, at.other % 2 == 0 ? pair & 0xFFFF : pair >> 16);
        const u64 code = encode_integer(kFormat, wanted.negative ? -value : value) << kStorage.shift;
        pending = kStorage.bits == 64 ? code : pending | code << pending_bits;
        pending_bits += kStorage.bits;
        while (pending_bits >= 32) {
            staging[word++] = static_cast<u32>(pending);
            pending >>= 32;
            pending_bits -= 32;
        }
    }
}

/// Two times per sign bit of the scale byte: the factor that the scaled instructions put on a line.
template <MatrixType kType>
GPU_FN u32 line_shift(const Wave& wave, u32 side, u32 part, u32 line) {
    if (!is_scaled(kTarget, kType)) return 0;
    return line_scale(fragment_key(wave.seed, wave.number, wave.round, 0, 3 + side, part), line);
}

/// All registers of the inner loop.
template <MatrixType kType>
struct Chains {
    using F = Fragments<kTarget, kType>;
    static constexpr MatrixShape kShape = F::kShape;
    typename F::A plus[kSteps][kShape.a_parts], minus[kSteps][kShape.a_parts];
    typename F::B b[kSteps][kShape.b_parts];
    typename F::D sum[kShape.a_parts][kShape.b_parts];
    u32 scale_a[kShape.a_parts], scale_b[kShape.b_parts];
};

template <u32 kCount>
GPU_FN void take_if(bool wanted, Words<kCount>& operand, const Wave&, Staging staging) {
    if (!wanted) return;
    each<kCount>([&](auto i) { operand.w[i] = staging[i]; });
}

#if defined(GPUCHECK_WGMMA)

GPU_FN void take_if(bool wanted, SharedOperand& operand, const Wave& wave, Staging staging) {
    if (!wanted) return;
    each<8>([&](auto i) { operand.words[tile_word(wave.lane, i)] = staging[i]; });
}

/// Each step's B has its own tile of the warpgroup. What an earlier round's products read must not change
/// before all of them are done.
template <MatrixType kType>
GPU_FN void place_operands(Chains<kType>& chains) {
    block_barrier();
    each<kSteps>([&](auto step) {
        SharedOperand& operand = chains.b[step][0];
        operand.words = operand_tiles() + (thread_index() / kWarpgroup * kTilesOfGroup + step) * kTileWords;
        operand.descriptor = descriptor_of(operand.words);
    });
}

template <MatrixType kType>
GPU_FN void pin_registers(Chains<kType>& chains) {
    constexpr MatrixShape kShape = Chains<kType>::kShape;
    each<kShape.a_parts>([&](auto i) {
        each<kSteps>([&](auto step) {
            each<4>([&](auto w) { pin(chains.plus[step][i].w[w]), pin(chains.minus[step][i].w[w]); });
        });
        each<kShape.d_elements>([&](auto r) { pin(chains.sum[i][0].v[r]); });
    });
}

#else

template <MatrixType kType>
GPU_FN void place_operands(Chains<kType>&) {}
GPU_FN void publish_operands() {
    wave_converge();
}
GPU_FN void begin_products() {}
template <u32 kPending>
GPU_FN void end_products() {}
template <MatrixType kType>
GPU_FN void pin_registers(Chains<kType>&) {}

#endif

/// Makes the operands one after the other in one loop (the code once, not twelve times). Which registers take
/// the staged words is written out: an index known only at run time would move the registers to slow scratch
/// memory.
template <MatrixType kType>
GPU_FN void make_operands(Chains<kType>& chains, const Wave& wave, Staging staging) {
    constexpr MatrixShape kShape = Chains<kType>::kShape;
    constexpr u32 kMost = kShape.a_parts > kShape.b_parts ? kShape.a_parts : kShape.b_parts;
    GPU_NO_UNROLL for (u32 number = 0; number < 3 * kSteps * kMost; ++number) {
        const u32 role = number / (kSteps * kMost);  // 0: A, 1: -A, 2: B
        const Wanted wanted{number / kMost % kSteps, number % kMost, role < 2, role == 1};
        if (wanted.part >= (wanted.is_a ? kShape.a_parts : kShape.b_parts)) continue;
        stage_operand<kType>(wave, staging, wanted);
        each<kSteps>([&](auto step) {
            each<kMost>([&](auto part) {
                const bool here = step == wanted.step && part == wanted.part;
                if (part < kShape.a_parts) {
                    take_if(here && role == 0, chains.plus[step][part % kShape.a_parts], wave, staging);
                    take_if(here && role == 1, chains.minus[step][part % kShape.a_parts], wave, staging);
                }
                if (part < kShape.b_parts)
                    take_if(here && role == 2, chains.b[step][part % kShape.b_parts], wave, staging);
            });
        });
    }
}

template <MatrixType kType>
GPU_FN void prepare(Chains<kType>& chains, const Wave& wave, Staging staging) {
    using F = Fragments<kTarget, kType>;
    constexpr MatrixShape kShape = F::kShape;
    const u32 line_a = place_a(kTarget, kType, wave.lane, 0).line,
              line_b = place_b(kTarget, kType, wave.lane, 0).line;
    place_operands<kType>(chains);
    make_operands<kType>(chains, wave, staging);
    each<kShape.a_parts>(
        [&](auto i) { chains.scale_a[i] = (127 + line_shift<kType>(wave, 0, i, line_a)) * 0x01010101u; });
    each<kShape.b_parts>(
        [&](auto i) { chains.scale_b[i] = (127 + line_shift<kType>(wave, 1, i, line_b)) * 0x01010101u; });
    each<kShape.a_parts>([&](auto i) {
        each<kShape.b_parts>([&](auto j) {
            const u32 key = fragment_key(wave.seed, wave.number, wave.round, 0, 2, i * 16 + j);
            each<kShape.d_elements>([&](auto r) {
                const Place at = place_d(kTarget, kType, wave.lane, r);
                chains.sum[i][j][r.value] =
                    static_cast<typename F::Element>(start_value(key, at.line, at.other));
            });
        });
    });
}

/// Adds one step's products to all chains. No chain waits for another one.
template <MatrixType kType, bool kPlus>
GPU_FN void add_step(Chains<kType>& chains, auto step) {
    constexpr MatrixShape kShape = Chains<kType>::kShape;
    each<kShape.a_parts>([&](auto i) {
        each<kShape.b_parts>([&](auto j) {
            chains.sum[i][j] = multiply_add<kTarget, kType>(
                kPlus ? chains.plus[step][i] : chains.minus[step][i], chains.b[step][j], chains.sum[i][j],
                chains.scale_a[i], chains.scale_b[j]);
        });
    });
}

/// The inner loop, 4 * a_parts * b_parts instructions an iteration, and the products that remain in the
/// result.
template <MatrixType kType>
GPU_FN void run(Chains<kType>& chains, u32 iterations) {
    pin_registers<kType>(chains);
    GPU_NO_UNROLL for (u32 i = 0; i < iterations; ++i) {
        begin_products();
        each<kSteps>([&](auto step) { add_step<kType, true>(chains, step); });
        each<kSteps>([&](auto step) { add_step<kType, false>(chains, step); });
        end_products<1>();
    }
    begin_products();
    each<kSteps>([&](auto step) { add_step<kType, true>(chains, step); });
    end_products<0>();
    pin_registers<kType>(chains);
}

#if defined(GPUCHECK_ON_HOST)
}  // namespace GPUCHECK_TARGET
#endif

}  // namespace gpucheck::kernels
