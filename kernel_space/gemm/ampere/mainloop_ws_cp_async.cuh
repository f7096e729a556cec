// The ring of mbarriers with specialized warps: some only copy, the others only multiply. Neither
// ever waits at a barrier of the whole block, so that producers run ahead as far as the ring goes.
#pragma once

#include "mainloop_ring.cuh"
#include "ptx/cp_async.cuh"

template <>
struct Mainloop<Mechanism::ws_cp_async> {
    static constexpr int FRAGMENT_SETS = 2;

    template <class Product>
    __device__ static void run(Product& product, Copies& copies, u32 shared, int tiles) {
        const Ring ring(shared);
        if (threadIdx.x < CONSUMERS)
            consume(product, ring, tiles, [](int) {});
        else
            produce(Producer{ring, copies}, tiles);
    }

   private:
    __device__ static void produce(Producer producer, int tiles) {
#pragma unroll 1
        for (int tile = 0; tile < tiles; ++tile) producer.fill();
        cp_async_wait<0>();  // a thread does not end before its copies
    }
};
