// Finds matrix units that compute wrongly: every lane multiplies integers whose exact product plain integer
// arithmetic knows, at full rate and on every compute unit, and compares each result bit for bit.
#include "kernels/matrix_chains.h"
#include "kernels/report.h"

namespace gpucheck::kernels {

#if defined(GPUCHECK_ON_HOST)
namespace GPUCHECK_TARGET {
#endif

/// The exact result by plain integer arithmetic, which the matrix unit has no part in.
template <MatrixType kType>
GPU_FN i64 exact_result(const Wave& wave, u32 part_a, u32 part_b, Place at) {
    constexpr MatrixShape kShape = matrix_shape(kTarget, kType);
    const bool wide_a = wave.round % 2 == 0;
    i64 sum = 0;
    GPU_NO_UNROLL for (u32 step = 0; step < kSteps; ++step) {
        const u32 key_a = fragment_key(wave.seed, wave.number, wave.round, step, 0, part_a);
        const u32 key_b = fragment_key(wave.seed, wave.number, wave.round, step, 1, part_b);
        GPU_NO_UNROLL for (u32 pair = 0; pair < kShape.k / 2; ++pair) {
            const u32 a = operand_pair(key_a, at.line, pair), b = operand_pair(key_b, at.other, pair);
            sum += i64{operand_value(kType, wide_a, a & 0xFFFF)} * operand_value(kType, !wide_a, b & 0xFFFF);
            sum += i64{operand_value(kType, wide_a, a >> 16)} * operand_value(kType, !wide_a, b >> 16);
        }
    }
    sum <<= line_shift<kType>(wave, 0, part_a, at.line) + line_shift<kType>(wave, 1, part_b, at.other);
    const u32 key = fragment_key(wave.seed, wave.number, wave.round, 0, 2, part_a * 16 + part_b);
    return sum + start_value(key, at.line, at.other);
}

/// The bits a result of this value must have.
template <MatrixType kType>
GPU_FN u64 result_bits(i64 value) {
    if constexpr (kType == MatrixType::f64) return encode_integer({64, 52, 1023}, value);
    if constexpr (kType == MatrixType::i8) return static_cast<u32>(value);
    return encode_integer({32, 23, 127}, value);
}

template <class T>
GPU_FN u64 raw_bits(T value) {
    if constexpr (sizeof(T) == 8)
        return bits_as<u64>(value);
    else
        return bits_as<u32>(value);
}

GPU_FN bool hits(const MatrixInjection& inject, MatrixFault kind, const Wave& wave) {
    return inject.kind == kind && inject.block == block_index() && inject.round == wave.round &&
           inject.lane == wave.lane;
}

/// Some of a chain's accumulators: so many as the staging area holds.
template <MatrixType kType>
struct Slice {
    static constexpr u32 kWords = kType == MatrixType::f64 ? 2 : 1;
    static constexpr u32 kAll = matrix_shape(kTarget, kType).d_elements;
    static constexpr u32 kElements = kAll * kWords > kStagingWords ? kStagingWords / kWords : kAll;
    static constexpr u32 kSlices = kAll / kElements;
    u32 chain, first;
};

/// Compares this lane's elements of one slice; returns how many are wrong.
template <MatrixType kType>
GPU_FN u32 check_slice(const Wave& wave, Staging staging, Slice<kType> slice, u32 unit,
                       const MatrixParameters* asked, u64 tile, CheckResult* result) {
    constexpr MatrixShape kShape = matrix_shape(kTarget, kType);
    constexpr u32 kWords = Slice<kType>::kWords;
    const u32 part_a = slice.chain / kShape.b_parts, part_b = slice.chain % kShape.b_parts;
    u32 wrong = 0;
    GPU_NO_UNROLL for (u32 i = 0; i < Slice<kType>::kElements; ++i) {
        const u32 r = slice.first + i;
        const Place at = place_d(kTarget, kType, wave.lane, r);
        const u64 index = u64{at.line} * kShape.n + at.other;
        u64 got = staging[i * kWords];
        if constexpr (kWords == 2) got |= u64{staging[i * kWords + 1]} << 32;
        if (asked->output != nullptr) asked->output[tile * kShape.m * kShape.n + index] = got;
        const u64 expected = result_bits<kType>(exact_result<kType>(wave, part_a, part_b, at));
        if (got == expected) continue;
        ++wrong;
        report(result, Mismatch{index, expected, got, expected ^ got, static_cast<u32>(Experiment::matrix),
                                static_cast<u32>(kType), block_index(), thread_index() / kShape.wave,
                                wave.lane, r, unit, wave.round, slice.chain, 0});
    }
    return wrong;
}

template <MatrixType kType>
GPU_FN void inject_operand(Chains<kType>& chains, const MatrixInjection& inject, const Wave& wave) {
    using F = Fragments<kTarget, kType>;
    if (!hits(inject, MatrixFault::operand, wave) || inject.wave != thread_index() / F::kShape.wave) return;
    each<F::kWordsA>([&](auto i) {
        if (i == inject.element) chains.plus[0][0].w[i] ^= static_cast<u32>(inject.flip);
    });
}

/// Writes one slice's results to the staging area, with a bit flipped if that is asked for.
template <MatrixType kType>
GPU_FN void stage_results(Chains<kType>& chains, Slice<kType> slice, Staging staging,
                          const MatrixInjection& inject, bool flips) {
    using F = Fragments<kTarget, kType>;
    constexpr MatrixShape kShape = F::kShape;
    constexpr u32 kWords = Slice<kType>::kWords, kElements = Slice<kType>::kElements;
    each<kShape.a_parts>([&](auto i) {
        each<kShape.b_parts>([&](auto j) {
            if (slice.chain != i * kShape.b_parts + j) return;
            each<kShape.d_elements>([&](auto r) {
                if (slice.first != r / kElements * kElements) return;
                const u64 bits = raw_bits(static_cast<typename F::Element>(chains.sum[i][j][r.value]));
                staging[r % kElements * kWords] = static_cast<u32>(bits);
                if constexpr (kWords == 2) staging[r % kElements * kWords + 1] = static_cast<u32>(bits >> 32);
            });
        });
    });
    if (!flips || inject.chain != slice.chain || inject.element / kElements != slice.first / kElements)
        return;
    const u32 at = inject.element % kElements * kWords;
    staging[at] ^= static_cast<u32>(inject.flip);
    if constexpr (kWords == 2) staging[at + 1] ^= static_cast<u32>(inject.flip >> 32);
}

/// One round: operands, products, comparison. Returns the number of this lane's wrong elements.
template <MatrixType kType>
GPU_FN u32 run_round(const Wave& wave, Staging staging, u32 unit, const MatrixParameters* asked,
                     CheckResult* result) {
    constexpr MatrixShape kShape = Chains<kType>::kShape;
    Chains<kType> chains;
    prepare<kType>(chains, wave, staging);
    inject_operand<kType>(chains, asked->inject, wave);
    publish_operands();
    run<kType>(chains, asked->iterations);

    const bool flips = hits(asked->inject, MatrixFault::accumulator, wave) &&
                       asked->inject.wave == thread_index() / kShape.wave;
    const u64 waves = u64{grid_size()} * (block_size() / kShape.wave);
    const u64 first_tile = (wave.round * waves + wave.number) * (kShape.a_parts * kShape.b_parts);
    u32 wrong = 0;
    constexpr u32 kSlices = Slice<kType>::kSlices;
    GPU_NO_UNROLL for (u32 i = 0; i < kShape.a_parts * kShape.b_parts * kSlices; ++i) {
        const Slice<kType> slice{i / kSlices, i % kSlices * Slice<kType>::kElements};
        stage_results<kType>(chains, slice, staging, asked->inject, flips);
        wrong += check_slice<kType>(wave, staging, slice, unit, asked, first_tile + slice.chain, result);
    }
    return wrong;
}

template <MatrixType kType>
GPU_FN void check_matrix(const MatrixParameters* asked, CheckResult* result) {
    constexpr MatrixShape kShape = matrix_shape(kTarget, kType);
    GPU_SHARED(u32, shared, kStagingWords * kMatrixThreads);
    const Staging staging{shared + thread_index()};
    const u32 before = unit_id();
    const u32 waves = block_size() / kShape.wave;
    Wave wave{asked->seed, block_index() * waves + thread_index() / kShape.wave, thread_index() % kShape.wave,
              0};
    u32 wrong = 0;
    GPU_NO_UNROLL for (u32 number = 0; number < asked->rounds; ++number) {
        wave.round = number;
        wrong += run_round<kType>(wave, staging, before, asked, result);
    }
    constexpr u32 kEach = kShape.d_elements * kShape.a_parts * kShape.b_parts;
    atomic_add(&result->checked, u64{asked->rounds} * kEach);
    // A wave counts as one unit of work for each round, told by its first lane; wrong elements are told by
    // all.
    count_unit(result, before, unit_id(), wave.lane == 0 ? asked->rounds : 0, wrong);
}

// A type that the architecture lacks has no kernel: looking it up fails, and says so, instead of doing
// nothing.
#define GPUCHECK_MATRIX(type_)                                                                        \
    GPU_KERNEL(256) GPUCHECK_KERNEL_NAME(type_)(const MatrixParameters* asked, CheckResult* result) { \
        check_matrix<MatrixType::type_>(asked, result);                                               \
    }
#if GPUCHECK_HAS_F64
GPUCHECK_MATRIX(f64)
#endif
#if GPUCHECK_HAS_BASIC
GPUCHECK_MATRIX(f16)
GPUCHECK_MATRIX(bf16)
GPUCHECK_MATRIX(i8)
#endif
#if GPUCHECK_HAS_TF32
GPUCHECK_MATRIX(tf32)
#endif
#if GPUCHECK_HAS_FP8
GPUCHECK_MATRIX(e4m3)
GPUCHECK_MATRIX(e5m2)
#endif
#if GPUCHECK_HAS_FP6
GPUCHECK_MATRIX(e2m3)
GPUCHECK_MATRIX(e3m2)
GPUCHECK_MATRIX(e2m1)
#endif

#if defined(GPUCHECK_ON_HOST)
}  // namespace GPUCHECK_TARGET
#endif

}  // namespace gpucheck::kernels
