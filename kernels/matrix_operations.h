// One matrix multiply-accumulate for every architecture and number type: the single place where the unit
// under test is called. On the host the unit is a loop over decoded numbers (host_matrix.h).
#pragma once

#include "kernels/matrix_layouts.h"

// The host build names its target and what it has, and so do the images of what only one architecture has:
// GPUCHECK_WGMMA for sm_90a, GPUCHECK_F8F6F4 for sm_120a (kernels/CMakeLists.txt).
#if defined(GPUCHECK_WGMMA)
#define GPUCHECK_TARGET sm90
#define GPUCHECK_KERNEL_NAME(type) wgmma_##type
#define GPUCHECK_HAS_BASIC 1
#define GPUCHECK_HAS_TF32 1
#define GPUCHECK_HAS_FP8 1
#elif defined(GPUCHECK_F8F6F4)
#define GPUCHECK_TARGET sm120
#define GPUCHECK_KERNEL_NAME(type) f8f6f4_##type
#define GPUCHECK_HAS_FP6 1
#else
#define GPUCHECK_KERNEL_NAME(type) matrix_##type
#define GPUCHECK_HAS_BASIC 1
#define GPUCHECK_HAS_F64 1
#endif

#if defined(GPUCHECK_TARGET)
#elif defined(__gfx90a__)
#define GPUCHECK_TARGET gfx90a
#elif defined(__gfx942__)
#define GPUCHECK_TARGET gfx942
#define GPUCHECK_HAS_TF32 1
#define GPUCHECK_HAS_FP8 1
#elif defined(__gfx950__)
#define GPUCHECK_TARGET gfx950
#define GPUCHECK_HAS_FP8 1
#define GPUCHECK_HAS_FP6 1
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define GPUCHECK_TARGET sm89
#define GPUCHECK_HAS_TF32 1
#define GPUCHECK_HAS_FP8 1
#elif defined(GPUCHECK_NVIDIA)
#define GPUCHECK_TARGET sm80
#define GPUCHECK_HAS_TF32 1
#endif

#if defined(GPUCHECK_ON_HOST)
#include "kernels/host_matrix.h"
#endif
#if defined(GPUCHECK_WGMMA)
#include "kernels/wgmma.h"
#endif

