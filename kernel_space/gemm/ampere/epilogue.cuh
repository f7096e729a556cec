// Where a block's sums go: a tile of C that may hang over its edges.
#pragma once

#include "tile.cuh"

struct Output {
    Element* tile;    // first element of the block's tile
    long long pitch;  // elements from one row of C to the next
    int rows, cols;   // what is left of C from the tile's first element on
    bool vectors;     // every 16-byte vector of a row is aligned, and inside or outside as one
    bool pairs;       // so is every pair of elements

    __device__ static Output of(Element* c, long long pitch, int m, int n, Place place) {
        const int row = place.m * config::TILE_M;
        const int col = place.n * config::TILE_N;
        return {c + row * pitch + col,
                pitch,
                m - row,
                n - col,
                stored_in<16>(c, pitch, n),
                stored_in<2 * ELEMENT_BYTES>(c, pitch, n)};
    }

    // Stores 8 neighbouring 16-bit elements.
    __device__ void vector(int row, int col, const u32 (&words)[4]) const {
        if (row < rows && col < cols)
            *reinterpret_cast<uint4*>(at(row, col)) = {words[0], words[1], words[2], words[3]};
    }

    // Stores two neighbouring 16-bit elements.
    __device__ void pair(int row, int col, u32 word) const {
        if (row >= rows || col >= cols) return;
        if (pairs) {
            *reinterpret_cast<u32*>(at(row, col)) = word;
        } else {
            *at(row, col) = static_cast<Element>(word);
            if (col + 1 < cols) *at(row, col + 1) = static_cast<Element>(word >> 16);
        }
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
    __device__ static bool stored_in(const Element* c, long long pitch, int n) {
        constexpr int ELEMENTS = BYTES / ELEMENT_BYTES;
        return reinterpret_cast<unsigned long long>(c) % BYTES == 0 && pitch % ELEMENTS == 0 &&
               n % ELEMENTS == 0;
    }

    __device__ Element* at(int row, int col) const { return tile + row * pitch + col; }
};
