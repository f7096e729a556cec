// Batches of asynchronous copies. The copies themselves differ from kernel to kernel.
#pragma once

#include "ptx/shared.cuh"

// Closes the batch of copies that this thread has started, even if it started none.
__device__ __forceinline__ void cp_async_commit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most PENDING of this thread's batches are still on their way.
template <int PENDING>
__device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}
