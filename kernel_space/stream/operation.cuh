// What is computed for each element, on pieces of any width.
#pragma once

#include "ptx.cuh"

#include "config.h"

constexpr bool IS_COPY = config::OPERATION == Operation::copy;
constexpr int INPUTS = config::OPERATION == Operation::triad ? 2 : 1;

__device__ __forceinline__ float operate(float x, float w) {
    if constexpr (config::OPERATION == Operation::triad) return fmaf(config::FACTOR, w, x);
    return config::FACTOR * x;
}

// The same on a 32-bit word: one fp32 element, or two of bf16, each rounded once.
__device__ __forceinline__ u32 operate(u32 x, u32 w) {
    if constexpr (IS_COPY) return x;
    if constexpr (config::DTYPE == Dtype::fp32)
        return __float_as_uint(operate(__uint_as_float(x), __uint_as_float(w)));
    const float low = operate(__uint_as_float(x << 16), __uint_as_float(w << 16));
    const float high = operate(__uint_as_float(x & 0xffff0000u), __uint_as_float(w & 0xffff0000u));
    u32 pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

template <int BYTES>
__device__ __forceinline__ Piece<BYTES> operate(const Piece<BYTES>& x, const Piece<BYTES>& w) {
    Piece<BYTES> result;
#pragma unroll
    for (int i = 0; i < BYTES / 4; ++i) result.words[i] = operate(x.words[i], w.words[i]);
    return result;
}
