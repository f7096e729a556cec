// Tiles: which part of the product a block owns, and how a tile lies in shared memory.
#pragma once

#include "vocabulary.cuh"

#include "config.h"

constexpr bool TENSOR_CORES = config::DTYPE != Dtype::fp32;
constexpr int WARPS_M = config::TILE_M / config::WARP_M;
constexpr int WARPS_N = config::TILE_N / config::WARP_N;
constexpr int CONSUMERS = WARPS_M * WARPS_N * 32;  // threads that multiply; they come first
constexpr int THREADS = CONSUMERS + config::PRODUCERS;
constexpr int COPIERS = config::PRODUCERS > 0 ? config::PRODUCERS : THREADS;

using Element = Stored<config::DTYPE>::type;
constexpr int ELEMENT_BYTES = sizeof(Element);

// A tile of ROWS rows of COLS contiguous elements, as it lies in one stage of shared memory.
//
// Rows follow each other without padding. The 16-byte chunks of a row are permuted: chunk c
// lies where c XOR twist(row) would, so that 8 consecutive rows keep one logical chunk in 8
// different positions of a 128-byte line. Reading a column of chunks (ldmatrix, LDS.128) then
// touches every bank once, and so does writing a row of them.
template <int ROWS_, int COLS_>
struct Tile {
    static constexpr int ROWS = ROWS_;
    static constexpr int COLS = COLS_;
    static constexpr int ROW_BYTES = COLS * ELEMENT_BYTES;
    static constexpr int BYTES = ROWS * ROW_BYTES;

    __device__ static constexpr u32 twist(int row) {
        constexpr int CHUNKS = ROW_BYTES / 16;
        constexpr int ROWS_IN_A_LINE = CHUNKS < 8 ? 8 / CHUNKS : 1;
        constexpr int POSITIONS = CHUNKS < 8 ? CHUNKS : 8;
        return row / ROWS_IN_A_LINE % POSITIONS * 16;
    }

    // Byte offset of element (row, col).
    __device__ static constexpr u32 offset(int row, int col) {
        return (row * ROW_BYTES + col * ELEMENT_BYTES) ^ twist(row);
    }

    // Address of the element `rows` and `cols` away from the one at `address`, at the cost of
    // one XOR. Distances are compile-time constants whose set bits are clear in the row and
    // column that `address` was made from, so adding and XORing them is the same thing. Stages
    // begin at multiples of 128 bytes, which leaves the low 7 bits to the permutation.
    __device__ static constexpr u32 moved(u32 address, int rows, int cols) {
        const u32 distance = offset(rows, cols);
        return (address ^ (distance & 127)) + (distance & ~127u);
    }
};

// The tile of one operand: its rows run along M (or N) if K is contiguous in memory, and
// along K if M (or N) is.
template <int EXTENT, bool K_CONTIGUOUS_>
struct OperandTile : Choose<K_CONTIGUOUS_, Tile<EXTENT, config::TILE_K>,
                            Tile<config::TILE_K, EXTENT>>::type {
    static constexpr bool K_CONTIGUOUS = K_CONTIGUOUS_;

    // Like Tile::offset and Tile::moved, for element `mn` along M (or N) and `k` along K.
    __device__ static constexpr u32 at(int mn, int k) {
        return K_CONTIGUOUS ? OperandTile::offset(mn, k) : OperandTile::offset(k, mn);
    }
    __device__ static constexpr u32 moved_by(u32 address, int mn, int k) {
        return K_CONTIGUOUS ? OperandTile::moved(address, mn, k)
                            : OperandTile::moved(address, k, mn);
    }
};

using TileA = OperandTile<config::TILE_M, !config::A_TRANSPOSED>;
using TileB = OperandTile<config::TILE_N, config::B_TRANSPOSED>;

// One stage holds a tile of A and, behind it, a tile of B.
constexpr int STAGE_BYTES = TileA::BYTES + TileB::BYTES;

// The tile of C that a block computes, counted in tiles.
struct Place {
    int m;
    int n;
};

// Blocks walk the tiles of C in bands `group` tiles wide, so that blocks which run at the same
// time share rows of A and columns of B in L2. A band runs along M or along N.
__device__ inline Place place_of(int block, int tiles_m, int tiles_n, bool along_m, int group) {
    const int along = along_m ? tiles_m : tiles_n;
    const int across = along_m ? tiles_n : tiles_m;
    const int first = block / (group * along) * group;
    const int width = group < across - first ? group : across - first;  // the last is narrower
    const int inside = block - first * along;
    const int far = inside / width;
    const int wide = first + inside % width;
    return along_m ? Place{far, wide} : Place{wide, far};
}
