// Sums go to C straight from registers: no barrier, but short stores.
#pragma once

#include "consumer.cuh"
#include "destination.cuh"

template <class Element>  // of C
struct DirectEpilogue {
    const Destination& to;
    int consumer, thread;

    // A thread holds pairs of neighbouring columns, in two of every 16 rows.
    __device__ __forceinline__ void store(const Accumulators& accumulators, const Place& place,
                                          int first_row) const {
        const int warp = thread / 32, lane = thread % 32;
#pragma unroll
        for (int block = 0; block < BLOCKS; ++block)
#pragma unroll
            for (int i = 0; i < config::TILE_N / 2; i += 2) {
                const float(&sum)[config::TILE_N / 2] = accumulators.sum[block];
                const int row = first_row + block * 64 + warp * 16 + lane / 4 + i / 2 % 2 * 8;
                const int col = i / 4 * 8 + lane % 4 * 2;
                put(place.row + row, place.col + col, sum[i], sum[i + 1]);
            }
    }

    __device__ void finish() const {}

   private:
    // Of a transposed tile the two stand in two rows of C, but eight lanes in one: whole sectors,
    // as long as sums are stored as they are.
    __device__ void put(int row, int col, float low, float high) const {
        if constexpr (config::SWAPPED) {
            put_one(col, row, low);
            put_one(col + 1, row, high);
        } else if (row < to.rows && col < to.cols) {
            store_sums(to.at(row, col), low, high, to.cols - col, to.cols % 2 == 0);
        }
    }
    __device__ void put_one(int row, int col, float sum) const {
        static_assert(sizeof(Element) == 4 || config::SPLIT_K > 1,
                      "a transposed tile is rounded in shared memory");
        if (row < to.rows && col < to.cols) *to.at(row, col) = static_cast<Element>(sum);
    }
};
