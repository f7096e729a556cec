// Stands in for the instructions of the kernel's header of this name.
#pragma once

#include "block.h"
#include "ptx/types.cuh"

inline void barrier_init(u32 barrier, u32 arrivals) {
    emulated::block->barriers[barrier] = {arrivals, arrivals, 0};
}
inline void barrier_arrive(u32 barrier) {
    emulated::block->yield();
    emulated::block->arrive(barrier);
}
inline void barrier_arrive_with_copies(u32 barrier) {
    emulated::Thread& thread = emulated::block->thread();
    thread.batches.back().arrivals.push_back(barrier);
    thread.batches.emplace_back();
    emulated::block->retire(thread);
}
inline void barrier_expect(u32, u32) {}  // no copy engine here

// Returns once the phase is over: nobody here asks only once.
inline bool barrier_passed(u32 barrier, u32 parity) {
    emulated::Thread& thread = emulated::block->thread();
    thread.barrier = barrier;
    thread.parity = parity;
    emulated::block->wait(emulated::Waits::barrier);
    return true;
}
