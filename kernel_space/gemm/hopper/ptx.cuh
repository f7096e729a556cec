// Single PTX instructions by name: what only these mechanisms use.
#pragma once

#include "ptx/bulk.cuh"
#include "ptx/cache_policy.cuh"
#include "ptx/grid.cuh"
#include "ptx/mbarrier.cuh"
#include "vocabulary.cuh"

// A tensor map as the driver encodes it: opaque here.
struct alignas(64) TensorMap {
    u64 opaque[16];
};

// --- mbarriers ------------------------------------------------------------------------------

// Arrives on the barrier at the same address in another block of the cluster.
__device__ __forceinline__ void barrier_arrive_at(u32 barrier, u32 rank) {
    asm volatile(
        "{\n"
        ".reg .b32 remote;\n"
        "mapa.shared::cluster.u32 remote, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
        "}" ::"r"(barrier),
        "r"(rank)
        : "memory");
}

__device__ __forceinline__ void barrier_wait(u32 barrier, u32 parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@done bra finished;\n"
        "bra again;\n"
        "finished:\n"
        "}" ::"r"(barrier),
        "r"(parity)
        : "memory");
}

// --- bulk tensor copies ---------------------------------------------------------------------

// Brings the map itself near, so that the first copy need not wait for it.
__device__ __forceinline__ void prefetch_map(const TensorMap& map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

__device__ __forceinline__ void load_box(u32 to, const TensorMap& map, u32 barrier, int x, int y,
                                         u64 policy) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "l"(policy)
        : "memory");
}

// The same to every block whose bit is set in `ranks`, at the same shared address in each.
__device__ __forceinline__ void load_box_at(u32 to, const TensorMap& map, u32 barrier, int x, int y,
                                            u64 policy, u16 ranks) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster.L2::cache_hint [%0], [%1, {%4, %5}], [%2], %3, %6;" ::"r"(to),
        "l"(&map), "r"(barrier), "h"(ranks), "r"(x), "r"(y), "l"(policy)
        : "memory");
}

__device__ __forceinline__ void store_box(const TensorMap& map, u32 from, int x, int y) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
        "r"(from), "r"(x), "r"(y)
        : "memory");
}

// --- global memory --------------------------------------------------------------------------

// Not from L1, which may hold what stood there before the launch before wrote it.
__device__ __forceinline__ float load_fresh(const float* from) {
    float value;
    asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(value) : "l"(from) : "memory");
    return value;
}

// --- shared memory --------------------------------------------------------------------------

__device__ __forceinline__ u32 load_shared(u32 address) {
    u32 word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
    return word;
}

__device__ __forceinline__ void store_shared(u32 address, float value) {
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
}

// Stores four 8x8 matrices of 16-bit elements; lane l names row l % 8 of matrix l / 8.
template <bool TRANSPOSED>
__device__ __forceinline__ void stmatrix(u32 address, u32 a, u32 b, u32 c, u32 d) {
    if constexpr (TRANSPOSED)
        asm volatile(
            "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
            "r"(a), "r"(b), "r"(c), "r"(d)
            : "memory");
    else
        asm volatile(
            "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
            "r"(a), "r"(b), "r"(c), "r"(d)
            : "memory");
}

// --- clusters and warp groups ---------------------------------------------------------------

__device__ __forceinline__ u32 cluster_rank() {
    u32 rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ __forceinline__ float4 load_remote(u32 address, u32 rank) {
    float4 value;
    asm volatile(
        "{\n"
        ".reg .b32 remote;\n"
        "mapa.shared::cluster.u32 remote, %4, %5;\n"
        "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [remote];\n"
        "}"
        : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
        : "r"(address), "r"(rank)
        : "memory");
    return value;
}

template <int REGISTERS>
__device__ __forceinline__ void keep_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

template <int REGISTERS>
__device__ __forceinline__ void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

// --- warp-group products --------------------------------------------------------------------

__device__ __forceinline__ void product_fence() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void product_commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int PENDING>
__device__ __forceinline__ void product_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}
