// wgmma: a warp group multiplies a 64 x K tile of A by a K x N tile of B, both in shared memory,
// into fp32 accumulators in registers. K is 32 bytes: 16 elements or, of 8 bits, 32.
//
// Of 8-bit elements the tensor cores of Hopper add up products less precisely than fp32 could: they
// align 32 of them and the sum so far to the largest, and keep some 14 bits of each.
//
// An asm statement must spell out each of its N/2 accumulators, so the lists below grow by
// eight at a time and each N has a specialization of its own.
#pragma once

#include "ptx.cuh"

#define ACCUMULATORS_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define ACCUMULATORS_16 ACCUMULATORS_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define ACCUMULATORS_24 ACCUMULATORS_16 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define ACCUMULATORS_32 ACCUMULATORS_24 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define ACCUMULATORS_40 ACCUMULATORS_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define ACCUMULATORS_48 ACCUMULATORS_40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define ACCUMULATORS_56 ACCUMULATORS_48 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define ACCUMULATORS_64 ACCUMULATORS_56 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define ACCUMULATORS_72 ACCUMULATORS_64 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define ACCUMULATORS_80 ACCUMULATORS_72 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define ACCUMULATORS_88 ACCUMULATORS_80 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define ACCUMULATORS_96 ACCUMULATORS_88 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define ACCUMULATORS_104 ACCUMULATORS_96 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define ACCUMULATORS_112 ACCUMULATORS_104 ", %104, %105, %106, %107, %108, %109, %110, %111"
#define ACCUMULATORS_120 ACCUMULATORS_112 ", %112, %113, %114, %115, %116, %117, %118, %119"
#define ACCUMULATORS_128 ACCUMULATORS_120 ", %120, %121, %122, %123, %124, %125, %126, %127"

#define REGISTERS(i)                                                                              \
    "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3]),                           \
        "+f"(sum[i + 4]), "+f"(sum[i + 5]), "+f"(sum[i + 6]), "+f"(sum[i + 7])
#define REGISTERS_8 REGISTERS(0)
#define REGISTERS_16 REGISTERS_8, REGISTERS(8)
#define REGISTERS_24 REGISTERS_16, REGISTERS(16)
#define REGISTERS_32 REGISTERS_24, REGISTERS(24)
#define REGISTERS_40 REGISTERS_32, REGISTERS(32)
#define REGISTERS_48 REGISTERS_40, REGISTERS(40)
#define REGISTERS_56 REGISTERS_48, REGISTERS(48)
#define REGISTERS_64 REGISTERS_56, REGISTERS(56)
#define REGISTERS_72 REGISTERS_64, REGISTERS(64)
#define REGISTERS_80 REGISTERS_72, REGISTERS(72)
#define REGISTERS_88 REGISTERS_80, REGISTERS(80)
#define REGISTERS_96 REGISTERS_88, REGISTERS(88)
#define REGISTERS_104 REGISTERS_96, REGISTERS(96)
#define REGISTERS_112 REGISTERS_104, REGISTERS(104)
#define REGISTERS_120 REGISTERS_112, REGISTERS(112)
#define REGISTERS_128 REGISTERS_120, REGISTERS(120)

// Adds a * b to `sum`, or overwrites it if `add` is 0. a and b are descriptors of shared memory.
template <int N>
struct WarpGroupProduct;

// A, B and ADD name the operands behind the COUNT accumulators. KIND and MAJORS are of config.h: K
// and the elements, and for elements of 16 bits two numbers: 0 if K is contiguous in shared memory,
// 1 if M (or N) is.
#define WARP_GROUP_PRODUCT(N, COUNT, A, B, ADD)                                                   \
    template <>                                                                                   \
    struct WarpGroupProduct<N> {                                                                  \
        __device__ static __forceinline__ void run(float (&sum)[COUNT], u64 a, u64 b, int add) {  \
            asm volatile(                                                                         \
                "{ .reg .pred add; setp.ne.b32 add, " ADD ", 0;\n"                                \
                "wgmma.mma_async.sync.aligned.m64n" #N KIND                                       \
                " {" ACCUMULATORS_##COUNT "}, " A ", " B ","                                      \
                " add, 1, 1" MAJORS "; }"                                                         \
                : REGISTERS_##COUNT                                                               \
                : "l"(a), "l"(b), "r"(add));                                                      \
        }                                                                                         \
    };

WARP_GROUP_PRODUCT(16, 8, "%8", "%9", "%10")
WARP_GROUP_PRODUCT(32, 16, "%16", "%17", "%18")
WARP_GROUP_PRODUCT(48, 24, "%24", "%25", "%26")
WARP_GROUP_PRODUCT(64, 32, "%32", "%33", "%34")
WARP_GROUP_PRODUCT(80, 40, "%40", "%41", "%42")
WARP_GROUP_PRODUCT(96, 48, "%48", "%49", "%50")
WARP_GROUP_PRODUCT(112, 56, "%56", "%57", "%58")
WARP_GROUP_PRODUCT(128, 64, "%64", "%65", "%66")
WARP_GROUP_PRODUCT(144, 72, "%72", "%73", "%74")
WARP_GROUP_PRODUCT(160, 80, "%80", "%81", "%82")
WARP_GROUP_PRODUCT(176, 88, "%88", "%89", "%90")
WARP_GROUP_PRODUCT(192, 96, "%96", "%97", "%98")
WARP_GROUP_PRODUCT(208, 104, "%104", "%105", "%106")
WARP_GROUP_PRODUCT(224, 112, "%112", "%113", "%114")
WARP_GROUP_PRODUCT(240, 120, "%120", "%121", "%122")
WARP_GROUP_PRODUCT(256, 128, "%128", "%129", "%130")

#undef WARP_GROUP_PRODUCT
