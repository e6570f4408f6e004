// Finds a GPU whose matrix units are right by themselves but wrong or slow when fed from memory: a tiled
// multiplication of whole matrices, of which every element is known in closed form.
#include "kernels/gemm_data.h"
#include "kernels/matrix_operations.h"
#include "kernels/report.h"

namespace gpucheck::kernels {

#if defined(GPUCHECK_ON_HOST)
namespace GPUCHECK_TARGET {
#endif

// The waves of a block make a tile of C, two of them one below the other. The order of k within a slab only
// has to be the same for A and B, so each lane takes contiguous bytes of its lines: what a wave loads from
// shared memory lies side by side (NVIDIA) or 32 lines of 16 bytes at a time (AMD), without bank conflicts
// either way.
constexpr u32 kLanes = matrix_shape(kTarget, MatrixType::bf16).wave;
constexpr u32 kChunks = kGemmSlabBytes / 16;  // of a line in a slab
constexpr u32 kSlabWords = is_amd(kTarget) ? kChunks * (kGemmTile + 1) * 4 : kGemmTile * kChunks * 4;

GPU_FN u32 slab_word(u32 line, u32 chunk) {
    return is_amd(kTarget) ? (chunk * (kGemmTile + 1) + line) * 4 : (line * kChunks + chunk) * 4;
}

template <MatrixType kType>
struct Product {
    using F = Fragments<kTarget, kType>;
    static constexpr MatrixShape kShape = F::kShape;
    static constexpr u32 kThreads = gemm_threads(kTarget, kType);
    static constexpr u32 kWavesB = gemm_waves(kTarget, kType) / 2;               // beside each other
    static constexpr u32 kRows = kGemmTile / 2, kColumns = kGemmTile / kWavesB;  // of a wave
    static constexpr u32 kTilesA = kRows / kShape.m, kTilesB = kColumns / kShape.n;
    static constexpr u32 kFetches = kGemmTile * kChunks / kThreads;  // 16 bytes each, by a thread
    static constexpr u32 kSharers = is_amd(kTarget) ? 2 : 4;         // lanes that share a line
    static constexpr u32 kRowsOfLane = is_amd(kTarget) ? 1 : 2;      // of one A operand
    static constexpr u32 kWordsOfLane = kGemmSlabBytes / 4 / kSharers;
    static constexpr u32 kEach = F::kWordsB;  // words of one line in one instruction
    static constexpr u32 kInstructions = kWordsOfLane / kEach;
    typename F::D sum[kTilesA][kTilesB];
};

/// What a thread has under way from memory.
template <u32 kFetches>
struct Fetched {
    Pair a[kFetches], b[kFetches];
};

/// Where a block's part of the factors begins, in 16 bytes.
struct Panels {
    const Pair* a;
    const Pair* b;
    u64 pitch;  // of a line
};

template <u32 kFetches>
GPU_FN void fetch(Fetched<kFetches>& fetched, const Panels& panels, u32 slab) {
    constexpr u32 kThreads = kGemmTile * kChunks / kFetches;
    each<kFetches>([&](auto i) {
        const u32 number = i * kThreads + thread_index();
        const u64 at = number / kChunks * panels.pitch + slab * kChunks + number % kChunks;
        fetched.a[i] = load_pair(panels.a + at);
        fetched.b[i] = load_pair(panels.b + at);
    });
}

template <u32 kFetches>
GPU_FN void keep(const Fetched<kFetches>& fetched, u32* a, u32* b) {
    constexpr u32 kThreads = kGemmTile * kChunks / kFetches;
    each<kFetches>([&](auto i) {
        const u32 number = i * kThreads + thread_index();
        const u32 at = slab_word(number / kChunks, number % kChunks);
        store_pair(reinterpret_cast<Pair*>(a + at), fetched.a[i]);
        store_pair(reinterpret_cast<Pair*>(b + at), fetched.b[i]);
    });
}

/// This lane's words of one line of a slab.
template <u32 kCount>
GPU_FN Words<kCount> take(const u32* slab, u32 line, u32 sharer) {
    Words<kCount> words;
    each<kCount / 4>([&](auto i) {
        const u32 at = slab_word(line, sharer * (kCount / 4) + i);
        const Pair chunk = load_pair(reinterpret_cast<const Pair*>(slab + at));
        words.w[4 * i] = static_cast<u32>(chunk.x);
        words.w[4 * i + 1] = static_cast<u32>(chunk.x >> 32);
        words.w[4 * i + 2] = static_cast<u32>(chunk.y);
        words.w[4 * i + 3] = static_cast<u32>(chunk.y >> 32);
    });
    return words;
}

/// The A operand of one instruction out of this lane's one or two lines.
template <MatrixType kType>
GPU_FN typename Product<kType>::F::A left_of(
    const Words<Product<kType>::kWordsOfLane> (&rows)[Product<kType>::kRowsOfLane], auto step) {
    using P = Product<kType>;
    typename P::F::A left;
    each<P::F::kWordsA>(
        [&](auto w) { left.w[w] = rows[w % P::kRowsOfLane].w[step * P::kEach + w / P::kRowsOfLane]; });
    return left;
}

/// Multiplies one slab into this wave's sums.
template <MatrixType kType>
GPU_FN void multiply_slab(Product<kType>& product, const u32* a, const u32* b, u32 wave, u32 lane) {
    using P = Product<kType>;
    using F = typename P::F;
    constexpr u32 kNoScale = 127 * 0x01010101u;
    const u32 line = is_amd(kTarget) ? lane % P::kShape.m : lane >> 2;
    const u32 sharer = is_amd(kTarget) ? lane / P::kShape.m : lane & 3;
    const u32 first_row = wave / P::kWavesB * P::kRows + line;
    const u32 first_column = wave % P::kWavesB * P::kColumns + line;
    Words<P::kWordsOfLane> columns[P::kTilesB];
    each<P::kTilesB>(
        [&](auto j) { columns[j] = take<P::kWordsOfLane>(b, first_column + j * P::kShape.n, sharer); });
    each<P::kTilesA>([&](auto i) {
        Words<P::kWordsOfLane> rows[P::kRowsOfLane];
        each<P::kRowsOfLane>([&](auto half) {
            rows[half] = take<P::kWordsOfLane>(a, first_row + i * P::kShape.m + half * 8, sharer);
        });
        each<P::kInstructions>([&](auto step) {
            const typename F::A left = left_of<kType>(rows, step);
            each<P::kTilesB>([&](auto j) {
                typename F::B right;
                each<P::kEach>([&](auto w) { right.w[w] = columns[j].w[step * P::kEach + w]; });
                auto& sum = product.sum[i][j];
                sum = multiply_add<kTarget, kType>(left, right, sum, kNoScale, kNoScale);
            });
        });
    });
}

/// Tile of C of this block: eight rows of tiles at a time, so that blocks that run together share their data.
struct TileOfBlock {
    u32 row, column;
};
GPU_FN TileOfBlock tile_of_block(u32 tiles) {
    constexpr u32 kTogether = 8;
    const u32 group = block_index() / (kTogether * tiles), within = block_index() % (kTogether * tiles);
    const u32 left = tiles - group * kTogether, rows = left < kTogether ? left : kTogether;
    return {group * kTogether + within % rows, within / rows};
}

template <MatrixType kType>
GPU_FN void store_product(Product<kType>& product, u32* c, u32 size, TileOfBlock tile, u32 wave, u32 lane) {
    using P = Product<kType>;
    const u32 first_row = tile.row * kGemmTile + wave / P::kWavesB * P::kRows;
    const u32 first_column = tile.column * kGemmTile + wave % P::kWavesB * P::kColumns;
    each<P::kTilesA>([&](auto i) {
        each<P::kTilesB>([&](auto j) {
            each<P::kShape.d_elements>([&](auto r) {
                const Place at = place_d(kTarget, kType, lane, r);
                const u64 row = first_row + i * P::kShape.m + at.line;
                const u32 column = first_column + j * P::kShape.n + at.other;
                const float value = product.sum[i][j][r.value];
                c[row * size + column] = bits_as<u32>(value);
            });
        });
    });
}

/// C = A * Bt for square C of `size` and `depth_bytes` of k in a line. `owners` learns which unit made each
/// tile.
template <MatrixType kType>
GPU_FN void multiply(const Pair* a, const Pair* b, u32* c, u32* owners, u32 size, u32 depth_bytes,
                     CheckResult* result) {
    using P = Product<kType>;
    GPU_SHARED(u32, slabs, 4 * kSlabWords);
    const u32 before = unit_id(), wave = thread_index() / kLanes, lane = thread_index() % kLanes;
    const u32 tiles = size / kGemmTile, last = depth_bytes / kGemmSlabBytes - 1;
    const TileOfBlock tile = tile_of_block(tiles);
    const u64 pitch = depth_bytes / 16;
    const Panels panels{a + tile.row * kGemmTile * pitch, b + tile.column * kGemmTile * pitch, pitch};
    P product;
    each<P::kTilesA>([&](auto i) {
        each<P::kTilesB>(
            [&](auto j) { each<P::kShape.d_elements>([&](auto r) { product.sum[i][j][r.value] = 0; }); });
    });
    Fetched<P::kFetches> fetched;
    fetch(fetched, panels, 0);
    keep(fetched, slabs, slabs + kSlabWords);
    block_barrier();
    GPU_NO_UNROLL for (u32 slab = 0; slab <= last; ++slab) {
        u32* const now = slabs + slab % 2 * 2 * kSlabWords;
        u32* const next = slabs + (slab + 1) % 2 * 2 * kSlabWords;
        fetch(fetched, panels, slab < last ? slab + 1 : last);
        multiply_slab<kType>(product, now, now + kSlabWords, wave, lane);
        keep(fetched, next, next + kSlabWords);
        block_barrier();
    }
    store_product<kType>(product, c, size, tile, wave, lane);
    if (thread_index() != 0) return;
    const u32 after = unit_id();
    owners[tile.row * tiles + tile.column] = before == after ? before : kUnits;
    count_unit(result, before, after, 1, 0);
}

/// Fills a factor, 16 bytes at a time.
template <MatrixType kType>
GPU_FN void fill(Pair* to, u32 lines, u32 depth, u32 key, u32 side) {
    constexpr NumberFormat kFormat = number_format(kType, fp8_of(kTarget));
    constexpr u32 kPerPair = 128 / kFormat.bits;
    const u64 pairs = u64{lines} * depth / kPerPair;
    const u32 pairs_of_line = depth / kPerPair;
    const u64 stride = u64{grid_size()} * block_size();
    for (u64 i = u64{block_index()} * block_size() + thread_index(); i < pairs; i += stride) {
        const u32 line_number = static_cast<u32>(i / pairs_of_line);
        const u32 first = static_cast<u32>(i % pairs_of_line) * kPerPair;
        const GemmPair line = gemm_line(key, side, line_number, gemm_limit(kType));
        u64 halves[2] = {0, 0};
        each<kPerPair>([&](auto e) {
            const u64 code = encode_integer(kFormat, gemm_value(line, gemm_step(key, side, first + e)));
            halves[e / (kPerPair / 2)] |= code << (e % (kPerPair / 2) * kFormat.bits);
        });
        to[i] = {halves[0], halves[1]};
    }
}

#define GPUCHECK_GEMM(type_)                                                                   \
    GPU_KERNEL(1024) gemm_fill_##type_(Pair* to, u32 lines, u32 depth, u32 key, u32 side) {    \
        fill<MatrixType::type_>(to, lines, depth, key, side);                                  \
    }                                                                                          \
    GPU_KERNEL(gemm_threads(kTarget, MatrixType::type_))                                       \
    gemm_##type_(const Pair* a, const Pair* b, u32* c, u32* owners, u32 size, u32 depth_bytes, \
                 CheckResult* result) {                                                        \
        multiply<MatrixType::type_>(a, b, c, owners, size, depth_bytes, result);               \
    }
