// out = 2 * in, right unless FAULT says otherwise. One thread an element.
enum class Fault {
    none, half, eighth, out_of_bounds, misaligned, trap, hang, overrun, waver, spoil_input
};

#include "config.h"

__device__ void wait_for_a_phase_nobody_completes() {
    __shared__ alignas(8) unsigned long long barrier;
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(address) : "memory");
    __syncthreads();
    unsigned done = 0;
    while (!done)
        asm volatile(
            "{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0;"
            " selp.u32 %0, 1, 0, p; }"
            : "=r"(done)
            : "r"(address)
            : "memory");
}

__device__ int runs = 0;

extern "C" __global__ void scale(float* in, float* out, int count) {
    extern __shared__ float scratch[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    if (FAULT == Fault::hang) wait_for_a_phase_nobody_completes();
    if (FAULT == Fault::trap && i == 0) asm volatile("trap;");
    if (FAULT == Fault::out_of_bounds && i == 0) out[1ll << 40] = 1.0f;
    if (FAULT == Fault::misaligned && i == 0) {
        const float4 four = *reinterpret_cast<const float4*>(in + 1);
        out[1] = four.x + four.y + four.z + four.w;
    }
    if (FAULT == Fault::half && i >= count / 2) return;
    if (FAULT == Fault::eighth && i >= count / 8) return;
    scratch[threadIdx.x] = in[i];
    out[i] = 2.0f * scratch[threadIdx.x];
    if (FAULT == Fault::overrun && i == count - 1) out[count] = 1.0f;
    if (FAULT == Fault::spoil_input && i == 0) in[0] += 1.0f;
    if (FAULT == Fault::waver && i == 0) out[0] *= 1.0f + (runs++ % 2) * 1e-7f;
}
