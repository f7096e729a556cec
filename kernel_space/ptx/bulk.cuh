// Stores by the copy engine: closing batches of them, and waiting for them.
#pragma once

#include "ptx/shared.cuh"

// Lets the copy engine read, after the next barrier, what this thread wrote to shared memory.
__device__ __forceinline__ void async_proxy_fence() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void bulk_store_commit() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until all but the newest PENDING batches have read their shared memory.
template <int PENDING>
__device__ __forceinline__ void bulk_store_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}

__device__ __forceinline__ void bulk_store_wait() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
