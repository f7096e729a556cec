// The ring of asynchronous copies once more, with mbarriers for batches and block barriers: four
// calls hand a stage over. Every thread is producer and consumer.
//
// A round refills the stage of the round before, not the one that it reads: no thread waits for
// the others of its own round.
#pragma once

#include "mainloop_ring.cuh"

template <>
struct Mainloop<Mechanism::mbarrier> {
    static constexpr int FRAGMENT_SETS = 2;

    template <class Product>
    __device__ static void run(Product& product, Copies& copies, u32 shared, int tiles) {
        const Ring ring(shared);
        Producer producer{ring, copies};
        const auto fill = [&](int tile) {
            if (tile < tiles) producer.fill();
        };
        constexpr int AHEAD = config::STAGES - 1;
#pragma unroll 1
        for (int tile = 0; tile < AHEAD; ++tile) fill(tile);
        consume(product, ring, tiles, [&](int tile) { fill(tile + AHEAD); });
    }
};
