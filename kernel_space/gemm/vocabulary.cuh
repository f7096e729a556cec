// The words that the generated config.h and the kernel share.
#pragma once

#include "ptx/types.cuh"

enum class Dtype { bf16, fp16, fp32 };

// How an element lies in memory: one of 16 bits is moved as it is, and only tensor cores and
// roundings look inside.
template <Dtype DTYPE>
struct Stored {
    using type = u16;
};
template <>
struct Stored<Dtype::fp32> {
    using type = float;
};

template <bool CONDITION, class Yes, class No>
struct Choose {
    using type = Yes;
};
template <class Yes, class No>
struct Choose<false, Yes, No> {
    using type = No;
};

// How a tile travels from global to shared memory while the mathematics runs.
enum class Mechanism {
    sync1,            // one buffer, two barriers, through registers
    sync2_smem,       // two buffers, through registers
    sync2,            // two buffers and two sets of register fragments, through registers
    cg_memcpy_async,  // one buffer, filled by asynchronous copies of cooperative groups
    cp_async,         // a ring of stages, filled by asynchronous copies, counted in batches
    pipeline_thread,  // the same by cuda::pipeline, each thread for itself
    pipeline_block,   // a ring by cuda::pipeline for the block, filled by warps of their own
    mbarrier,         // a ring of stages, handed to and fro by mbarriers
    ws_cp_async,      // the same, filled by warps that do nothing else
};

// Whether an asynchronous copy leaves its bytes in L1 on the way.
enum class Cache { l1, bypass };

// Who copies and who multiplies where both are work for a whole warp group.
enum class Roles {
    none,         // every warp group does both, in turn
    cooperative,  // a producer copies; the consumers split each tile
    pingpong,     // a producer copies; two consumers take tiles in turn
};

// Which operand, as the caller names it, L2 holds on to while the other one streams past.
enum class Keep { neither, a, b };

// How the sums of a tile leave for C.
enum class Stores {
    direct,  // from registers
    rows,    // through shared memory, from there a row at a time
    tensor,  // through shared memory, from there by the copy engine
};
