// C = A * B on Hopper: tensor copies (TMA) fill a ring of stages, warp groups multiply (wgmma).
//
// A producer warp group that only issues copies keeps the ring full while one to three consumer
// warp groups multiply; or, with no roles, every group waits for what one thread has asked for.
#pragma once

#include "epilogue_direct.cuh"
#include "epilogue_staged.cuh"
#include "reduction.cuh"
#ifdef REPACK
#include "pack.cuh"
#endif

using Epilogue = Choose<config::STORES == Stores::direct, DirectEpilogue<Result>,
                        StagedEpilogue<Result>>::type;

// Registers of a thread once the roles are known: what the producer gives up, consumers take.
// To speak to many blocks takes more.
constexpr int PRODUCER_REGISTERS = config::CONSUMERS == 3 ? (CLUSTER > 1 ? 56 : 32)
                                   : TEAM > 2             ? 56
                                   : CLUSTER > 1          ? 40
                                                          : 24;
constexpr int CONSUMER_REGISTERS = config::CONSUMERS == 3 ? (CLUSTER > 1 ? 152 : 160)
                                   : TEAM > 2             ? 224
                                   : CLUSTER > 1          ? 232
                                                          : 240;

// How many arrivals free a stage: one from each consumer of each block that reads or shares it.
constexpr int READERS = (PINGPONG ? 1 : config::CONSUMERS) *
                        (config::CLUSTER_M + config::CLUSTER_N - 1);

__device__ __forceinline__ void start_barriers(const Shared& shared) {
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < config::STAGES; ++stage) {
            barrier_init(shared.full + 8 * stage, 1);
            barrier_init(shared.empty + 8 * stage, READERS);
        }
        barrier_init_fence();
    }
    if constexpr (CLUSTER > 1)
        cluster_sync();  // nobody may signal a barrier that its owner has not initialised
    else
        __syncthreads();
}

// Consumers that take turns: the main loop of one runs while the other stores.
struct Turns {
    static constexpr int FIRST_BARRIER = 4;
    int consumer, taken = 0;

    __device__ void wait() {
        if (consumer == 1 || taken++ > 0)
            group_sync(FIRST_BARRIER + consumer, 2 * GROUP_THREADS);
    }
    __device__ void pass() const {
        group_arrive(FIRST_BARRIER + (consumer ^ 1), 2 * GROUP_THREADS);
    }
};

__device__ __forceinline__ void consume(const Consumer& consumer, Epilogue epilogue) {
    const Schedule& schedule = consumer.schedule;
    Ring ring;
    if constexpr (PINGPONG) {
        Turns turns{consumer.index};
        if (consumer.index == 1) ring.skip(schedule.k_tiles);
        for (int i = schedule.first + consumer.index * schedule.step; i < schedule.tiles;
             i += 2 * schedule.step) {
            Accumulators accumulators;
            turns.wait();
            consumer.multiply_tile(accumulators, ring, [&] { turns.pass(); });
            ring.skip(schedule.k_tiles);
            epilogue.store(accumulators, schedule.at(i), 0);
        }
    } else {
        for (int i = schedule.first; i < schedule.tiles; i += schedule.step) {
            Accumulators accumulators;
            consumer.multiply_tile(accumulators, ring, [] {});
            epilogue.store(accumulators, schedule.at(i), consumer.first_row());
        }
    }
    epilogue.finish();
}

// Takes one tile in SPLIT_K parts. Every thread of the cluster passes both cluster barriers.
__device__ __forceinline__ void consume_part(const Consumer& consumer, const Reduction& reduction) {
    const Schedule& schedule = consumer.schedule;
    const int thread = consumer.index * GROUP_THREADS + consumer.thread;
    Ring ring;
    Accumulators accumulators;
    consumer.multiply_tile(accumulators, ring, [] {});
    group_sync(1, config::CONSUMERS * GROUP_THREADS);  // nobody multiplies from the stages now
    reduction.leave(accumulators, consumer.first_row(), consumer.thread);
    cluster_sync();  // every part is there
    reduction.add(schedule.at(schedule.first), schedule, thread);
}