GPUCHECK_GEMM(f16)
GPUCHECK_GEMM(bf16)
#if GPUCHECK_HAS_FP8
GPUCHECK_GEMM(e4m3)
#endif

/// Compares every element with its closed form; blames the unit that made its tile.
GPU_KERNEL(1024)
gemm_check(const u32* c, const u32* owners, u32 size, u32 type, u32 key, GemmSums sums, CheckResult* result) {
    const i32 limit = gemm_limit(static_cast<MatrixType>(type));
    u64 compared = 0;
    for (u32 row = block_index(); row < size; row += grid_size()) {
        const GemmPair left = gemm_line(key, 0, row, limit);
        for (u32 column = thread_index(); column < size; column += block_size(), ++compared) {
            const u32 got = c[u64{row} * size + column];
            const i32 exact = gemm_result(sums, left, gemm_line(key, 1, column, limit));
            const u32 expected = static_cast<u32>(encode_integer({32, 23, 127}, exact));
            if (got == expected) continue;
            const u32 tile = row / kGemmTile * (size / kGemmTile) + column / kGemmTile, unit = owners[tile];
            report(result, Mismatch{u64{row} << 32 | column, expected, got, u64{expected ^ got},
                                    static_cast<u32>(Experiment::gemm), type, tile, 0, 0, 0, unit, 0, 0, 0});
            if (unit < kUnits) atomic_add(&result->units[unit].wrong, 1u);
        }
    }
    add_of_block(&result->checked, compared);
}

#if defined(GPUCHECK_ON_HOST)
}  // namespace GPUCHECK_TARGET
#endif

}  // namespace gpucheck::kernels
