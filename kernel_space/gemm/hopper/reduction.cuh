// Sums that several blocks hold in parts, brought together.
#pragma once

#include "consumer.cuh"
#include "destination.cuh"

// Split K: the blocks of a cluster hold partial sums of one tile. Each leaves its own in shared
// memory, where the main loop has no more use for it, and adds up its share of everybody's.
struct Reduction {
    static constexpr int C_ROWS = config::SWAPPED ? config::TILE_N : config::TILE_M;
    static constexpr int C_COLS = config::SWAPPED ? config::TILE_M : config::TILE_N;
    static constexpr int PITCH = C_COLS + 4;  // in floats; keeps quads aligned and banks apart

    const Destination& to;

    __device__ void leave(const Accumulators& accumulators, int first_row, int thread) const {
        const int warp = thread / 32, lane = thread % 32;
#pragma unroll
        for (int block = 0; block < BLOCKS; ++block)
#pragma unroll
            for (int i = 0; i < config::TILE_N / 2; ++i) {
                const int row = first_row + block * 64 + warp * 16 + lane / 4 + i / 2 % 2 * 8;
                const int col = i / 4 * 8 + lane % 4 * 2 + i % 2;
                const int at = config::SWAPPED ? col * PITCH + row : row * PITCH + col;
                store_shared(to.shared.stages + at * 4, accumulators.sum[block][i]);
            }
    }

    __device__ void add(const Place& place, const Schedule& schedule, int thread) const {
        constexpr int QUADS = C_ROWS * C_COLS / 4;
        const int top = config::SWAPPED ? place.col : place.row;
        const int left = config::SWAPPED ? place.row : place.col;
        const int end = QUADS * (schedule.part + 1) / config::SPLIT_K;
        for (int quad = QUADS * schedule.part / config::SPLIT_K + thread; quad < end;
             quad += config::CONSUMERS * GROUP_THREADS) {
            const int row = quad / (C_COLS / 4), col = quad % (C_COLS / 4) * 4;
            if (top + row >= to.rows || left + col >= to.cols) continue;
            float4 sum = {0, 0, 0, 0};
#pragma unroll
            for (int peer = 0; peer < config::SPLIT_K; ++peer) {  // in order: always the same bits
                const float4 part = load_remote(to.shared.stages + (row * PITCH + col) * 4,
                                                schedule.in_part(peer));
                sum = {sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w};
            }
            put(top + row, left + col, sum);
        }
    }

   private:
    __device__ void put(int row, int col, const float4& sum) const {
        Result* const at = to.at(row, col);
        const int left = to.cols - col;
        if (to.cols % 4 == 0) {
            store_four(at, sum);
        } else {
            store_sums(at, sum.x, sum.y, left, false);
            if (left > 2) store_sums(at + 2, sum.z, sum.w, left - 2, false);
        }
    }
};
