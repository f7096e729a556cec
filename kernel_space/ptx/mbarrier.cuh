// Barriers in shared memory, whose phases end after so many arrivals and so many bytes.
#pragma once

#include "ptx/shared.cuh"

__device__ __forceinline__ void barrier_init(u32 barrier, u32 arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
                 : "memory");
}

// Makes initialised barriers visible to the copy engine and to the other blocks of the cluster.
__device__ __forceinline__ void barrier_init_fence() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void barrier_arrive(u32 barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives, and lets the phase last until that many bytes have landed.
__device__ __forceinline__ void barrier_expect(u32 barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                 "r"(bytes)
                 : "memory");
}

// Arrives once every asynchronous copy that this thread has started is there.
__device__ __forceinline__ void barrier_arrive_with_copies(u32 barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

// Returns true once the phase of that parity is over. May sleep a while where it can.
__device__ __forceinline__ bool barrier_passed(u32 barrier, u32 parity) {
    u32 passed;
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{ .reg .pred passed; mbarrier.try_wait.parity.shared.b64 passed, [%1], %2;\n"
        "selp.u32 %0, 1, 0, passed; }"
        : "=r"(passed)
        : "r"(barrier), "r"(parity)
        : "memory");
#else
    asm volatile(
        "{ .reg .pred passed; mbarrier.test_wait.parity.shared.b64 passed, [%1], %2;\n"
        "selp.u32 %0, 1, 0, passed; }"
        : "=r"(passed)
        : "r"(barrier), "r"(parity)
        : "memory");
#endif
    return passed;
}
