// A ring of stages handed to and fro by mbarriers, and what is done at either end of it.
#pragma once

#include "mainloop.cuh"
#include "ptx/pipeline.cuh"

// The stages, and behind them their mbarriers. Every thread that copies fills a part of a stage;
// every warp that multiplies frees it.
struct Ring : RingPipeline<config::STAGES> {
    // Every thread of the block makes one.
    __device__ explicit Ring(u32 shared)
        : RingPipeline(shared + config::STAGES * STAGE_BYTES, COPIERS, CONSUMERS / 32),
          shared_(shared) {
        __syncthreads();  // the barriers are initialised before anyone comes there
    }
    __device__ u32 stage(Cursor at) const { return shared_ + at.stage * STAGE_BYTES; }

   private:
    u32 shared_;
};

// Copies one tile after the other into the ring.
struct Producer {
    const Ring& ring;
    Copies& copies;
    Ring::Cursor write;

    __device__ void fill() {
        ring.producer_acquire(write);
        copies.start(ring.stage(write), true);
        ring.producer_commit(write);
        write.next();
    }
};

// Multiplies one tile after the other out of the ring; before each, calls `before` with its number.
template <class Product, class Before>
__device__ __forceinline__ void consume(Product& product, const Ring& ring, int tiles,
                                        Before before) {
    if (tiles == 0) return;  // nothing will ever fill a stage
    Ring::Cursor read;
    ring.consumer_wait(read);
    read_first(product, ring.stage(read));
#pragma unroll 1
    for (int tile = 0; tile < tiles; ++tile) {
        before(tile);
        read_rest(product, ring.stage(read));
        multiply_last_but_one(product);
        const Ring::Cursor done = read;
        read.next();
        if (tile + 1 < tiles) {
            ring.consumer_wait(read);
            read_first(product, ring.stage(read));
        }
        multiply_last(product);
        ring.consumer_release_by_warp(done);
    }
}
