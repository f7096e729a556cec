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

// The same with two register sets: the next step's fragments are loaded while the tensor cores
// (or the FFMA pipe) work on this one's. It ends with all of the stage read and the last step
// still to be multiplied, so that its memory can be given away that much earlier.
template <class Product>
__device__ __forceinline__ void multiply_all_but_last(Product& product, u32 stage) {
    product.load(0, stage, 0);
#pragma unroll
    for (int step = 1; step < Product::K_STEPS; ++step) {
        product.load(step % 2, stage, step);
        product.multiply((step - 1) % 2);
    }
}
template <class Product>
__device__ __forceinline__ void multiply_last(Product& product) {
    product.multiply((Product::K_STEPS - 1) % 2);
}
