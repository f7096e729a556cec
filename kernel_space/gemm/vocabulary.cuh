// The words that the generated config.h and the kernel share.
#pragma once

#include "ptx/types.cuh"

enum class Dtype { bf16, fp16, fp32 };

// How a tile travels from global to shared memory while the mathematics runs.
enum class Mechanism {
    sync1,        // one buffer, two barriers, through registers
    sync2_smem,   // two buffers, through registers
    sync2,        // two buffers and two sets of register fragments, through registers
    cp_async,     // a ring of stages, filled by asynchronous copies that are counted in batches
    mbarrier,     // the same ring, handed to and fro by mbarriers
    ws_cp_async,  // the same, filled by warps that do nothing else
};

// Whether an asynchronous copy leaves its bytes in L1 on the way.
enum class Cache { l1, bypass };

// Who copies and who multiplies where both are work for a whole warp group.
enum class Roles {
    none,         // every warp group does both, in turn
    cooperative,  // a producer copies; the consumers split each tile
    pingpong,     // a producer copies; two consumers take tiles in turn
};
