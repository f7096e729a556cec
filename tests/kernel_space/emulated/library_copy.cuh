// Stands in for the kernel's header of this name.
#pragma once

#include <cstdint>

#include "copy.cuh"

template <class Call>
void copy_by_library(Copies& copies, u32 stage, Call copy) {
    copies.each(stage, copy);
}

inline void* __cvta_shared_to_generic(u32 address) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}
