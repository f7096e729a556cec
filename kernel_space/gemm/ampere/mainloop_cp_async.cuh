// A ring of STAGES buffers filled by asynchronous copies.
//
// The invariant: exactly STAGES batches are committed and not yet consumed at the top of every
// round. Past the end of K a batch copies nothing but is committed all the same; that is what
// lets one constant in cp_async_wait mean "the oldest has arrived" in every round.
#pragma once

#include "mainloop.cuh"

template <>
struct Mainloop<Mechanism::cp_async> {
    static constexpr int FRAGMENT_SETS = 2;

    template <class Product>
    __device__ static void run(Product& product, Copies& copies, u32 shared, int tiles) {
        constexpr int STAGES = config::STAGES;
#pragma unroll 1
        for (int tile = 0; tile < STAGES; ++tile) {
            copies.start(shared + tile * STAGE_BYTES, tile < tiles);
            cp_async_commit();
        }
        wait_for_oldest();
        read_first(product, shared);

        u32 stage = shared;
#pragma unroll 1
        for (int tile = 0; tile < tiles; ++tile) {
            read_rest(product, stage);
            __syncthreads();  // everybody has read the stage: it may be overwritten

            copies.start(stage, tile + STAGES < tiles);
            cp_async_commit();
            multiply_last_but_one(product);

            stage += STAGE_BYTES;
            if (stage == shared + STAGES * STAGE_BYTES) stage = shared;
            wait_for_oldest();
            read_next_and_multiply(product, stage);
        }
    }

   private:
    __device__ static void wait_for_oldest() {
        cp_async_wait<config::STAGES - 1>();  // this thread's part of the stage has arrived,
        __syncthreads();                      // and so has everybody else's
    }

    // Loads the next stage's first fragments while the last of this one are multiplied, unless
    // both want the same registers.
    template <class Product>
    __device__ static void read_next_and_multiply(Product& product, u32 next_stage) {
        constexpr bool APART = Product::K_STEPS % FRAGMENT_SETS == 0;
        if constexpr (APART) read_first(product, next_stage);
        multiply_last(product);
        if constexpr (!APART) read_first(product, next_stage);
    }
};
