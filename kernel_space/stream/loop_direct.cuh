// No shared memory: every thread loads, computes and stores.
#pragma once

#include "tile.cuh"

template <>
struct Loop<Mechanism::direct> {
    __device__ static void run(const Arrays& arrays, u32, long long tiles) {
#pragma unroll 1
        for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            Copied share;
            share.load(arrays, tile);
            share.store(arrays, tile);
        }
    }
};
