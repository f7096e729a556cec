// out = 2 * in, right and after IDLE cycles, unless FAULT says otherwise. One thread an element.
enum class Fault {
    none, prints,
    // It ends in an error, or does not end.
    illegal_address, unmapped_read, misaligned_load, misaligned_copy, trap, overflows_stack,
    waits_for_mbarrier, waits_for_copy, waits_for_block, spins, spills,
    // It is wrong.
    half, nothing, tail, not_a_number, integers_only, low_precision, accumulates, overruns,
    underruns, spoils_input, wavers, rarely_wrong, trusts_scratch, beyond_scratch,
    // It is not as fast as it looks.
    tires, spoils_later
};

#include "config.h"

namespace {

constexpr unsigned CHECKED = 60;  // launches: more than any check makes, fewer than timing does
__device__ constexpr bool is(Fault fault) { return FAULT == fault; }
__device__ unsigned launches = 0;
__device__ volatile unsigned nobody_sets = 0;

__device__ unsigned shared_address(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Waits for a phase that nobody completes: of two arrivals, or of bytes that no copy brings.
__device__ void wait_on_mbarrier(bool for_bytes) {
    __shared__ alignas(8) unsigned long long barrier;
    const unsigned address = shared_address(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address),
                     "r"(for_bytes ? 1 : 2) : "memory");
        if (for_bytes)
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(address)
                         : "memory");
    }
    __syncthreads();
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0;"
                     " selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(address) : "memory");
}

__device__ void misaligned_copy(const float* in) {
    __shared__ alignas(16) float target[8];
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\ncp.async.wait_all;" ::"r"(
                     shared_address(target)), "l"(in + 1) : "memory");
}

// Takes 256 MB of a stack that has some kB. Recursion would be refused before: it spills.
__device__ void overflow() {
    const unsigned long long size = 1ull << 28;
    unsigned long long frame;
    asm volatile("alloca.u64 %0, %1, 16;" : "=l"(frame) : "l"(size + nobody_sets));
    for (unsigned long long at = 0; at < size; at += 1024)
        asm volatile("st.local.u32 [%0], %1;" ::"l"(frame + at), "r"(1) : "memory");
}

// More values alive at once than there are registers for.
__device__ float many_at_once(const float* in, int count) {
    float values[64];
#pragma unroll
    for (int i = 0; i < 64; ++i) values[i] = in[(i * 37) % count];
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 64; ++i) sum += values[i] * in[(i * 41) % count];
#pragma unroll
    for (int i = 63; i >= 0; --i) sum = sum * values[i] + values[i];
    return sum;
}

__device__ void idle() {
    const long long begin = clock64();
    while (clock64() - begin < IDLE) {}
}

__device__ void end(float* in, float* out, int i) {
    if (is(Fault::waits_for_mbarrier)) wait_on_mbarrier(false);
    if (is(Fault::waits_for_copy)) wait_on_mbarrier(true);
    if (is(Fault::waits_for_block) && blockIdx.x == 0)
        while (nobody_sets == 0) {}
    while (is(Fault::spins)) asm volatile("");  // without it the loop is taken to end
    if (i != 0) return;
    if (is(Fault::trap)) asm volatile("trap;");
    if (is(Fault::illegal_address)) out[1ll << 40] = 1.0f;
    if (is(Fault::unmapped_read)) out[0] = in[1ll << 40];
    if (is(Fault::misaligned_load)) {
        const float4 four = *reinterpret_cast<const float4*>(in + 1);
        out[1] = four.x + four.y + four.z + four.w;
    }
    if (is(Fault::misaligned_copy)) misaligned_copy(in);
    if (is(Fault::overflows_stack)) overflow();
}

__device__ float answer(float x) {
    if (is(Fault::integers_only)) return 2.0f * truncf(x);
    if (is(Fault::low_precision)) return 2.0f * (roundf(x * 1024.0f) / 1024.0f);
    return 2.0f * x;
}

__device__ void spoil(float* in, float* out, int count, unsigned launch) {
    if (is(Fault::not_a_number)) out[0] = __int_as_float(0x7fffffff);
    if (is(Fault::overruns)) out[count] = 1.0f;
    if (is(Fault::underruns)) out[-1] = 1.0f;
    if (is(Fault::spoils_input)) in[0] += 1.0f;
    if (is(Fault::wavers)) out[0] *= 1.0f + (launch % 2) * 1.2e-7f;
    if (is(Fault::rarely_wrong) && launch % 1000 == 500) out[0] += 1.0f;
    if (is(Fault::spoils_later) && launch > CHECKED) in[0] += 1.0f;
}

}  // namespace

extern "C" __global__ void faulty(float* in, float* out, int count, float* w) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned launch = launches;
    if (is(Fault::nothing) || (is(Fault::tires) && launch > CHECKED)) return;
    if (i == count - 1) launches = launch + 1;
    end(in, out, i);
    if (i >= count || (is(Fault::half) && i >= count / 2)) return;
    if (is(Fault::tail) && i == count - 1) return;
    idle();
    float value = answer(in[i]);
    if (is(Fault::accumulates)) value += out[i];
    if (is(Fault::trusts_scratch)) value += w[i];
    if (is(Fault::spills)) value += 1e-30f * many_at_once(in, count);
    out[i] = value;
    if (is(Fault::prints) && i % 64 == 0) printf("a candidate says: %d\n", i);
    if (is(Fault::beyond_scratch) && i == 0) w[count] = 1.0f;
    if (i == 0) spoil(in, out, count, launch);
#ifdef CALLS_NOBODY
    nobody();
#endif
}
