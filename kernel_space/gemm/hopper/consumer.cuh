// A consumer: a warp group that multiplies what lies in the ring into its accumulators.
#pragma once

#include "producer.cuh"
#include "wgmma.cuh"

struct Accumulators {
    float sum[BLOCKS][config::TILE_N / 2];

    // Starts to multiply one stage. The first product of a tile overwrites what was there.
    __device__ __forceinline__ void multiply(u32 a, u32 b, bool first) {
        product_fence();
#pragma unroll
        for (int step = 0; step < STEPS; ++step)
#pragma unroll
            for (int block = 0; block < BLOCKS; ++block)
                WarpGroupProduct<config::TILE_N>::run(
                    sum[block], TileA::descriptor(a + TileA::at(block * 64), step),
                    TileB::descriptor(b, step), !first || step > 0);
        product_commit();
    }

    // Waits for every product; only then may the compiler touch the sums. What scales them is on
    // its way while the last product runs.
    __device__ __forceinline__ void finish(const float* scale) {
        float factor = 1;
        if constexpr (config::SCALED) factor = load_fresh(scale);
        product_wait<0>();
#pragma unroll
        for (int block = 0; block < BLOCKS; ++block)
#pragma unroll
            for (int i = 0; i < config::TILE_N / 2; ++i) {
                asm volatile("" : "+f"(sum[block][i]));
                if constexpr (config::SCALED) sum[block][i] *= factor;
            }
    }
};

struct Consumer {
    const Shared& shared;
    const Schedule& schedule;
    const float* scale;
    int index;   // among the consumers
    int thread;  // in the warp group

    __device__ int first_row() const { return PINGPONG ? 0 : index * ROWS; }

    // Takes one tile. A stage is given back when its product is done, which is waited for as soon as
    // it, or the next one, has been issued. `issued` is called once the last one is under way.
    template <class Issued>
    __device__ __forceinline__ void multiply_tile(Accumulators& accumulators, Ring& ring,
                                                  Issued issued) const {
        int previous = 0;
#pragma unroll 1
        for (int k_tile = 0; k_tile < schedule.k_tiles; ++k_tile, ring.next()) {
            if (config::IN_FLIGHT == 1 && k_tile > 0) give_back(previous);
            barrier_wait(shared.full + 8 * ring.stage, ring.phase);
            accumulators.multiply(shared.a(ring.stage) + TileA::at(first_row()),
                                  shared.b(ring.stage), k_tile == 0);
            if (config::IN_FLIGHT == 2 && k_tile > 0) give_back(previous);
            previous = ring.stage;
        }
        issued();
        accumulators.finish(scale);
        release(previous);
    }

   private:
    // Waits for the product of this stage, but not for one that was issued after it.
    __device__ __forceinline__ void give_back(int stage) const {
        product_wait<config::IN_FLIGHT - 1>();
        release(stage);
    }

    // Tells every block that writes into this stage that it is free: one thread for each.
    __device__ __forceinline__ void release(int stage) const {
        const u32 empty = shared.empty + 8 * stage;
        if constexpr (TEAM > 1) {
            const bool shares = thread % config::CLUSTER_M == schedule.rank_m() ||
                                thread / config::CLUSTER_M == schedule.rank_n();
            if (thread < TEAM && shares) barrier_arrive_at(empty, schedule.in_team(thread));
        } else if (thread == 0) {
            barrier_arrive(empty);
        }
    }
};
