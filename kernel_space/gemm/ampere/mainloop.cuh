// What the main loops have in common. Each mechanism is one specialisation of Mainloop:
//
//     Mainloop<MECHANISM>::FRAGMENT_SETS       register sets of fragments
//     Mainloop<MECHANISM>::run(product, copies, shared, tiles)
//
// run() takes the block's copies through `tiles` tiles along K and adds every one to `product`.
#pragma once

#include "copy.cuh"

template <Mechanism MECHANISM>
struct Mainloop;

// Multiplies the tile in the stage at address `stage`, one step along K after the other.
template <class Product>
__device__ __forceinline__ void multiply(Product& product, u32 stage) {
#pragma unroll
    for (int step = 0; step < Product::K_STEPS; ++step) {
        product.load(0, stage, step);
        product.multiply(0);
    }
}

// The same with two register sets, in four parts: fragments are loaded one step ahead of the
// mathematics. Once the stage has been read, two steps are still in registers, and a main loop
// may give the stage away while they are multiplied. A stage has an even number of steps, so that
// the first of the next finds its registers free while the last of this one is multiplied.

template <class Product>
__device__ __forceinline__ void read_first(Product& product, u32 stage) {
    static_assert(Product::K_STEPS % 2 == 0, "two register sets take turns");
    product.load(0, stage, 0);
}

template <class Product>
__device__ __forceinline__ void read_rest(Product& product, u32 stage) {
#pragma unroll
    for (int step = 1; step < Product::K_STEPS; ++step) {
        if (step > 1) product.multiply(step % 2);  // step - 2, to make room
        product.load(step % 2, stage, step);
    }
}

template <class Product>
__device__ __forceinline__ void multiply_last_but_one(Product& product) {
    product.multiply(Product::K_STEPS % 2);
}

template <class Product>
__device__ __forceinline__ void multiply_last(Product& product) {
    product.multiply((Product::K_STEPS - 1) % 2);
}
