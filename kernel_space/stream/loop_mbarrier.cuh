// The ring of asynchronous copies once more, with mbarriers for batches and block barriers.
//
// Every thread is producer and consumer. It refills the stage that was read one round ago, not
// the one it has just read: no thread waits for the others of its own round.
#pragma once

#include "pipeline.cuh"

template <>
struct Loop<Mechanism::pipeline_mbarrier> {
    __device__ static void run(const Arrays& arrays, u32 shared, long long tiles) {
        const Pipeline pipeline(shared + STAGES * STAGE_BYTES, WORKERS, WORKERS / 32);
        __syncthreads();
        constexpr int AHEAD = STAGES - 1;
        const long long step = gridDim.x;
        Cursor write, read;
        long long next = blockIdx.x;
        const auto fill = [&] {
            if (next < tiles) {
                pipeline.producer_acquire(write);
                Copied::start(arrays, next, shared + write.stage * STAGE_BYTES);
                pipeline.producer_commit(write);
                write.next();
            }
            next += step;
        };
#pragma unroll 1
        for (int i = 0; i < AHEAD; ++i) fill();
#pragma unroll 1
        for (long long tile = blockIdx.x; tile < tiles; tile += step, read.next()) {
            fill();
            pipeline.consumer_wait(read);
            Share<WIDE_BYTES> share;
            share.get(shared + read.stage * STAGE_BYTES);
            pipeline.consumer_release_by_warp(read);
            share.store(arrays, tile);
        }
    }
};
