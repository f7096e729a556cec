// Single PTX instructions by name: what only streams use.
#pragma once

#include "ptx/bulk.cuh"
#include "ptx/cache_policy.cuh"
#include "ptx/cp_async.cuh"
#include "ptx/mbarrier.cuh"
#include "vocabulary.cuh"

// BYTES that one instruction moves: 4, 8 or 16.
template <int BYTES>
struct Piece {
    u32 words[BYTES / 4];
};

// --- global memory: nothing is used twice, so nothing is left in L1 --------------------------

template <int BYTES>
__device__ __forceinline__ Piece<BYTES> load_global(const void* address, u64 policy) {
    Piece<BYTES> piece;
    u32(&to)[BYTES / 4] = piece.words;
    if constexpr (BYTES == 16)
        asm volatile(
            "ld.global.L1::no_allocate.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
            : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
            : "l"(address), "l"(policy)
            : "memory");
    else if constexpr (BYTES == 8)
        asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v2.b32 {%0, %1}, [%2], %3;"
                     : "=r"(to[0]), "=r"(to[1])
                     : "l"(address), "l"(policy)
                     : "memory");
    else
        asm volatile("ld.global.L1::no_allocate.L2::cache_hint.b32 %0, [%1], %2;"
                     : "=r"(to[0])
                     : "l"(address), "l"(policy)
                     : "memory");
    return piece;
}

template <int BYTES>
__device__ __forceinline__ void store_global(void* address, const Piece<BYTES>& piece,
                                             u64 policy) {
    const u32(&from)[BYTES / 4] = piece.words;
    if constexpr (BYTES == 16)
        asm volatile(
            "st.global.L1::no_allocate.L2::cache_hint.v4.b32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(
                address),
            "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]), "l"(policy)
            : "memory");
    else if constexpr (BYTES == 8)
        asm volatile(
            "st.global.L1::no_allocate.L2::cache_hint.v2.b32 [%0], {%1, %2}, %3;" ::"l"(address),
            "r"(from[0]), "r"(from[1]), "l"(policy)
            : "memory");
    else
        asm volatile("st.global.L1::no_allocate.L2::cache_hint.b32 [%0], %1, %2;" ::"l"(address),
                     "r"(from[0]), "l"(policy)
                     : "memory");
}

// --- shared memory ---------------------------------------------------------------------------

template <int BYTES>
__device__ __forceinline__ Piece<BYTES> load_shared(u32 address) {
    Piece<BYTES> piece;
    u32(&to)[BYTES / 4] = piece.words;
    if constexpr (BYTES == 16)
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(address)
                     : "memory");
    else if constexpr (BYTES == 8)
        asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                     : "=r"(to[0]), "=r"(to[1])
                     : "r"(address)
                     : "memory");
    else
        asm volatile("ld.shared.b32 %0, [%1];" : "=r"(to[0]) : "r"(address) : "memory");
    return piece;
}

template <int BYTES>
__device__ __forceinline__ void store_shared(u32 address, const Piece<BYTES>& piece) {
    const u32(&from)[BYTES / 4] = piece.words;
    if constexpr (BYTES == 16)
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(from[0]),
                     "r"(from[1]), "r"(from[2]), "r"(from[3])
                     : "memory");
    else if constexpr (BYTES == 8)
        asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(from[0]), "r"(from[1])
                     : "memory");
    else
        asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(from[0]) : "memory");
}

// --- asynchronous copies: global -> shared without a stop in registers -----------------------

// Only 16-byte copies can bypass L1; smaller ones pass through it. Without a cache policy: from a
// shared address that is partly uniform, ptxas 13.0 makes of copy and policy an instruction that
// stops the kernel.
template <int BYTES>
__device__ __forceinline__ void cp_async(u32 shared, const void* global) {
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(global),
                     "n"(BYTES)
                     : "memory");
}

// --- bulk copies: the copy engine moves a whole tile ------------------------------------------

__device__ __forceinline__ void bulk_load(u32 shared, const void* global, u32 bytes, u32 barrier,
                                          u64 policy) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
        " [%0], [%1], %2, [%3], %4;" ::"r"(shared),
        "l"(global), "r"(bytes), "r"(barrier), "l"(policy)
        : "memory");
}

__device__ __forceinline__ void bulk_store(void* global, u32 shared, u32 bytes, u64 policy) {
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(
            global),
        "r"(shared), "r"(bytes), "l"(policy)
        : "memory");
    bulk_store_commit();
}

