// Double buffering at both scopes: two tiles in shared memory, two sets of fragments in
// registers. The next tile's loads are in flight during the whole product of this one.
#pragma once

#include "mainloop.cuh"

template <>
struct Mainloop<Mechanism::sync2> {
    static constexpr int FRAGMENT_SETS = 2;

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
            read_first(product, shared + buffer);
            read_rest(product, shared + buffer);
            multiply_last_but_one(product);

            // The other buffer was read in the previous round, and the barrier of that round
            // let nobody through before everyone had: one barrier a tile is enough.
            buffer ^= STAGE_BYTES;
            copies.store(held, shared + buffer);
            __syncthreads();  // the next tile is complete, and this one has been read
            multiply_last(product);
        }
    }
};
