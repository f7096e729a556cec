// Stands in for the kernel's copies: a tile's number, in a place of each copying thread.
#pragma once

#include "ampere/tile.cuh"
#include "block.h"
#include "ptx/cp_async.cuh"

using Piece = int;

inline int landed[config::STAGES][COPIERS];  // numbers of the tiles in shared memory

class Copies {
   public:
    struct Held {
        int tile;
    };

    void start(u32 stage, bool wanted) {
        each(stage, [=](Piece* target, const Piece* source) {
            if (wanted) cp_async(target, source);
        });
    }
    template <class Call>
    void each(u32 stage, Call copy) {
        Piece* target = place(stage);
        const Piece tile = next_++;
        emulated::block->yield();
        copy(target, &tile);
    }
    void load(Held& held) { held.tile = next_++; }
    void store(const Held& held, u32 stage) {
        emulated::block->yield();
        *place(stage) = held.tile;
    }

    static constexpr u32 FIRST_STAGE = 1 << 10;
    static int index(u32 stage) { return (stage - FIRST_STAGE) / STAGE_BYTES; }

   private:
    static int* place(u32 stage) {
        if (index(stage) >= config::STAGES) emulated::block->fault("no such stage", threadIdx.x, 0);
        return &landed[index(stage) % config::STAGES][threadIdx.x - (THREADS - COPIERS)];
    }

    int next_ = 0;
};
