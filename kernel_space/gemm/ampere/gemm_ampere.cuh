// C = A * B for row-major matrices, either of which may be stored transposed.
//
// Each block computes one TILE_M x TILE_N tile of C: a main loop brings tiles of A and B into
// shared memory (how is the config's MECHANISM), each warp multiplies its part into registers,
// and the sums are rounded once and stored. Shapes and pitches are arguments: one binary serves
// every problem of its dtype and layout.
#pragma once

// Libraries take seconds to compile: config.h includes one only where the config needs it.
#if defined(CG_MEMCPY_ASYNC)
#include "mainloop_cg_memcpy_async.cuh"
#elif defined(PIPELINE_THREAD)
#include "mainloop_pipeline_thread.cuh"
#elif defined(PIPELINE_BLOCK)
#include "mainloop_pipeline_block.cuh"
#endif

#include "mainloop_cp_async.cuh"
#include "mainloop_mbarrier.cuh"
#include "mainloop_sync1.cuh"
#include "mainloop_sync2.cuh"
#include "mainloop_sync2_smem.cuh"
#include "mainloop_ws_cp_async.cuh"
#include "mma_ffma.cuh"
#include "mma_tensor.cuh"

using Loop = Mainloop<config::MECHANISM>;
using Product = Choose<TENSOR_CORES, TensorProduct<Loop::FRAGMENT_SETS>,
                       FfmaProduct<Loop::FRAGMENT_SETS>>::type;

// The copy of the operand whose tile starts at `mn` along M (or N), `extent` long there.
template <class Tile>
__device__ __forceinline__ Copy<Tile> copy_of(const Element* operand, long long pitch, int mn,
                                              int extent, int k) {
    if constexpr (Tile::K_CONTIGUOUS) return {operand + mn * pitch, pitch, extent - mn, k};
    return {operand + mn, pitch, k, extent - mn};
}

// One block a multiprocessor is enough: without the 1 the compiler spills a little to fit more.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm(const Element* a, const Element* b, Result* c, int m, int n, int k, long long pitch_a,
         long long pitch_b, long long pitch_c, int raster_along_m, int raster_group) {
    extern __shared__ __align__(128) unsigned char shared[];

    const int tiles_m = (m + config::TILE_M - 1) / config::TILE_M;
    const int tiles_n = (n + config::TILE_N - 1) / config::TILE_N;
    const Place place = place_of(blockIdx.x, tiles_m, tiles_n, raster_along_m, raster_group);

    Copies copies{copy_of<TileA>(a, pitch_a, place.m * config::TILE_M, m, k),
                  copy_of<TileB>(b, pitch_b, place.n * config::TILE_N, n, k)};
    Product product;
    const int tiles = k / config::TILE_K + (k % config::TILE_K != 0);
    Loop::run(product, copies, shared_address(shared), tiles);
    if (CONSUMERS == THREADS || threadIdx.x < CONSUMERS)
        product.store(Output::of(c, pitch_c, m, n, place));
}
