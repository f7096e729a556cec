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
            if (tile < tiles) copies.start(shared + tile * STAGE_BYTES);
            cp_async_commit();
        }

        u32 stage = shared;
#pragma unroll 1
        for (int tile = 0; tile < tiles; ++tile) {
            cp_async_wait<STAGES - 1>();  // this thread's part of the oldest stage has arrived,
            __syncthreads();              // and so has everybody else's

            multiply_all_but_last(product, stage);
            __syncthreads();              // everybody has read the stage: it may be overwritten

            if (tile + STAGES < tiles) copies.start(stage);
            cp_async_commit();
            multiply_last(product);       // from registers, while the copies set off

            stage += STAGE_BYTES;
            if (stage == shared + STAGES * STAGE_BYTES) stage = shared;
        }
    }
};
