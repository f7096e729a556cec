// out = 2 * in by way of scratch, in two steps, right unless FAULT says otherwise.
enum class Fault { none, short_copy, overrun, stale, absent, huge };

#include "config.h"

__device__ int calls = 0;

extern "C" __global__ void stage(const float* in, float* copy, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (FAULT == Fault::stale && i == 0 && calls++ > 0) return;
    if (i < count - (FAULT == Fault::short_copy)) copy[i] = in[i];
    if (FAULT == Fault::overrun && i == 0) copy[count] = 1.0f;
}

extern "C" __global__ void scale(const float* copy, float* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 2.0f * copy[i];
}
