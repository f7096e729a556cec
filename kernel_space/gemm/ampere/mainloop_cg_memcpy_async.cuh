// The single buffer with cooperative_groups::memcpy_async in place of the copy through registers,
// and cooperative_groups::wait in place of the barrier behind it. Nothing overlaps yet.
//
// A group copies contiguous bytes. In a swizzled tile that is one piece, so that every thread is a
// group of its own.
#pragma once

#include "library_copy.cuh"
#include "mainloop.cuh"

template <>
struct Mainloop<Mechanism::cg_memcpy_async> {
    static constexpr int FRAGMENT_SETS = 1;

    template <class Product>
    __device__ static void run(Product& product, Copies& copies, u32 shared, int tiles) {
        namespace cg = cooperative_groups;
        const auto block = cg::this_thread_block();
#pragma unroll 1
        for (int tile = 0; tile < tiles; ++tile) {
            copy_by_library(copies, shared, [](Piece* target, const Piece* source) {
                cg::memcpy_async(cg::this_thread(), target, source, sizeof(Piece));
            });
            cg::wait(block);  // the tile is complete before anyone reads it
            multiply(product, shared);
            block.sync();  // everyone has read it before anyone overwrites it
        }
    }
};
