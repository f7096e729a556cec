// A ring of STAGES buffers filled by asynchronous copies, which are counted in batches.
//
// With two barriers a round refills the stage that it has just read: exactly STAGES batches are
// committed and not yet consumed at the top of every round. With one barrier it refills the stage
// of the round before, which everybody has left: exactly STAGES - 1. Past the end of K a batch
// copies nothing but is committed all the same; that is what lets one constant in cp_async_wait
// mean "the oldest has arrived" in every round.
#pragma once

#include "mainloop.cuh"
#include "ptx/cp_async.cuh"

template <>
struct Mainloop<Mechanism::cp_async> {
    static constexpr int FRAGMENT_SETS = 2;

    template <class Product>
    __device__ static void run(Product& product, Copies& copies, u32 shared, int tiles) {
        start_first(copies, shared, tiles);
        wait_for_oldest();
        read_first(product, shared);
        if constexpr (config::BARRIERS == 1)
            run_one_barrier(product, copies, shared, tiles);
        else
            run_two_barriers(product, copies, shared, tiles);
    }

   private:
    static constexpr int AHEAD = config::STAGES - (config::BARRIERS == 1);
    static_assert(AHEAD > 0, "a batch is on its way while another is multiplied");

    template <class Product>
    __device__ static void run_two_barriers(Product& product, Copies& copies, u32 shared,
                                            int tiles) {
        u32 stage = shared;
#pragma unroll 1
        for (int tile = 0; tile < tiles; ++tile) {
            read_rest(product, stage);
            __syncthreads();  // everybody has read the stage: it may be overwritten

            start(copies, stage, tile + AHEAD < tiles);
            multiply_last_but_one(product);

            advance(stage, shared);
            wait_for_oldest();
            read_first(product, stage);
            multiply_last(product);
        }
    }

    template <class Product>
    __device__ static void run_one_barrier(Product& product, Copies& copies, u32 shared,
                                           int tiles) {
        u32 stage = shared;
        u32 free = shared + AHEAD * STAGE_BYTES;  // the stage that nobody reads any more
#pragma unroll 1
        for (int tile = 0; tile < tiles; ++tile) {
            start(copies, free, tile + AHEAD < tiles);
            read_rest(product, stage);
            multiply_last_but_one(product);

            free = stage;
            advance(stage, shared);
            wait_for_oldest();  // and everybody has read the stage of this round
            read_first(product, stage);
            multiply_last(product);
        }
    }

    __device__ static void start_first(Copies& copies, u32 shared, int tiles) {
#pragma unroll 1
        for (int tile = 0; tile < AHEAD; ++tile)
            start(copies, shared + tile * STAGE_BYTES, tile < tiles);
    }
    __device__ static void start(Copies& copies, u32 stage, bool wanted) {
        copies.start(stage, wanted);
        cp_async_commit();
    }
    __device__ static void wait_for_oldest() {
        cp_async_wait<AHEAD - 1>();  // this thread's part of the stage has arrived,
        __syncthreads();             // and so has everybody else's
    }
    __device__ static void advance(u32& stage, u32 shared) {
        stage += STAGE_BYTES;
        if (stage == shared + config::STAGES * STAGE_BYTES) stage = shared;
    }
};
