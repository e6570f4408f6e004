// See host_kernels.h. Declares the kernels of the *.gpu.cpp files, which are compiled for the host beside
// this file; the matrix kernels once for each architecture.
#include "kernels/host_kernels.h"

#include <utility>

#include "kernels/gemm_data.h"
#include "kernels/results.h"

namespace gpucheck::kernels {

void stream_write(Pair* to, u64 pairs, u64 base, u64 step);
void stream_copy(Pair* to, const Pair* from, u64 pairs);
void stream_triad(Pair* to, const Pair* b, const Pair* c, u64 pairs, u64 factor);
void stream_read(const Pair* from, u64 pairs, CheckResult* result);
void stream_verify(const Pair* from, u64 pairs, u64 base, u64 step, u64 offset, CheckResult* result);
void pattern_fill(Pair* to, u64 pairs, u64 first_word, u32 pattern, u64 seed);
void pattern_check(const Pair* from, u64 pairs, u64 first_word, u32 pattern, u64 seed, CheckResult* result);
void launch_empty();
void launch_mark(CheckResult* result);

namespace {

template <auto kKernel>
struct Call;

template <class... Arguments, void (*kKernel)(Arguments...)>
struct Call<kKernel> {
    template <std::size_t... kIndices>
    static void with([[maybe_unused]] void** arguments, std::index_sequence<kIndices...>) {
        kKernel(*static_cast<Arguments*>(arguments[kIndices])...);
    }
    static void call(void** arguments) { with(arguments, std::index_sequence_for<Arguments...>{}); }
};

constexpr HostKernel kVectorKernels[] = {
    {"stream_write", false, Call<stream_write>::call},  {"stream_copy", false, Call<stream_copy>::call},
    {"stream_triad", false, Call<stream_triad>::call},  {"stream_read", true, Call<stream_read>::call},
    {"stream_verify", true, Call<stream_verify>::call}, {"pattern_fill", false, Call<pattern_fill>::call},
    {"pattern_check", true, Call<pattern_check>::call}, {"launch_empty", false, Call<launch_empty>::call},
    {"launch_mark", false, Call<launch_mark>::call},
};

}  // namespace

#define GPUCHECK_DECLARE(type) void matrix_##type(const MatrixParameters* asked, CheckResult* result);
#define GPUCHECK_ENTRY(type) {"matrix_" #type, true, Call<matrix_##type>::call},
#define GPUCHECK_DECLARE_WGMMA(type) void wgmma_##type(const MatrixParameters* asked, CheckResult* result);
#define GPUCHECK_ENTRY_WGMMA(type) {"wgmma_" #type, true, Call<wgmma_##type>::call},
#define GPUCHECK_DECLARE_F8F6F4(type) void f8f6f4_##type(const MatrixParameters* asked, CheckResult* result);
#define GPUCHECK_ENTRY_F8F6F4(type) {"f8f6f4_" #type, true, Call<f8f6f4_##type>::call},
#define GPUCHECK_KERNELS_OF(target, TYPES, DECLARE, ENTRY) \
    namespace target {                                     \
    TYPES(DECLARE)                                         \
    constexpr HostKernel kKernels[] = {TYPES(ENTRY)};      \
    }
#define GPUCHECK_MATRIX_KERNELS(target, TYPES) \
    GPUCHECK_KERNELS_OF(target, TYPES, GPUCHECK_DECLARE, GPUCHECK_ENTRY)

#define GPUCHECK_DECLARE_GEMM(type)                                                                \
    void gemm_fill_##type(Pair* to, u32 lines, u32 depth, u32 key, u32 side);                      \
    void gemm_##type(const Pair* a, const Pair* b, u32* c, u32* owners, u32 size, u32 depth_bytes, \
                     CheckResult* result);
