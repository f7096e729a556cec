// One shared buffer and two barriers: load, then compute, then load again.
#pragma once

#include "mainloop.cuh"

template <>
struct Mainloop<Mechanism::sync1> {
    static constexpr int FRAGMENT_SETS = 1;

    template <class Product>
    __device__ static void run(Product& product, Copies& copies, u32 shared, int tiles) {
#pragma unroll 1
        for (int tile = 0; tile < tiles; ++tile) {
            Copies::Held held;
            copies.load(held);           // global -> registers
            copies.store(held, shared);  // registers -> shared
            __syncthreads();             // the tile is complete before anyone reads it
            multiply(product, shared);
            __syncthreads();             // everyone has read it before anyone overwrites it
        }
    }
};
