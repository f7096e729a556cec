// Double buffering at both scopes: two tiles in shared memory, two sets of fragments in
// registers. The next tile's loads are in flight during the whole product of this one.
#pragma once

#include "mainloop.cuh"

template <>
struct Mainloop<Mechanism::sync2> {
    static constexpr int FRAGMENT_SETS = 2;

    template <class Product>
    __device__ static void run(Product& product, Copies& copies, u32 shared, int tiles) {
        if (tiles == 0) return;
        Copies::Held held;
        copies.load(held);
        copies.store(held, shared);
        __syncthreads();  // the first tile is complete
        read_first(product, shared);

        u32 stage = 0;
#pragma unroll 1
        for (int tile = 0; tile < tiles; ++tile) {
            const bool more = tile + 1 < tiles;
            if (more) copies.load(held);
            read_rest(product, shared + stage);
            multiply_last_but_one(product);

            stage ^= STAGE_BYTES;
            // The other buffer was read in the previous round, and the barrier of that round
            // let nobody through before everyone had.
            if (more) copies.store(held, shared + stage);
            __syncthreads();  // the next tile is complete, and this one has been read
            multiply_last_and_read_first(product, shared + stage);
        }
    }
};
