// Pieces of a tile by the calls of NVIDIA's own libraries, which take pointers: the width of a
// copy follows from the type that they point to.
#pragma once

#include "copy.cuh"

// Lets `copy(target, source)` take each piece of the next tile; those outside of the operand
// become zeros, which no library writes.
template <class Call>
__device__ __forceinline__ void copy_by_library(Copies& copies, u32 stage, Call copy) {
    copies.each(stage, [&](u32 address, const Piece* source, bool inside) {
        auto* const target = static_cast<Piece*>(__cvta_shared_to_generic(address));
        // A library asks which memory its pointers lead to, and keeps a slow way for the others.
        __builtin_assume(__isGlobal(source));
        if (inside)
            copy(target, source);
        else
            *target = {};
    });
}
