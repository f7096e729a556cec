// Which tiles of the product a block computes, and in which order.
#pragma once

#include "layout.cuh"

struct Tile {
    int row;     // of A's tile
    int column;  // of B's tile
};

// Clusters walk the grid of cluster-sized tiles in bands, so that those which run at the same
// time share rows of A and columns of B in L2.
struct Schedule {
    int rows, columns, tiles;
    int k_first, k_tiles;  // this block's part of K, in tiles
    int rank, first, step;

    __device__ Schedule(int m, int n, int k, int rank_)
        : rows(cut(m, config::TILE_M * config::CLUSTER_M)),
          columns(cut(n, config::TILE_N * config::CLUSTER_N)),
          tiles(rows * columns),
          rank(rank_),
          first(blockIdx.x / CLUSTER),
          step(gridDim.x / CLUSTER) {
        const int all = cut(k, config::TILE_K);
        const int part = config::SPLIT_K > 1 ? rank : 0;
        k_first = all * part / config::SPLIT_K;
        k_tiles = all * (part + 1) / config::SPLIT_K - k_first;
    }

    __device__ Tile at(int tile) const {
        constexpr bool ALONG_N = config::RASTER_ALONG_N;
        const int lines = ALONG_N ? columns : rows;
        const int across = ALONG_N ? rows : columns;
        const int band = config::RASTER_GROUP * across;
        const int top = tile / band * config::RASTER_GROUP;
        const int height = min(lines - top, config::RASTER_GROUP);
        const int line = top + tile % band % height;
        const int other = tile % band / height;
        return {(ALONG_N ? other : line) * config::TILE_M * config::CLUSTER_M +
                    rank_m() * config::TILE_M,
                (ALONG_N ? line : other) * config::TILE_N * config::CLUSTER_N +
                    rank_n() * config::TILE_N};
    }

    // Where this block stands in its cluster: blocks of one column share B, of one row A.
    __device__ int rank_m() const { return config::SPLIT_K > 1 ? 0 : rank % config::CLUSTER_M; }
    __device__ int rank_n() const { return config::SPLIT_K > 1 ? 0 : rank / config::CLUSTER_M; }

    static __device__ int cut(int extent, int tile) { return (extent + tile - 1) / tile; }
};
