// The ring of batches once more, by cuda::pipeline: each thread has a pipeline of its own, whose
// stages are the batches of its copies. The four calls name what is handed over.
//
// A pipeline of one thread knows nothing of the others: barriers of the block say when everybody's
// part of a stage has come, and when everybody has read it. As in cp_async, with two barriers
// exactly STAGES batches are committed at the top of every round, with one STAGES - 1.
#pragma once

#include "library_copy.cuh"
#include "mainloop.cuh"

template <>
struct Mainloop<Mechanism::pipeline_thread> {
    static constexpr int FRAGMENT_SETS = 2;

    template <class Product>
    __device__ static void run(Product& product, Copies& copies, u32 shared, int tiles) {
        auto pipe = cuda::make_pipeline();
#pragma unroll 1
        for (int tile = 0; tile < AHEAD; ++tile)
            fill(pipe, copies, shared + tile * STAGE_BYTES, tile < tiles);
        wait_for_oldest(pipe);
        read_first(product, shared);

        u32 stage = shared;
        u32 free = shared + AHEAD * STAGE_BYTES;  // with one barrier: what nobody reads any more
#pragma unroll 1
        for (int tile = 0; tile < tiles; ++tile) {
            if constexpr (BARRIERS == 1) fill(pipe, copies, free, tile + AHEAD < tiles);
            read_rest(product, stage);
            if constexpr (BARRIERS == 2) {
                __syncthreads();  // everybody has read the stage
                pipe.consumer_release();
                fill(pipe, copies, stage, tile + AHEAD < tiles);
            }
            multiply_last_but_one(product);

            free = stage;
            stage += STAGE_BYTES;
            if (stage == shared + config::STAGES * STAGE_BYTES) stage = shared;
            wait_for_oldest(pipe);
            if constexpr (BARRIERS == 1) pipe.consumer_release();
            read_first(product, stage);
            multiply_last(product);
        }
    }

   private:
    using Pipe = cuda::pipeline<cuda::thread_scope_thread>;
    static constexpr int BARRIERS = config::BARRIERS;
    static constexpr int AHEAD = config::STAGES - (BARRIERS == 1);
    static_assert(AHEAD > 0, "a batch is on its way while another is multiplied");

    // Commits a batch in any case: past the end of K it is empty, but it counts.
    __device__ static void fill(Pipe& pipe, Copies& copies, u32 stage, bool wanted) {
        pipe.producer_acquire();
        if (wanted)
            copy_by_library(copies, stage, [&](Piece* target, const Piece* source) {
                cuda::memcpy_async(target, source, sizeof(Piece), pipe);
            });
        pipe.producer_commit();
    }

    __device__ static void wait_for_oldest(Pipe& pipe) {
        cuda::pipeline_consumer_wait_prior<AHEAD - 1>(pipe);  // this thread's part has arrived,
        __syncthreads();                                      // and so has everybody else's
    }
};
