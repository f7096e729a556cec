// A warp's part of the product on tensor cores: mma.m16n8k16, fed by ldmatrix.
#pragma once

#include "epilogue.cuh"
#include "ptx.cuh"

// SETS register sets of fragments: with two, one is loaded while the other is multiplied.
template <int SETS>
class TensorProduct {
    static constexpr int MMAS_M = config::WARP_M / 16;
    static constexpr int MMAS_N = config::WARP_N / 8;

   public:
    static constexpr int K_STEPS = config::TILE_K / 16;

    __device__ TensorProduct() {
        const int lane = threadIdx.x % 32;
        const int warp = threadIdx.x / 32;
        warp_m_ = warp % WARPS_M * config::WARP_M;
        warp_n_ = warp / WARPS_M * config::WARP_N;
        // The four 8x8 matrices of one ldmatrix are the quarters of a 16x16 fragment. The
        // mma wants the quarters of A with M fastest, and those of B with K fastest.
        const int low = lane / 8 % 2 * 8;
        const int high = lane / 16 * 8;
        a_ = TileA::K_CONTIGUOUS ? TileA::at(warp_m_ + lane % 8 + low, high)
                                 : TileA::at(warp_m_ + low, lane % 8 + high);
        b_ = TileB::K_CONTIGUOUS ? TileB::at(warp_n_ + lane % 8 + high, low)
                                 : TileB::at(warp_n_ + high, lane % 8 + low);
        b_ += TileA::BYTES;
    }

    // Loads the fragments of step `step` along K from the stage at address `stage`, in the order
    // in which multiply() takes them.
    __device__ void load(int set, u32 stage, int step) {
#pragma unroll
        for (int i = 0; i < MMAS_M; ++i) {
            ldmatrix<!TileA::K_CONTIGUOUS>(
                fragments_a_[set][i], TileA::moved_by(stage + a_, i * 16, step * 16));
            if (i > 0) continue;
#pragma unroll
            for (int j = 0; j < MMAS_N / 2; ++j)
                ldmatrix<!TileB::K_CONTIGUOUS>(
                    fragments_b_[set][j], TileB::moved_by(stage + b_, j * 16, step * 16));
        }
    }

    __device__ void multiply(int set) {
#pragma unroll
        for (int i = 0; i < MMAS_M; ++i)
#pragma unroll
            for (int j = 0; j < MMAS_N; ++j) {
                const u32(&pair)[4] = fragments_b_[set][j / 2];
                const u32 b[2] = {pair[j % 2 * 2], pair[j % 2 * 2 + 1]};
                mma<config::DTYPE>(sums_[i][j], fragments_a_[set][i], b);
            }
    }

    // An mma leaves each lane two neighbouring columns of every 8.
    __device__ void store(const Output& output) const {
        const int lane = threadIdx.x % 32, quad = lane % 4;
#pragma unroll
        for (int i = 0; i < MMAS_M * 2; ++i) {
            const int row = warp_m_ + i * 8 + lane / 4;
#pragma unroll
            for (int j = 0; j < MMAS_N; j += 4) {
                if (sizeof(Result) == 2 && output.vectors) {
                    store_vector(output, row, i, j, quad);
                } else {
#pragma unroll
                    for (int p = j; p < j + 4; ++p)
                        output.pair(row, warp_n_ + p * 8 + quad * 2, low(i, p), high(i, p));
                }
            }
        }
    }

   private:
    __device__ float low(int i, int j) const { return sums_[i / 2][j][i % 2 * 2]; }
    __device__ float high(int i, int j) const { return sums_[i / 2][j][i % 2 * 2 + 1]; }

    // The four lanes that share a row trade their pairs, so that each owns 8 neighbouring columns:
    // one 16-byte store.
    __device__ void store_vector(const Output& output, int row, int i, int j, int quad) const {
        u32 pairs[4];
#pragma unroll
        for (int p = 0; p < 4; ++p) pairs[p] = rounded_pair(low(i, j + p), high(i, j + p));
        transpose_quad(pairs, quad);
        output.vector(row, warp_n_ + j * 8 + quad * 8, pairs);
    }

    // Transposes the 4x4 matrix whose row q is `word` in lane q of each group of four lanes.
    __device__ static void transpose_quad(u32 (&word)[4], int quad) {
#pragma unroll
        for (int bit = 1; bit < 4; bit *= 2)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if ((i & bit) == 0) {
                    const bool upper = quad & bit;
                    const u32 theirs =
                        __shfl_xor_sync(~0u, upper ? word[i] : word[i + bit], bit);
                    (upper ? word[i] : word[i + bit]) = theirs;
                }
    }

    int warp_m_, warp_n_;  // the warp's first row and column within the block's tile
    u32 a_, b_;            // byte offsets in a stage of the row that this lane names
    u32 fragments_a_[SETS][MMAS_M][4];
    u32 fragments_b_[SETS][MMAS_N / 2][4];
    float sums_[MMAS_M][MMAS_N][4] = {};
};
