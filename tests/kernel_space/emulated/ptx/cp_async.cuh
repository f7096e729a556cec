// Stands in for the instructions of the kernel's header of this name.
#pragma once

#include "block.h"

inline void cp_async_commit() { emulated::block->thread().batches.emplace_back(); }

template <int PENDING>
void cp_async_wait() {
    emulated::block->yield();
    emulated::block->wait_for_copies(PENDING);
}
