// The four calls by which producers and consumers hand the stages of a ring to one another.
#pragma once

#include "ptx/mbarrier.cuh"

// Where a thread stands in a ring. The parity of its lap tells new phases from old ones.
template <int STAGES>
struct RingCursor {
    int stage = 0;
    u32 lap = 0;

    __device__ void next() {
        if (++stage == STAGES) {
            stage = 0;
            lap ^= 1;
        }
    }
};

// Each stage has two mbarriers: `full` ends a phase when it has been filled, `empty` when
// everybody has read it.
template <int STAGES>
class RingPipeline {
   public:
    using Cursor = RingCursor<STAGES>;

    // Every thread of the block makes one. `producers` arrivals fill a stage, `consumers` free it.
    __device__ RingPipeline(u32 barriers, u32 producers, u32 consumers) : barriers_(barriers) {
        if (threadIdx.x == 0)
            for (int stage = 0; stage < STAGES; ++stage) {
                barrier_init(full(stage), producers);
                barrier_init(empty(stage), consumers);
            }
    }

    // Waits until the stage is free. On the first lap it is: the phase before the first counts
    // as over.
    __device__ void producer_acquire(Cursor at) const { wait(empty(at.stage), at.lap ^ 1); }
    // Hands over what this thread has started to copy by cp.async, once it is there.
    __device__ void producer_commit(Cursor at) const { barrier_arrive_with_copies(full(at.stage)); }
    // The same for bytes that the copy engine brings.
    __device__ void producer_commit(Cursor at, u32 bytes) const {
        barrier_expect(full(at.stage), bytes);
    }
    __device__ void consumer_wait(Cursor at) const { wait(full(at.stage), at.lap); }
    __device__ void consumer_release(Cursor at) const { barrier_arrive(empty(at.stage)); }

    // One release for a warp whose lanes have all read the stage.
    __device__ void consumer_release_by_warp(Cursor at) const {
        __syncwarp();
        if (threadIdx.x % 32 == 0) consumer_release(at);
    }
    __device__ u32 full(int stage) const { return barriers_ + 16 * stage; }

   private:
    __device__ u32 empty(int stage) const { return full(stage) + 8; }
    __device__ static void wait(u32 barrier, u32 parity) {
        while (!barrier_passed(barrier, parity)) {
        }
    }

    u32 barriers_;
};
