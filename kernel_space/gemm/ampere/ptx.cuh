// Single PTX instructions by name: what only these mechanisms use.
#pragma once

#include "ptx/cp_async.cuh"
#include "vocabulary.cuh"

// --- asynchronous copies: global -> shared without a stop in registers -----------------------

// Copies BYTES if `inside`, else writes BYTES of zeros and reads nothing; does neither unless
// `wanted`. Both are predicates of the one instruction: a branch would keep the compiler from
// scattering copies among the mathematics.
template <int BYTES, Cache CACHE>
__device__ __forceinline__ void cp_async(u32 shared, const void* global, bool inside, bool wanted) {
    const int source_bytes = inside ? BYTES : 0;
    if constexpr (CACHE == Cache::bypass) {
        static_assert(BYTES == 16, "only 16-byte copies can bypass L1");
        asm volatile(
            "{ .reg .pred wanted; setp.ne.b32 wanted, %3, 0;\n"
            "@wanted cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2; }" ::"r"(shared),
            "l"(global), "r"(source_bytes), "r"(static_cast<int>(wanted))
            : "memory");
    } else {
        asm volatile(
            "{ .reg .pred wanted; setp.ne.b32 wanted, %4, 0;\n"
            "@wanted cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3; }" ::"r"(shared),
            "l"(global), "n"(BYTES), "r"(source_bytes), "r"(static_cast<int>(wanted))
            : "memory");
    }
}

// --- shared memory ---------------------------------------------------------------------------

__device__ __forceinline__ void store_shared(u32 address, u16 value) {
    asm volatile("st.shared.b16 [%0], %1;" ::"r"(address), "h"(value) : "memory");
}
__device__ __forceinline__ void store_shared(u32 address, u32 value) {
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}
__device__ __forceinline__ void store_shared(u32 address, uint2 value) {
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(value.x), "r"(value.y)
                 : "memory");
}
__device__ __forceinline__ void store_shared(u32 address, uint4 value) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(value.x),
                 "r"(value.y), "r"(value.z), "r"(value.w)
                 : "memory");
}

// Loads COUNT consecutive floats: 1, 2 or 4.
template <int COUNT>
__device__ __forceinline__ void load_shared(float (&value)[COUNT], u32 address) {
    if constexpr (COUNT == 4) {
        asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(value[0]), "=f"(value[1]), "=f"(value[2]), "=f"(value[3])
                     : "r"(address)
                     : "memory");
    } else if constexpr (COUNT == 2) {
        asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                     : "=f"(value[0]), "=f"(value[1])
                     : "r"(address)
                     : "memory");
    } else {
        asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value[0]) : "r"(address) : "memory");
    }
}

// --- tensor cores ----------------------------------------------------------------------------

// Loads four 8x8 matrices of 16-bit elements; lane l names row l % 8 of matrix l / 8.
template <bool TRANSPOSED>
__device__ __forceinline__ void ldmatrix(u32 (&matrix)[4], u32 address) {
    if constexpr (TRANSPOSED) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
                     : "r"(address)
                     : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
                     : "r"(address)
                     : "memory");
    }
}

// c += a * b for a 16x16 fragment a, a 16x8 fragment b and fp32 sums c.
template <Dtype DTYPE>
__device__ __forceinline__ void mma(float (&c)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    if constexpr (DTYPE == Dtype::bf16) {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    } else {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
}
