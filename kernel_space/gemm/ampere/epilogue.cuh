// Where a block's sums go: a tile of C that may hang over its edges.
#pragma once

#include "store.cuh"
#include "tile.cuh"

struct Output {
    Result* tile;     // first element of the block's tile
    long long pitch;  // elements from one row of C to the next
    int rows, cols;   // what is left of C from the tile's first element on
    bool vectors;     // every 16-byte vector of a row is aligned, and inside or outside as one
    bool pairs;       // so is every pair of elements

    __device__ static Output of(Result* c, long long pitch, int m, int n, Place place) {
        const int row = place.m * config::TILE_M;
        const int col = place.n * config::TILE_N;
        return {c + row * pitch + col,
                pitch,
                m - row,
                n - col,
                stored_in<16>(c, pitch, n),
                stored_in<2 * sizeof(Result)>(c, pitch, n)};
    }

    // Stores 8 neighbouring 16-bit elements.
    __device__ void vector(int row, int col, const u32 (&words)[4]) const {
        if (row < rows && col < cols)
            *reinterpret_cast<uint4*>(at(row, col)) = {words[0], words[1], words[2], words[3]};
    }

    // Stores two neighbouring sums.
    __device__ void pair(int row, int col, float low, float high) const {
        if (row < rows && col < cols) store_sums(at(row, col), low, high, cols - col, pairs);
    }

    // Stores 4 neighbouring floats.
    __device__ void floats(int row, int col, const float (&sums)[4]) const {
        if (row >= rows) return;
        if (vectors) {
            if (col < cols)
                *reinterpret_cast<float4*>(at(row, col)) = {sums[0], sums[1], sums[2], sums[3]};
        } else {
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if (col + i < cols) *at(row, col + i) = sums[i];
        }
    }

   private:
    // Whether whole rows of C can be stored BYTES at a time.
    template <int BYTES>
    __device__ static bool stored_in(const Result* c, long long pitch, int n) {
        constexpr int ELEMENTS = BYTES / sizeof(Result);
        return reinterpret_cast<unsigned long long>(c) % BYTES == 0 && pitch % ELEMENTS == 0 &&
               n % ELEMENTS == 0;
    }

    __device__ Result* at(int row, int col) const { return tile + row * pitch + col; }
};
