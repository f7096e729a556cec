// Tiles: the block's unit of work, and each thread's share of it.
#pragma once

#include "operation.cuh"

template <Dtype DTYPE>
struct Stored {
    using type = u16;
};
template <>
struct Stored<Dtype::fp32> {
    using type = u32;
};
using Element = Stored<config::DTYPE>::type;  // moved as raw bits

constexpr int WORKERS = config::THREADS;  // threads that compute
constexpr int TILE_BYTES = WORKERS * config::THREAD_BYTES;  // of each array
constexpr int TILE = TILE_BYTES / sizeof(Element);
constexpr int STAGE_BYTES = INPUTS * TILE_BYTES;  // one tile of each input, one behind the other
constexpr int STAGES = config::STAGES;
constexpr int WIDE_BYTES = config::THREAD_BYTES < 16 ? config::THREAD_BYTES : 16;

// The arrays, seen as whole tiles.
struct Arrays {
    const Element* inputs[2];
    Element* output;
    u64 policy;

    __device__ const unsigned char* input(int i, long long tile) const {
        return reinterpret_cast<const unsigned char*>(inputs[i]) + tile * TILE_BYTES;
    }
    __device__ unsigned char* result(long long tile) const {
        return reinterpret_cast<unsigned char*>(output) + tile * TILE_BYTES;
    }
};

// This thread's pieces of one tile of each input, in registers. Neighbouring threads hold
// neighbouring pieces, so that a warp always touches whole lines.
template <int BYTES>
struct Share {
    static constexpr int PIECES = config::THREAD_BYTES / BYTES;
    Piece<BYTES> pieces[INPUTS][PIECES];

    __device__ void load(const Arrays& arrays, long long tile) {
        each([&](int input, int i) {
            pieces[input][i] = load_global<BYTES>(at(arrays.input(input, tile), i), arrays.policy);
        });
    }
    __device__ void put(u32 stage) const {
        each([&](int input, int i) {
            store_shared(at(stage + input * TILE_BYTES, i), pieces[input][i]);
        });
    }
    __device__ void get(u32 stage) {
        each([&](int input, int i) {
            pieces[input][i] = load_shared<BYTES>(at(stage + input * TILE_BYTES, i));
        });
    }
    __device__ void store(const Arrays& arrays, long long tile) const {
#pragma unroll
        for (int i = 0; i < PIECES; ++i)
            store_global(at(arrays.result(tile), i), result(i), arrays.policy);
    }
    // Writes results where the first input was: nobody else reads there.
    __device__ void put_results(u32 stage) const {
#pragma unroll
        for (int i = 0; i < PIECES; ++i) store_shared(at(stage, i), result(i));
    }

    // Starts asynchronous copies of the pieces into a stage, without a stop in registers.
    __device__ static void start(const Arrays& arrays, long long tile, u32 stage) {
        each([&](int input, int i) {
            cp_async<BYTES>(at(stage + input * TILE_BYTES, i), at(arrays.input(input, tile), i));
        });
    }

   private:
    // Where piece i lies in a tile that begins at `base`. What is the same for all of a thread's
    // pieces comes first, so that the rest fits into the instructions.
    template <class Address>
    __device__ static Address at(Address base, int i) {
        return base + threadIdx.x * BYTES + i * (WORKERS * BYTES);
    }
    template <class Action>
    __device__ static void each(Action action) {
#pragma unroll
        for (int input = 0; input < INPUTS; ++input)
#pragma unroll
            for (int i = 0; i < PIECES; ++i) action(input, i);
    }
    __device__ Piece<BYTES> result(int i) const {
        return operate(pieces[0][i], pieces[INPUTS - 1][i]);
    }
};

using Copied = Share<config::COPY_BYTES>;

// Each mechanism is one specialisation: run() takes the block's tiles, every gridDim.x-th one
// from blockIdx.x on, through it. `shared` is the address of the stages.
template <Mechanism MECHANISM>
struct Loop;
