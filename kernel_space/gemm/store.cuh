// Sums on their way to C: rounded once to its dtype, or stored as they are.
#pragma once

#include "vocabulary.cuh"

#include "config.h"

using Result = Stored<config::RESULT>::type;

// Rounds two sums to 16 bits and packs them, `low` in the low half.
__device__ __forceinline__ u32 rounded_pair(float low, float high) {
    u32 pair;
    if constexpr (config::RESULT == Dtype::bf16)
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    else
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

// Two neighbours of a row of C, of which `left` lie in it. `whole` says that every pair of the row
// is aligned, and inside or outside as one.
__device__ __forceinline__ void store_pair(u16* to, u32 pair, int left, bool whole) {
    if (whole) {
        *reinterpret_cast<u32*>(to) = pair;
    } else {
        to[0] = static_cast<u16>(pair);
        if (left > 1) to[1] = static_cast<u16>(pair >> 16);
    }
}
__device__ __forceinline__ void store_sums(u16* to, float low, float high, int left, bool whole) {
    store_pair(to, rounded_pair(low, high), left, whole);
}
__device__ __forceinline__ void store_sums(float* to, float low, float high, int left, bool whole) {
    if (whole) {
        *reinterpret_cast<float2*>(to) = {low, high};
    } else {
        to[0] = low;
        if (left > 1) to[1] = high;
    }
}

// Four neighbours of a row of which all are aligned, and inside or outside as one.
__device__ __forceinline__ void store_four(u16* to, const float4& sum) {
    *reinterpret_cast<uint2*>(to) = {rounded_pair(sum.x, sum.y), rounded_pair(sum.z, sum.w)};
}
__device__ __forceinline__ void store_four(float* to, const float4& sum) {
    *reinterpret_cast<float4*>(to) = sum;
}
