// Hopper's ring: one thread of an extra warp asks the copy engine for whole tiles, and the
// engine itself counts the bytes that have landed.
#pragma once

#include "pipeline.cuh"

template <>
struct Loop<Mechanism::bulk> {
    __device__ static void run(const Arrays& arrays, u32 shared, long long tiles) {
        const Loop loop{arrays, shared, tiles};
        const u32 readers = STORES_BULK ? 1 : WORKERS / 32;
        const Pipeline pipeline(shared + STAGES * STAGE_BYTES, 1, readers);
        barrier_init_fence();
        __syncthreads();
        if (threadIdx.x > WORKERS) return;
        if (threadIdx.x == WORKERS)
            loop.produce(pipeline);
        else if constexpr (STORES_BULK)
            loop.consume_in_place(pipeline);
        else
            loop.consume(pipeline);
    }

   private:
    static constexpr bool STORES_BULK = config::STORE == Store::bulk;
    const Arrays& arrays;
    u32 shared;
    long long tiles;

    __device__ Loop(const Arrays& arrays_, u32 shared_, long long tiles_)
        : arrays(arrays_), shared(shared_), tiles(tiles_) {}

    __device__ u32 stage(Cursor at) const { return shared + at.stage * STAGE_BYTES; }

    __device__ void produce(const Pipeline& pipeline) const {
        Cursor write;
#pragma unroll 1
        for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x, write.next()) {
            pipeline.producer_acquire(write);
            pipeline.producer_commit(write, STAGE_BYTES);
#pragma unroll
            for (int i = 0; i < INPUTS; ++i)
                bulk_load(stage(write) + i * TILE_BYTES, arrays.input(i, tile), TILE_BYTES,
                          pipeline.full(write.stage), arrays.policy);
        }
    }

    __device__ void consume(const Pipeline& pipeline) const {
        Cursor read;
#pragma unroll 1
        for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x, read.next()) {
            pipeline.consumer_wait(read);
            Share<WIDE_BYTES> share;
            share.get(stage(read));
            // Stored first: only a piece that has come can be stored. An arrival orders loads before
            // what other threads write, not before what the copy engine writes.
            share.store(arrays, tile);
            pipeline.consumer_release_by_warp(read);
        }
    }

    // Results take the place of the first input, and the copy engine stores them from there. A
    // stage is free once it has been read: that of the round before, so as not to wait for it.
    __device__ void consume_in_place(const Pipeline& pipeline) const {
        constexpr int LAG = STAGES > 1 ? 1 : 0;
        if (IS_COPY && threadIdx.x != 0) return;  // a copy leaves nothing to compute
        Cursor read, stored;
        int rounds = 0;
#pragma unroll 1
        for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x, read.next()) {
            pipeline.consumer_wait(read);
            if constexpr (!IS_COPY) compute_in_place(stage(read));
            if (threadIdx.x == 0) {
                bulk_store(arrays.result(tile), stage(read), TILE_BYTES, arrays.policy);
                bulk_store_wait_read<LAG>();
                if (rounds++ >= LAG) {
                    pipeline.consumer_release(stored);
                    stored.next();
                }
            }
        }
        if (threadIdx.x == 0) bulk_store_wait();
    }

    __device__ static void compute_in_place(u32 stage) {
        __syncwarp();  // the first thread comes from its store, and group_sync takes whole warps
        Share<WIDE_BYTES> share;
        share.get(stage);
        share.put_results(stage);
        async_proxy_fence();
        group_sync(1, WORKERS);  // the tile is complete before the copy engine reads it
    }
};
