// The words that the generated config.h and the kernel share.
#pragma once

#include "ptx/cache_policy.cuh"

enum class Dtype { bf16, fp32 };

enum class Operation {
    copy,   // y = x
    scale,  // y = FACTOR * x
    triad,  // y = x + FACTOR * w
};

// How a tile travels from global memory to the threads that compute on it.
enum class Mechanism {
    direct,             // straight into registers
    sync1,              // through registers into one shared buffer, two barriers
    cp_async,           // a ring of stages, filled by asynchronous copies, counted in batches
    pipeline_mbarrier,  // the same ring, handed to and fro by mbarriers
    bulk,               // the same, filled by the copy engine: one copy for a whole tile
};

// Who reads what a thread has copied: itself alone, or any thread of the block.
enum class Readers { own, any };

// How results leave: from registers, or from shared memory by the copy engine.
enum class Store { registers, bulk };
