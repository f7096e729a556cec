// A ring of STAGES buffers filled by asynchronous copies.
//
// The invariant: exactly STAGES batches are committed and not yet consumed at the top of every
// round. Past the end of the array a batch copies nothing but is committed all the same; that is
// what lets one constant in cp_async_wait mean "the oldest has arrived" in every round.
#pragma once

#include "tile.cuh"

template <>
struct Loop<Mechanism::cp_async> {
    __device__ static void run(const Arrays& arrays, u32 shared, long long tiles) {
        const long long step = gridDim.x;
#pragma unroll 1
        for (int stage = 0; stage < STAGES; ++stage)
            start(arrays, blockIdx.x + stage * step, tiles, shared + stage * STAGE_BYTES);

        u32 stage = shared;
#pragma unroll 1
        for (long long tile = blockIdx.x; tile < tiles; tile += step) {
            cp_async_wait<STAGES - 1>();  // this thread's part of the stage has arrived,
            sync();                       // and so has everybody else's
            Read share;
            share.get(stage);
            share.store(arrays, tile);
            sync();  // everybody has read the stage: it may be overwritten
            start(arrays, tile + STAGES * step, tiles, stage);
            stage += STAGE_BYTES;
            if (stage == shared + STAGES * STAGE_BYTES) stage = shared;
        }
    }

   private:
    static constexpr bool SHARED = config::READERS == Readers::any;
    using Read = Share<SHARED ? WIDE_BYTES : config::COPY_BYTES>;

    // A thread that reads what it has itself copied need not wait for others.
    __device__ static void sync() {
        if constexpr (SHARED) __syncthreads();
    }
    __device__ static void start(const Arrays& arrays, long long tile, long long tiles,
                                 u32 stage) {
        if (tile < tiles) Copied::start(arrays, tile, stage);
        cp_async_commit();
    }
};