namespace gpucheck::kernels {

constexpr Target kTarget = Target::GPUCHECK_TARGET;

template <u32 kCount>
struct Words {
    u32 w[kCount];
};

template <MatrixType kType>
struct Scalar {
    using type = float;
};
template <>
struct Scalar<MatrixType::f64> {
    using type = double;
};
template <>
struct Scalar<MatrixType::i8> {
    using type = i32;
};

#if defined(GPUCHECK_AMD)
template <class T, u32 kCount>
using Vector = T __attribute__((ext_vector_type(kCount)));
#else
template <class T, u32 kCount>
struct Vector {
    T v[kCount];
    GPU_FN T& operator[](u32 i) { return v[i]; }
};
#endif

#if defined(GPUCHECK_WGMMA)
template <Target kWhich, u32 kCount>
struct Operand {
    using type = SharedOperand;
};
#else
template <Target kWhich, u32 kCount>
struct Operand {
    using type = Words<kCount>;
};
#endif

template <Target kWhich, MatrixType kType>
struct Fragments {
    static constexpr MatrixShape kShape = matrix_shape(kWhich, kType);
    static constexpr u32 kBits = storage_of(kWhich, kType).bits;
    static constexpr u32 kWordsA = kShape.a_elements * kBits / 32;
    static constexpr u32 kWordsB = kShape.b_elements * kBits / 32;
    using Element = typename Scalar<kType>::type;
    using A = Words<kWordsA>;
    using B = typename Operand<kWhich, kWordsB>::type;
    using D = Vector<Element, kShape.d_elements>;
};

#if defined(GPUCHECK_WGMMA)

template <Target kWhich, MatrixType kType, class F = Fragments<kWhich, kType>>
GPU_FN typename F::D multiply_add(typename F::A a, typename F::B b, typename F::D c, u32, u32) {
    warpgroup_multiply_add<kType>(a.w, b.descriptor, c.v);
    return c;
}

#elif defined(GPUCHECK_AMD)

/// Eight registers, of which a 6-bit or 4-bit operand uses the first six or four.
template <u32 kCount>
GPU_FN Vector<i32, 8> widen(const Words<kCount>& words) {
    Vector<i32, 8> wide = {};
    GPU_UNROLL for (u32 i = 0; i < kCount; ++i) wide[i] = static_cast<i32>(words.w[i]);
    return wide;
}

template <Target kWhich, MatrixType kType, class F = Fragments<kWhich, kType>>
GPU_FN typename F::D multiply_add(typename F::A a, typename F::B b, typename F::D c, u32 scale_a,
                                  u32 scale_b) {
    using Half4 = Vector<_Float16, 4>;
    using Half8 = Vector<_Float16, 8>;
    using Short4 = Vector<short, 4>;
    using Float2 = Vector<float, 2>;
    (void)scale_a, (void)scale_b;
    if constexpr (kType == MatrixType::f64) {
        return __builtin_amdgcn_mfma_f64_16x16x4f64(bits_as<double>(a), bits_as<double>(b), c, 0, 0, 0);
    }
#if defined(__gfx950__)
    using Brain8 = Vector<__bf16, 8>;
    using Int4 = Vector<i32, 4>;
    (void)sizeof(Half4), (void)sizeof(Short4), (void)sizeof(Float2);
    if constexpr (kType == MatrixType::f16)
        return __builtin_amdgcn_mfma_f32_32x32x16_f16(bits_as<Half8>(a), bits_as<Half8>(b), c, 0, 0, 0);
    if constexpr (kType == MatrixType::bf16)
        return __builtin_amdgcn_mfma_f32_32x32x16_bf16(bits_as<Brain8>(a), bits_as<Brain8>(b), c, 0, 0, 0);
    if constexpr (kType == MatrixType::i8)
        return __builtin_amdgcn_mfma_i32_32x32x32_i8(bits_as<Int4>(a), bits_as<Int4>(b), c, 0, 0, 0);
#define GPUCHECK_SCALED(name, code)                             \
    if constexpr (kType == MatrixType::name)                    \
        return __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4( \
            widen(a), widen(b), c, code, code, 0, static_cast<i32>(scale_a), 0, static_cast<i32>(scale_b));
    GPUCHECK_SCALED(e4m3, 0)
    GPUCHECK_SCALED(e5m2, 1)
    GPUCHECK_SCALED(e2m3, 2)
    GPUCHECK_SCALED(e3m2, 3)
    GPUCHECK_SCALED(e2m1, 4)
#undef GPUCHECK_SCALED
#else
    (void)sizeof(Half8), (void)sizeof(Float2);
    if constexpr (kType == MatrixType::f16)
        return __builtin_amdgcn_mfma_f32_32x32x8f16(bits_as<Half4>(a), bits_as<Half4>(b), c, 0, 0, 0);
    if constexpr (kType == MatrixType::bf16)
        return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(bits_as<Short4>(a), bits_as<Short4>(b), c, 0, 0, 0);
#if defined(__gfx90a__)
    if constexpr (kType == MatrixType::i8)
        return __builtin_amdgcn_mfma_i32_32x32x8i8(bits_as<i32>(a), bits_as<i32>(b), c, 0, 0, 0);
#elif defined(__gfx942__)
    if constexpr (kType == MatrixType::i8)
        return __builtin_amdgcn_mfma_i32_32x32x16_i8(bits_as<i64>(a), bits_as<i64>(b), c, 0, 0, 0);
    if constexpr (kType == MatrixType::tf32)
        return __builtin_amdgcn_mfma_f32_32x32x4_xf32(bits_as<Float2>(a), bits_as<Float2>(b), c, 0, 0, 0);
    if constexpr (kType == MatrixType::e4m3)
        return __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(bits_as<i64>(a), bits_as<i64>(b), c, 0, 0, 0);
    if constexpr (kType == MatrixType::e5m2)
        return __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8(bits_as<i64>(a), bits_as<i64>(b), c, 0, 0, 0);
#endif
#endif
}

#elif defined(GPUCHECK_NVIDIA)

#define GPUCHECK_MMA_16X8(shape, letter)                                                            \
    asm volatile("mma.sync.aligned." shape " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
                 : "+" letter(c.v[0]), "+" letter(c.v[1]), "+" letter(c.v[2]), "+" letter(c.v[3])   \
                 : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "r"(b.w[0]), "r"(b.w[1]))

template <Target kWhich, MatrixType kType, class F = Fragments<kWhich, kType>>
GPU_FN typename F::D multiply_add(typename F::A a, typename F::B b, typename F::D c, u32, u32) {
    if constexpr (kType == MatrixType::f64) {
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                     : "+d"(c.v[0]), "+d"(c.v[1])
                     : "d"(bits_as<double>(a)), "d"(bits_as<double>(b)));
    } else if constexpr (kType == MatrixType::tf32) {
        GPUCHECK_MMA_16X8("m16n8k8.row.col.f32.tf32.tf32.f32", "f");
    } else if constexpr (kType == MatrixType::f16) {
        GPUCHECK_MMA_16X8("m16n8k16.row.col.f32.f16.f16.f32", "f");
    } else if constexpr (kType == MatrixType::bf16) {
        GPUCHECK_MMA_16X8("m16n8k16.row.col.f32.bf16.bf16.f32", "f");
    } else if constexpr (kType == MatrixType::i8) {
        GPUCHECK_MMA_16X8("m16n8k32.row.col.s32.s8.s8.s32", "r");
    } else if constexpr (kType == MatrixType::e4m3) {
        GPUCHECK_MMA_16X8("m16n8k32.row.col.f32.e4m3.e4m3.f32", "f");
    } else if constexpr (kType == MatrixType::e5m2) {
        GPUCHECK_MMA_16X8("m16n8k32.row.col.f32.e5m2.e5m2.f32", "f");
    } else if constexpr (kType == MatrixType::e2m3) {
        GPUCHECK_MMA_16X8("m16n8k32.row.col.kind::f8f6f4.f32.e2m3.e2m3.f32", "f");
    } else if constexpr (kType == MatrixType::e3m2) {
        GPUCHECK_MMA_16X8("m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e3m2.f32", "f");
    } else if constexpr (kType == MatrixType::e2m1) {
        GPUCHECK_MMA_16X8("m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32", "f");
    }
    return c;
}
#undef GPUCHECK_MMA_16X8

#else

template <Target kWhich, MatrixType kType, class F = Fragments<kWhich, kType>>
GPU_FN typename F::D multiply_add(typename F::A a, typename F::B b, typename F::D c, u32 scale_a,
                                  u32 scale_b) {
    host_multiply_add({kWhich, kType}, a.w, b.w, scale_a, scale_b, c.v);
    return c;
}

#endif

}  // namespace gpucheck::kernels
