// A warp's part of the product on CUDA cores: each lane owns a grid of fp32 sums.
#pragma once

#include "epilogue.cuh"
#include "ptx.cuh"

// 8 x 4 lanes share the warp's tile. A lane owns MICRO_M rows, interleaved with those of the
// other lanes, and MICRO_N columns in groups of four neighbours (one 16-byte store each).
template <int SETS>
class FfmaProduct {
    static constexpr int MICRO_M = config::WARP_M / 8;
    static constexpr int MICRO_N = config::WARP_N / 4;
    static constexpr int K_STEP = 4;
    // Rows of A that neighbour each other, so that one load brings them if M is contiguous.
    static constexpr int ROWS = TileA::K_CONTIGUOUS ? 1 : MICRO_M < 4 ? MICRO_M : 4;

   public:
    static constexpr int K_STEPS = config::TILE_K / K_STEP;

    __device__ FfmaProduct() {
        const int lane = threadIdx.x % 32;
        const int warp = threadIdx.x / 32;
        // Bits 1, 2 and 4 of the lane choose its rows, bits 0 and 3 its columns: neighbours
        // then read the same word of A or of B, and a load of 8 lanes never meets a bank twice.
        row_ = warp % WARPS_M * config::WARP_M + (lane / 2 % 4 + lane / 16 * 4) * ROWS;
        col_ = warp / WARPS_M * config::WARP_N + (lane % 2 + lane / 8 % 2 * 2) * 4;
        a_ = TileA::at(row_, 0);
        b_ = TileB::at(col_, 0) + TileA::BYTES;
    }

    // Loads step `step` (four values of k) from the stage at address `stage`.
    __device__ void load(int set, u32 stage, int step) {
        Fragments& fragments = fragments_[set];
        if constexpr (TileA::K_CONTIGUOUS) {
#pragma unroll
            for (int i = 0; i < MICRO_M; ++i) {
                float along_k[K_STEP];
                load_shared(along_k, TileA::moved_by(stage + a_, row(i), step * K_STEP));
#pragma unroll
                for (int k = 0; k < K_STEP; ++k) fragments.a[k][i] = along_k[k];
            }
        } else {
#pragma unroll
            for (int k = 0; k < K_STEP; ++k)
#pragma unroll
                for (int i = 0; i < MICRO_M; i += ROWS) {
                    float along_m[ROWS];
                    load_shared(along_m,
                                TileA::moved_by(stage + a_, row(i), step * K_STEP + k));
#pragma unroll
                    for (int r = 0; r < ROWS; ++r) fragments.a[k][i + r] = along_m[r];
                }
        }
        if constexpr (TileB::K_CONTIGUOUS) {
#pragma unroll
            for (int j = 0; j < MICRO_N; ++j) {
                float along_k[K_STEP];
                load_shared(along_k, TileB::moved_by(stage + b_, col(j), step * K_STEP));
#pragma unroll
                for (int k = 0; k < K_STEP; ++k) fragments.b[k][j] = along_k[k];
            }
        } else {
#pragma unroll
            for (int k = 0; k < K_STEP; ++k)
#pragma unroll
                for (int j = 0; j < MICRO_N; j += 4) {
                    float along_n[4];
                    load_shared(along_n,
                                TileB::moved_by(stage + b_, col(j), step * K_STEP + k));
#pragma unroll
                    for (int c = 0; c < 4; ++c) fragments.b[k][j + c] = along_n[c];
                }
        }
    }

    __device__ void multiply(int set) {
#pragma unroll
        for (int k = 0; k < K_STEP; ++k)
#pragma unroll
            for (int i = 0; i < MICRO_M; ++i)
#pragma unroll
                for (int j = 0; j < MICRO_N; ++j)
                    sums_[i][j] =
                        __fmaf_rn(fragments_[set].a[k][i], fragments_[set].b[k][j], sums_[i][j]);
    }

    __device__ void store(const Output& output) const {
#pragma unroll
        for (int i = 0; i < MICRO_M; ++i)
#pragma unroll
            for (int j = 0; j < MICRO_N; j += 4) {
                const float(&s)[MICRO_N] = sums_[i];
                const float sums[4] = {s[j], s[j + 1], s[j + 2], s[j + 3]};
                output.floats(row_ + row(i), col_ + col(j), sums);
            }
    }

   private:
    // Distance of the lane's i-th row and j-th column from its first.
    __device__ static constexpr int row(int i) { return i / ROWS * ROWS * 8 + i % ROWS; }
    __device__ static constexpr int col(int j) { return j / 4 * 16 + j % 4; }

    struct Fragments {
        float a[K_STEP][MICRO_M];
        float b[K_STEP][MICRO_N];
    };

    int row_, col_;  // the lane's first row and column within the block's tile
    u32 a_, b_;      // their byte offsets in a stage
    Fragments fragments_[SETS];
    float sums_[MICRO_M][MICRO_N] = {};
};
