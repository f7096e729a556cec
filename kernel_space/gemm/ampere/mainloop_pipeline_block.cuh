// cuda::pipeline for the whole block, with parted roles: producers copy, consumers multiply, and
// neither waits for the whole block. The library keeps the mbarriers of each stage and everybody's
// place in the ring, so that a stage is released before the next is waited for.
#pragma once

#include "library_copy.cuh"
#include "mainloop.cuh"

template <>
struct Mainloop<Mechanism::pipeline_block> {
    static constexpr int FRAGMENT_SETS = 2;

    template <class Product>
    __device__ static void run(Product& product, Copies& copies, u32 shared, int tiles) {
        auto* state = static_cast<State*>(__cvta_shared_to_generic(shared + RING_BYTES));
        const auto block = cooperative_groups::this_thread_block();
        auto pipe = cuda::make_pipeline(block, state, config::PRODUCERS);
        u32 stage = shared;
#pragma unroll 1
        for (int tile = 0; tile < tiles; ++tile) {
            if (threadIdx.x < CONSUMERS)
                consume(pipe, product, stage);
            else
                produce(pipe, copies, stage);
            stage += STAGE_BYTES;
            if (stage == shared + RING_BYTES) stage = shared;
        }
        block.sync();  // a thread does not end before its copies
    }

   private:
    using Pipe = cuda::pipeline<cuda::thread_scope_block>;
    using State = cuda::pipeline_shared_state<cuda::thread_scope_block, config::STAGES>;
    static constexpr u32 RING_BYTES = config::STAGES * STAGE_BYTES;
    static_assert(sizeof(State) <= config::STAGES * 24, "a plan keeps 24 bytes a stage for it");

    __device__ static void produce(Pipe& pipe, Copies& copies, u32 stage) {
        pipe.producer_acquire();
        copy_by_library(copies, stage, [&](Piece* target, const Piece* source) {
            cuda::memcpy_async(target, source, sizeof(Piece), pipe);
        });
        pipe.producer_commit();
    }

    template <class Product>
    __device__ static void consume(Pipe& pipe, Product& product, u32 stage) {
        pipe.consumer_wait();
        read_first(product, stage);
        read_rest(product, stage);
        multiply_last_but_one(product);
        multiply_last(product);
        pipe.consumer_release();
    }
};
