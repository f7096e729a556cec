// What every use of shared memory by PTX needs: 32-bit byte addresses, and barriers among threads.
#pragma once

#include "ptx/types.cuh"

__device__ __forceinline__ u32 shared_address(const void* pointer) {
    return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

// Waits at named barrier `barrier` (0 is that of __syncthreads) until `threads` have come there.
__device__ __forceinline__ void group_sync(u32 barrier, u32 threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Comes to a named barrier without waiting there.
__device__ __forceinline__ void group_arrive(u32 barrier, u32 threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
