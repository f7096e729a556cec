// The producer: one thread that keeps the ring of stages filled by the copy engine.
#pragma once

#include "schedule.cuh"

// Blocks of a team that share an operand, one bit for each rank: a column of them a tile of B, a
// row of them a tile of A.
constexpr u32 COLUMN_RANKS = (1 << config::CLUSTER_M) - 1;
constexpr u32 ROW_RANKS = ((1 << TEAM) - 1) / COLUMN_RANKS;

// The policy of copies that ask for none. What createpolicy makes of evict_normal is another one:
// with it copies that find their lines in L2 took up to half as long again on an H200.
constexpr u64 NO_POLICY = 0x1000000000000000;

template <bool KEPT>
__device__ __forceinline__ u64 policy_of() {
    if constexpr (config::KEEP == Keep::neither)
        return NO_POLICY;
    else
        return cache_policy<KEPT ? Eviction::last : Eviction::first>();
}

// With SWAPPED operands the caller's B is what is called A here.
constexpr Keep KEEP_A = config::SWAPPED ? Keep::b : Keep::a;

struct Producer {
    const TensorMap &a_map, &b_map;
    const Shared& shared;
    const Schedule& schedule;
    const u64 a_policy = policy_of<config::KEEP == KEEP_A>();
    const u64 b_policy = policy_of<config::KEEP != KEEP_A>();

    // Asks for one stage. Blocks that share an operand load a slice each, for one another too.
    __device__ void load(int stage, const Place& place, int k_tile) const {
        const int k = (schedule.k_first + k_tile) * config::TILE_K;
        barrier_expect(shared.full + 8 * stage, STAGE_BYTES);
        load_slice<TileA, config::TILE_M, config::CLUSTER_N>(
            a_map, shared.a(stage), stage, place.row, k, schedule.rank_n(),
            ROW_RANKS << schedule.in_team(schedule.rank_m()), a_policy);
        load_slice<TileB, config::TILE_N, config::CLUSTER_M>(
            b_map, shared.b(stage), stage, place.col, k, schedule.rank_m(),
            COLUMN_RANKS << schedule.in_team(schedule.rank_n() * config::CLUSTER_M), b_policy);
    }

    // Asks for every stage of every tile, each as soon as its place in the ring is free.
    __device__ void fill() const {
        wait_for_launch_before();
        Ring ring;
        for (int i = schedule.first; i < schedule.tiles; i += schedule.step) {
            const Place place = schedule.at(i);
            for (int k_tile = 0; k_tile < schedule.k_tiles; ++k_tile, ring.next()) {
                barrier_wait(shared.empty + 8 * ring.stage, ring.phase ^ 1);  // first lap: free
                load(ring.stage, place, k_tile);
            }
        }
        let_next_launch_start();
        if constexpr (TEAM > 1) drain(ring);
    }

   private:
    // Stays until every reader of every stage, here and in other blocks, has said so to the barriers
    // of this block: then nobody signals them any more, and the block may leave.
    __device__ void drain(Ring ring) const {
        for (int stage = 0; stage < config::STAGES; ++stage, ring.next())
            barrier_wait(shared.empty + 8 * ring.stage, ring.phase ^ 1);
    }

    template <class Operand, int EXTENT, int SHARERS>
    __device__ void load_slice(const TensorMap& map, u32 to, int stage, int mn, int k, int slice,
                               u32 ranks, u64 policy) const {
        constexpr int SLICE = EXTENT / SHARERS;
        const u32 full = shared.full + 8 * stage;
        const int from = slice * SLICE;
        if constexpr (Operand::K_CONTIGUOUS) {
            load_one<SHARERS>(to + Operand::at(from), map, full, k, mn + from, policy, ranks);
        } else {
#pragma unroll
            for (int at = 0; at < SLICE; at += 64)
                load_one<SHARERS>(to + Operand::at(from + at), map, full, mn + from + at, k, policy,
                                  ranks);
        }
    }

    template <int SHARERS>
    __device__ static void load_one(u32 to, const TensorMap& map, u32 full, int x, int y,
                                    u64 policy, u32 ranks) {
        if constexpr (SHARERS > 1)
            load_box_at(to, map, full, x, y, policy, static_cast<u16>(ranks));
        else
            load_box(to, map, full, x, y, policy);
    }
};
