// One shared buffer and two barriers: load, then compute, then load again.
#pragma once

#include "tile.cuh"

template <>
struct Loop<Mechanism::sync1> {
    __device__ static void run(const Arrays& arrays, u32 shared, long long tiles) {
#pragma unroll 1
        for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            Copied copied;
            copied.load(arrays, tile);  // global -> registers
            copied.put(shared);         // registers -> shared
            __syncthreads();            // the tile is complete before anyone reads it
            Share<WIDE_BYTES> share;
            share.get(shared);
            share.store(arrays, tile);
            __syncthreads();  // everyone has read it before anyone overwrites it
        }
    }
};
