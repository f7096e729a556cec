// What the L2 cache shall let go first, as an operand of loads, stores and copies.
#pragma once

#include "ptx/types.cuh"

enum class Eviction { normal, first, last };

template <Eviction EVICTION>
__device__ __forceinline__ u64 cache_policy() {
    u64 policy;
    if constexpr (EVICTION == Eviction::first)
        asm volatile("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
    else if constexpr (EVICTION == Eviction::last)
        asm volatile("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(policy));
    else
        asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0;" : "=l"(policy));
    return policy;
}