#define GPUCHECK_ENTRY_GEMM(type) \
    {"gemm_fill_" #type, false, Call<gemm_fill_##type>::call}, {"gemm_" #type, true, Call<gemm_##type>::call},
#define GPUCHECK_GEMM_KERNELS(target, TYPES)                                                     \
    namespace target {                                                                           \
    TYPES(GPUCHECK_DECLARE_GEMM)                                                                 \
    void gemm_check(const u32* c, const u32* owners, u32 size, u32 type, u32 key, GemmSums sums, \
                    CheckResult* result);                                                        \
    constexpr HostKernel kGemmKernels[] = {                                                      \
        TYPES(GPUCHECK_ENTRY_GEMM){"gemm_check", true, Call<gemm_check>::call}};                 \
    }

#define GPUCHECK_BASIC(X) X(f64) X(f16) X(bf16) X(i8)
#define GPUCHECK_TF32(X) GPUCHECK_BASIC(X) X(tf32)
#define GPUCHECK_FP8(X) GPUCHECK_TF32(X) X(e4m3) X(e5m2)
#define GPUCHECK_WGMMA_TYPES(X) X(f16) X(bf16) X(i8) X(tf32) X(e4m3) X(e5m2)
#define GPUCHECK_SMALL(X) X(e2m3) X(e3m2) X(e2m1)
#define GPUCHECK_FP4(X) GPUCHECK_BASIC(X) X(e4m3) X(e5m2) X(e2m3) X(e3m2) X(e2m1)

GPUCHECK_MATRIX_KERNELS(gfx90a, GPUCHECK_BASIC)
GPUCHECK_MATRIX_KERNELS(gfx942, GPUCHECK_FP8)
GPUCHECK_MATRIX_KERNELS(gfx950, GPUCHECK_FP4)
GPUCHECK_MATRIX_KERNELS(sm80, GPUCHECK_TF32)
GPUCHECK_MATRIX_KERNELS(sm89, GPUCHECK_FP8)
#define GPUCHECK_HALVES(X) X(f16) X(bf16)
#define GPUCHECK_HALVES_FP8(X) X(f16) X(bf16) X(e4m3)
GPUCHECK_GEMM_KERNELS(gfx90a, GPUCHECK_HALVES)
GPUCHECK_GEMM_KERNELS(gfx942, GPUCHECK_HALVES_FP8)
GPUCHECK_GEMM_KERNELS(gfx950, GPUCHECK_HALVES_FP8)
GPUCHECK_GEMM_KERNELS(sm80, GPUCHECK_HALVES)
GPUCHECK_GEMM_KERNELS(sm89, GPUCHECK_HALVES_FP8)
GPUCHECK_KERNELS_OF(sm90, GPUCHECK_WGMMA_TYPES, GPUCHECK_DECLARE_WGMMA, GPUCHECK_ENTRY_WGMMA)
GPUCHECK_KERNELS_OF(sm120, GPUCHECK_SMALL, GPUCHECK_DECLARE_F8F6F4, GPUCHECK_ENTRY_F8F6F4)

std::span<const HostKernel> host_matrix_kernels(Target target) {
    switch (target) {
        case Target::gfx90a:
            return gfx90a::kKernels;
        case Target::gfx942:
            return gfx942::kKernels;
        case Target::gfx950:
            return gfx950::kKernels;
        case Target::sm80:
            return sm80::kKernels;
        case Target::sm89:
            return sm89::kKernels;
        case Target::sm90:
            return sm90::kKernels;
        case Target::sm120:
            return sm120::kKernels;
        case Target::none:
            break;
    }
    return {};
}

namespace {

std::span<const HostKernel> gemm_kernels(Target target) {
    switch (target) {
        case Target::gfx90a:
            return gfx90a::kGemmKernels;
        case Target::gfx942:
            return gfx942::kGemmKernels;
        case Target::gfx950:
            return gfx950::kGemmKernels;
        case Target::sm80:
            return sm80::kGemmKernels;
        case Target::sm89:
            return sm89::kGemmKernels;
        case Target::sm90:
        case Target::sm120:
        case Target::none:
            break;
    }
    return {};
}

}  // namespace

const HostKernel* find_host_kernel(Target target, std::string_view name) {
    for (const HostKernel& kernel : kVectorKernels) {
        if (name == kernel.name) return &kernel;
    }
    // From sm_89 on there is more that only one architecture has; which one a GPU is, the image's finder
    // says.
    const bool newer = target == Target::sm89;
    for (const auto kernels : {host_matrix_kernels(target), gemm_kernels(target),
                               host_matrix_kernels(newer ? Target::sm90 : Target::none),
                               host_matrix_kernels(newer ? Target::sm120 : Target::none)}) {
        for (const HostKernel& kernel : kernels) {
            if (name == kernel.name) return &kernel;
        }
    }
    return nullptr;
}

}  // namespace gpucheck::kernels
