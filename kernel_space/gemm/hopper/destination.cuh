// C, and the way there.
#pragma once

#include "layout.cuh"
#include "store.cuh"

struct Destination {
    const TensorMap& map;
    Result* c;
    int rows, cols;
    const Shared& shared;

    __device__ Result* at(int row, int col) const {
        return c + static_cast<long long>(row) * cols + col;
    }
};
