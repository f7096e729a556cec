// y = 2 x, unless FATE says otherwise. One thread an element.
enum class Fate {
    right, half, odd_is_wrong, accumulate, out_of_bounds, misaligned, trap, hang, hang_on_odd,
    spills, asks_for_registers
};

#include "config.h"

__device__ void wait_for_an_arrival_that_never_comes() {
    __shared__ alignas(8) unsigned long long barrier;
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(address) : "memory");
    __syncthreads();
    for (unsigned done = 0; !done;)
        asm volatile(
            "{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0;"
            " selp.u32 %0, 1, 0, p; }"
            : "=r"(done)
            : "r"(address)
            : "memory");
}

constexpr int MANY = 100;  // values at once are more than 64 registers hold

__device__ float mixed(const float* x, int rounds) {
    float v[MANY];
#pragma unroll
    for (int i = 0; i < MANY; ++i) v[i] = x[i * 1024];
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < MANY; ++i) v[i] = v[i] * v[(i * 7 + 3) % MANY] + v[(i + 1) % MANY];
    }
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < MANY; ++i) sum += v[i];
    return sum;
}

extern "C" __global__ void __launch_bounds__(1024) doubled(const float* x, float* y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (FATE == Fate::hang || (FATE == Fate::hang_on_odd && count % 2))
        wait_for_an_arrival_that_never_comes();
    if (FATE == Fate::asks_for_registers) asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (FATE == Fate::spills) y[i] = mixed(x + i, count);
    if (i >= (FATE == Fate::half ? count / 2 : count)) return;
    if (FATE == Fate::trap && i == 0) asm volatile("trap;");
    if (FATE == Fate::out_of_bounds && i == 0) y[1ll << 40] = 1.0f;
    if (FATE == Fate::misaligned && i == 0)
        *reinterpret_cast<float4*>(y + 1) = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    y[i] = (FATE == Fate::accumulate ? y[i] : 0.0f) + 2.0f * x[i];
    if (FATE == Fate::odd_is_wrong && count % 2 && i == count - 1) y[i] += 1.0f;
}
