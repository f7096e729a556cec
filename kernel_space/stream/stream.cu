// y = x, y = FACTOR * x or y = x + FACTOR * w for arrays of any length.
//
// A grid-stride loop takes the whole tiles of the arrays through the config's MECHANISM; the
// elements behind the last whole tile are computed one by one. The length is an argument: one
// binary serves them all.
#include "vocabulary.cuh"

#include "config.h"

#include "loop_bulk.cuh"
#include "loop_cp_async.cuh"
#include "loop_direct.cuh"
#include "loop_mbarrier.cuh"
#include "loop_sync1.cuh"

// Fewer elements than a tile has.
__device__ __forceinline__ void finish(const Arrays& arrays, long long from, long long count) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long first = from + static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (long long i = first; i < count; i += step)
        arrays.output[i] = static_cast<Element>(
            operate(u32{arrays.inputs[0][i]}, u32{arrays.inputs[INPUTS - 1][i]}));
}

// Operations with one input take it twice.
extern "C" __global__ void __launch_bounds__(config::BLOCK_THREADS)
    stream(const Element* x, const Element* w, Element* y, long long count) {
    extern __shared__ __align__(128) unsigned char shared[];
    const Arrays arrays{{x, w}, y, cache_policy<config::EVICTION>()};
    const long long tiles = count / TILE;
    Loop<config::MECHANISM>::run(arrays, shared_address(shared), tiles);
    finish(arrays, tiles * TILE, count);
}
