// Double buffering in shared memory alone: the next tile's loads are in flight during the product
// of this one, but each step along K waits for its fragments.
#pragma once

#include "mainloop.cuh"

template <>
struct Mainloop<Mechanism::sync2_smem> {
    static constexpr int FRAGMENT_SETS = 1;

    template <class Product>
    __device__ static void run(Product& product, Copies& copies, u32 shared, int tiles) {
        Copies::Held held;
        copies.load(held);
        copies.store(held, shared);
        __syncthreads();  // the first tile is complete before anyone reads it

        u32 buffer = 0;
#pragma unroll 1
        for (int tile = 0; tile < tiles; ++tile) {
            copies.load(held);  // the next tile; past the end of K it is zeros, read from nowhere
            multiply(product, shared + buffer);

            // The other buffer was read in the previous round, and the barrier of that round
            // let nobody through before everyone had: one barrier a tile is enough.
            buffer ^= STAGE_BYTES;
            copies.store(held, shared + buffer);
            __syncthreads();
        }
    }
};
