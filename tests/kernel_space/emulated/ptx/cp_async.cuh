// Stands in for the instructions of the kernel's header of this name.
#pragma once

#include "block.h"

// Copies the number of a tile, as it is now.
inline void cp_async(int* target, const int* source) {
    const int tile = *source;
    emulated::block->thread().batches.back().copies.push_back([=] { *target = tile; });
}
inline void cp_async_commit() { emulated::block->thread().batches.emplace_back(); }

template <int PENDING>
void cp_async_wait() {
    emulated::block->yield();
    emulated::block->wait_for_copies(PENDING);
}
