// Finds matrix units that compute wrongly: every lane multiplies integers whose exact product plain integer
// arithmetic knows, at full rate and on every compute unit, and compares each result bit for bit.
#include "kernels/matrix_operations.h"
#include "kernels/report.h"

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
        const u64 code = encode_integer(kFormat, wanted.negative ? -value : value);
        pending = kFormat.bits == 64 ? code : pending | code << pending_bits;
        pending_bits += kFormat.bits;
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
GPU_FN void take_if(bool wanted, Words<kCount>& operand, Staging staging) {
    if (!wanted) return;
    each<kCount>([&](auto i) { operand.w[i] = staging[i]; });
}

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
                    take_if(here && role == 0, chains.plus[step][part % kShape.a_parts], staging);
                    take_if(here && role == 1, chains.minus[step][part % kShape.a_parts], staging);
                }
                if (part < kShape.b_parts)
                    take_if(here && role == 2, chains.b[step][part % kShape.b_parts], staging);
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
    GPU_NO_UNROLL for (u32 i = 0; i < iterations; ++i) {
        each<kSteps>([&](auto step) { add_step<kType, true>(chains, step); });
        each<kSteps>([&](auto step) { add_step<kType, false>(chains, step); });
    }
    each<kSteps>([&](auto step) { add_step<kType, true>(chains, step); });
}

GPU_FN bool hits(const MatrixInjection& inject, MatrixFault kind, const Wave& wave) {
    return inject.kind == kind && inject.block == block_index() && inject.round == wave.round &&
           inject.lane == wave.lane;
}

/// Compares this lane's elements of one chain; returns how many are wrong.
template <MatrixType kType>
GPU_FN u32 check_chain(const Wave& wave, Staging staging, u32 chain, u32 unit, const MatrixParameters* asked,
                       u64 tile, CheckResult* result) {
    constexpr MatrixShape kShape = matrix_shape(kTarget, kType);
    constexpr u32 kWords = kType == MatrixType::f64 ? 2 : 1;
    const u32 part_a = chain / kShape.b_parts, part_b = chain % kShape.b_parts;
    u32 wrong = 0;
    GPU_NO_UNROLL for (u32 r = 0; r < kShape.d_elements; ++r) {
        const Place at = place_d(kTarget, kType, wave.lane, r);
        const u64 index = u64{at.line} * kShape.n + at.other;
        u64 got = staging[r * kWords];
        if constexpr (kWords == 2) got |= u64{staging[r * kWords + 1]} << 32;
        if (asked->output != nullptr) asked->output[tile * kShape.m * kShape.n + index] = got;
        const u64 expected = result_bits<kType>(exact_result<kType>(wave, part_a, part_b, at));
        if (got == expected) continue;
        ++wrong;
        report(result, Mismatch{index, expected, got, expected ^ got, static_cast<u32>(Experiment::matrix),
                                static_cast<u32>(kType), block_index(), thread_index() / kShape.wave,
                                wave.lane, r, unit, wave.round, chain, 0});
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

/// Writes one chain's results to the staging area, with a bit flipped if that is asked for.
template <MatrixType kType>
GPU_FN void stage_results(Chains<kType>& chains, u32 chain, Staging staging, const MatrixInjection& inject,
                          bool flips) {
    using F = Fragments<kTarget, kType>;
    constexpr MatrixShape kShape = F::kShape;
    constexpr u32 kWords = kType == MatrixType::f64 ? 2 : 1;
    each<kShape.a_parts>([&](auto i) {
        each<kShape.b_parts>([&](auto j) {
            if (chain != i * kShape.b_parts + j) return;
            each<kShape.d_elements>([&](auto r) {
                const u64 bits = raw_bits(static_cast<typename F::Element>(chains.sum[i][j][r.value]));
                staging[r * kWords] = static_cast<u32>(bits);
                if constexpr (kWords == 2) staging[r * kWords + 1] = static_cast<u32>(bits >> 32);
            });
        });
    });
    if (!flips || inject.chain != chain || inject.element >= kShape.d_elements) return;
    staging[inject.element * kWords] ^= static_cast<u32>(inject.flip);
    if constexpr (kWords == 2) staging[inject.element * kWords + 1] ^= static_cast<u32>(inject.flip >> 32);
}

/// One round: operands, products, comparison. Returns the number of this lane's wrong elements.
template <MatrixType kType>
GPU_FN u32 run_round(const Wave& wave, Staging staging, u32 unit, const MatrixParameters* asked,
                     CheckResult* result) {
    constexpr MatrixShape kShape = Chains<kType>::kShape;
    Chains<kType> chains;
    prepare<kType>(chains, wave, staging);
    inject_operand<kType>(chains, asked->inject, wave);
    wave_converge();
    run<kType>(chains, asked->iterations);

    const bool flips = hits(asked->inject, MatrixFault::accumulator, wave) &&
                       asked->inject.wave == thread_index() / kShape.wave;
    const u64 waves = u64{grid_size()} * (block_size() / kShape.wave);
    const u64 first_tile = (wave.round * waves + wave.number) * (kShape.a_parts * kShape.b_parts);
    u32 wrong = 0;
    GPU_NO_UNROLL for (u32 chain = 0; chain < kShape.a_parts * kShape.b_parts; ++chain) {
        stage_results<kType>(chains, chain, staging, asked->inject, flips);
        wrong += check_chain<kType>(wave, staging, chain, unit, asked, first_tile + chain, result);
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
#define GPUCHECK_MATRIX(type_)                                                           \
    GPU_KERNEL(256) matrix_##type_(const MatrixParameters* asked, CheckResult* result) { \
        check_matrix<MatrixType::type_>(asked, result);                                  \
    }
GPUCHECK_MATRIX(f64)
GPUCHECK_MATRIX(f16)
GPUCHECK_MATRIX(bf16)
GPUCHECK_MATRIX(i8)
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
