// How a block divides its threads, its shared memory and its part of the product.
#pragma once

#include "config.h"
#include "ptx.cuh"

namespace config {
constexpr int TILE_K = 128 / ELEMENT_BYTES;  // one swizzled line
}
constexpr int STEPS = 128 / 32;  // along a line: one wgmma takes 32 bytes of K

constexpr bool SPECIALIZED = config::ROLES != Roles::none;
constexpr bool PINGPONG = config::ROLES == Roles::pingpong;
constexpr int GROUP_THREADS = 128;
constexpr int GROUPS = config::CONSUMERS + (SPECIALIZED ? 1 : 0);
constexpr int THREADS = GROUPS * GROUP_THREADS;

// A cluster: SPLIT_K teams, one for each part of K, of blocks that share operands.
constexpr int TEAM = config::CLUSTER_M * config::CLUSTER_N;
constexpr int CLUSTER = TEAM * config::SPLIT_K;

// Rows of the tile that one consumer accumulates, in blocks of the 64 that one wgmma takes.
constexpr int ROWS = PINGPONG ? config::TILE_M : config::TILE_M / config::CONSUMERS;
constexpr int BLOCKS = ROWS / 64;

// One operand in one stage. If K is contiguous, rows of one line follow each other; if M (or N)
// is, which only elements of 16 bits may be, panels of 64 such elements by 64 K-rows do.
template <int EXTENT, bool K_CONTIGUOUS_>
struct OperandTile {
    static constexpr bool K_CONTIGUOUS = K_CONTIGUOUS_;
    static constexpr int PANEL_BYTES = 64 * 128;
    static constexpr int PANELS = (EXTENT + 63) / 64;
    static constexpr u32 BYTES = K_CONTIGUOUS ? EXTENT * 128 : PANELS * PANEL_BYTES;

    // Byte offset of element `mn` along M (or N), a multiple of 8 or of 64.
    __device__ static constexpr u32 at(int mn) {
        return K_CONTIGUOUS ? mn * 128 : mn / 64 * PANEL_BYTES;
    }

    // What wgmma is told of the K-elements that start `step` steps into the tile.
    __device__ static u64 descriptor(u32 address, int step) {
        constexpr u64 SWIZZLE_128 = 1ull << 62;
        constexpr u64 EIGHT_ROWS = 1024 / 16;
        constexpr u64 NEXT_PANEL = K_CONTIGUOUS ? 1 : PANEL_BYTES / 16;
        const u32 start = address + step * (K_CONTIGUOUS ? 32 : 16 * 128);
        return SWIZZLE_128 | EIGHT_ROWS << 32 | NEXT_PANEL << 16 | (start & 0x3FFFF) >> 4;
    }
};

using TileA = OperandTile<config::TILE_M, config::A_K_CONTIGUOUS>;
using TileB = OperandTile<config::TILE_N, config::B_K_CONTIGUOUS>;
constexpr u32 STAGE_BYTES = TileA::BYTES + TileB::BYTES;

// The result leaves in panels of C. With SWAPPED operands the accumulators hold the transpose.
__device__ constexpr int widest_panel(int extent) {
    return extent % 64 == 0 ? 64 : extent % 32 == 0 ? 32 : 16;
}
constexpr int PANEL_COLS = config::SWAPPED ? 64 : widest_panel(config::TILE_N);
constexpr int PANEL_ROWS = config::SWAPPED ? config::TILE_N : ROWS;
constexpr int PANELS = config::SWAPPED ? BLOCKS : config::TILE_N / PANEL_COLS;
constexpr u32 PANEL_BYTES = PANEL_ROWS * PANEL_COLS * 2;
constexpr u32 SLOTS_BYTES = config::STORES == Stores::direct
                                ? 0
                                : config::CONSUMERS * config::STORE_SLOTS * PANEL_BYTES;

// Shared memory, from its first multiple of 1024 bytes: stages, panels on their way out, and
// two barriers a stage.
struct Shared {
    u32 stages, panels, full, empty;

    __device__ explicit Shared(const void* raw)
        : stages((shared_address(raw) + 1023) & ~1023u),
          panels(stages + config::STAGES * STAGE_BYTES),
          full(panels + SLOTS_BYTES),
          empty(full + 8 * config::STAGES) {}

    __device__ u32 a(int stage) const { return stages + stage * STAGE_BYTES; }
    __device__ u32 b(int stage) const { return a(stage) + TileA::BYTES; }
};

// A place in the ring of stages. The phase flips at each lap, also from one tile to the next.
struct Ring {
    int stage = 0;
    u32 phase = 0;

    __device__ void next() {
        if (++stage == config::STAGES) {
            stage = 0;
            phase ^= 1;
        }
    }
    __device__ void skip(int count) {
        const int to = stage + count;
        phase ^= to / config::STAGES & 1;
        stage = to % config::STAGES;
    }
};
