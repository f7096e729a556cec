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
// mathematics, across tiles too. When a stage has been read, two steps are left in registers.
// The main loop overlaps the first of them with giving the stage away, and the second with
// loading the first fragments of the next stage.

template <class Product>
__device__ __forceinline__ void read_first(Product& product, u32 stage) {
    product.load(0, stage, 0);
}

template <class Product>
__device__ __forceinline__ void read_rest(Product& product, u32 stage) {
#pragma unroll
    for (int step = 1; step < Product::K_STEPS; ++step) {
        if (step > 1) product.multiply(step % 2);
        product.load(step % 2, stage, step);
    }
}

template <class Product>
__device__ __forceinline__ void multiply_last_but_one(Product& product) {
    if constexpr (Product::K_STEPS > 1) product.multiply(Product::K_STEPS % 2);
}

template <class Product>
__device__ __forceinline__ void multiply_last_and_read_first(Product& product, u32 next_stage) {
    constexpr int LAST = (Product::K_STEPS - 1) % 2;
    if constexpr (LAST == 0) {  // both want the same registers
        product.multiply(LAST);
        read_first(product, next_stage);
    } else {
        read_first(product, next_stage);
        product.multiply(LAST);
    }
}
