// Which tiles of the product a block computes, and in which order.
#pragma once

#include "layout.cuh"

// Where in the product a tile begins, in elements.
struct Place {
    int row;  // of A's tile
    int col;  // of B's tile
};

// How clusters walk the grid of cluster-sized tiles: in bands `group` wide that run along one
// side, so that those which run at the same time share rows of A and columns of B in L2.
struct Raster {
    int along_rows;  // bands run from the first row to the last
    int group;
};

struct Schedule {
    int rows, cols, tiles;
    Raster raster;
    int part, k_first, k_tiles;  // this block's part of K, in tiles
    int rank, first, step;       // rank: in the team

    __device__ Schedule(int m, int n, int k, const Raster& raster_, int rank_)
        : rows(cut(m, config::TILE_M * config::CLUSTER_M)),
          cols(cut(n, config::TILE_N * config::CLUSTER_N)),
          tiles(rows * cols),
          raster(raster_),
          part(rank_ / TEAM),
          rank(rank_ % TEAM),
          first(blockIdx.x / CLUSTER),
          step(gridDim.x / CLUSTER) {
        const int all = cut(k, config::TILE_K);
        k_first = all * part / config::SPLIT_K;
        k_tiles = all * (part + 1) / config::SPLIT_K - k_first;
    }

    __device__ Place at(int tile) const {
        const int length = raster.along_rows ? rows : cols;
        const int across = raster.along_rows ? cols : rows;
        const int band = raster.group * length;
        const int start = tile / band * raster.group;
        const int width = min(raster.group, across - start);  // the last band may be narrower
        const int wide = start + tile % band % width;
        const int far = tile % band / width;
        const int row = raster.along_rows ? far : wide, col = raster.along_rows ? wide : far;
        return {(row * config::CLUSTER_M + rank_m()) * config::TILE_M,
                (col * config::CLUSTER_N + rank_n()) * config::TILE_N};
    }

    // Where this block stands in its team: blocks of one column share B, of one row A.
    __device__ int rank_m() const { return rank % config::CLUSTER_M; }
    __device__ int rank_n() const { return rank / config::CLUSTER_M; }

    // The rank in the cluster of a block of the same team, and of this block's like in another.
    __device__ int in_team(int rank_) const { return part * TEAM + rank_; }
    __device__ int in_part(int part_) const { return part_ * TEAM + rank; }

    __device__ static int cut(int extent, int tile) { return (extent + tile - 1) / tile; }
};