// Works without roles: asks for STAGES tiles ahead, then waits, multiplies, waits again and asks
// for the next.
__device__ __forceinline__ void alternate(const Producer& producer, const Consumer& consumer,
                                          Epilogue epilogue) {
    const Schedule& schedule = consumer.schedule;
    const bool asks = threadIdx.x == 0;
    if (asks) wait_for_launch_before();
    Ring ring;
    for (int i = schedule.first; i < schedule.tiles; i += schedule.step) {
        const Place place = schedule.at(i);
        Accumulators accumulators;
        Ring ahead = ring;
        for (int k_tile = 0; k_tile < min(config::STAGES, schedule.k_tiles);
             ++k_tile, ahead.next())
            if (asks) producer.load(ahead.stage, place, k_tile);
#pragma unroll 1
        for (int k_tile = 0; k_tile < schedule.k_tiles; ++k_tile, ring.next()) {
            barrier_wait(producer.shared.full + 8 * ring.stage, ring.phase);
            accumulators.multiply(
                producer.shared.a(ring.stage) + TileA::at(consumer.first_row()),
                producer.shared.b(ring.stage), k_tile == 0);
            product_wait<0>();
            __syncthreads();  // everybody has read the stage: it may be overwritten
            if (asks && k_tile + config::STAGES < schedule.k_tiles)
                producer.load(ring.stage, place, k_tile + config::STAGES);
        }
        accumulators.finish(consumer.scale);
        epilogue.store(accumulators, place, consumer.first_row());
    }
    epilogue.finish();
}

// Without a cluster not even (1, 1, 1) is said: any cluster launch of it is slower.
#ifdef CLUSTER_SIZE
#define IN_CLUSTERS __cluster_dims__(CLUSTER_SIZE, 1, 1)
#else
#define IN_CLUSTERS
#endif

// `scale` multiplies the product; it is null unless config::SCALED.
extern "C" __global__ void __launch_bounds__(THREADS, 1) IN_CLUSTERS
    gemm(const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map,
         const __grid_constant__ TensorMap c_map, Result* c, int m, int n, int k,
         int raster_along_m, int raster_group, const float* scale) {
    extern __shared__ unsigned char raw[];
    const Shared shared(raw);
    if (threadIdx.x == 0) {
        prefetch_map(a_map);
        prefetch_map(b_map);
        if constexpr (config::STORES == Stores::tensor) prefetch_map(c_map);
    }
    start_barriers(shared);

    // With SWAPPED operands A is what the caller calls B: its rows run along C's columns.
    const int rows = config::SWAPPED ? n : m, cols = config::SWAPPED ? m : n;
    const Raster raster{raster_along_m != config::SWAPPED, raster_group};
    const Schedule schedule(rows, cols, k, raster, CLUSTER > 1 ? cluster_rank() : 0);
    const Producer producer{a_map, b_map, shared, schedule};
    const Destination destination{c_map, c, m, n, shared};
    const int group = threadIdx.x / GROUP_THREADS, thread = threadIdx.x % GROUP_THREADS;

    if constexpr (!SPECIALIZED) {
        alternate(producer, Consumer{shared, schedule, scale, group, thread},
                  Epilogue{destination, group, thread});
    } else if (group == 0) {
        keep_registers<PRODUCER_REGISTERS>();
        if (thread == 0) producer.fill();
        if constexpr (config::SPLIT_K > 1) {
            __syncwarp();
            cluster_sync();
        }
    } else {
        take_registers<CONSUMER_REGISTERS>();
        const Consumer consumer{shared, schedule, scale, group - 1, thread};
        if constexpr (config::SPLIT_K > 1) {
            consume_part(consumer, Reduction{destination});
        } else {
            consume(consumer, Epilogue{destination, group - 1, thread});
        }
    }
    if constexpr (config::SPLIT_K > 1) {
        __syncwarp();
        cluster_sync();  // a block must not leave while others read what it has summed
    }
}
