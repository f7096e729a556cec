// What the L2 cache shall let go first, as an operand of loads, stores and copies.
#pragma once

#include "ptx/types.cuh"

enum class Eviction { normal, first, last };

// What accesses without a policy have. The instruction for evict_normal makes another value, with
// which tensor copies that find their lines in L2 took up to half as long again on an H200.
constexpr u64 EVICT_NORMAL = 0x1000000000000000;

template <Eviction EVICTION>
__device__ __forceinline__ u64 cache_policy() {
    u64 policy = EVICT_NORMAL;
    if constexpr (EVICTION == Eviction::first)
        asm volatile("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
    else if constexpr (EVICTION == Eviction::last)
        asm volatile("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(policy));
    return policy;
}
