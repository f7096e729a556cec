// Where a block's sums go: rounded once, and brought to C.
#pragma once

#include "consumer.cuh"

// Rounds two sums to 16 bits and packs them, `low` in the low half.
__device__ __forceinline__ u32 rounded_pair(float low, float high) {
    u32 pair;
    asm("cvt.rn." ELEMENT "x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

// Where 16-byte chunk `chunk` of row `row` lies in a panel, swizzled as the copy engine expects.
__device__ __forceinline__ u32 panel_offset(int row, int chunk) {
    constexpr int ROW_BYTES = PANEL_COLS * 2;
    constexpr int ROWS_IN_A_LINE = 128 / ROW_BYTES;
    return row * ROW_BYTES + (chunk ^ row / ROWS_IN_A_LINE % (ROW_BYTES / 16)) * 16;
}

template <bool TRANSPOSED>
__device__ __forceinline__ void store_matrices(u32 address, const float* sum) {
    stmatrix<TRANSPOSED>(address, rounded_pair(sum[0], sum[1]), rounded_pair(sum[2], sum[3]),
                         rounded_pair(sum[4], sum[5]), rounded_pair(sum[6], sum[7]));
}

struct Epilogue {
    static_assert(config::STORES != Stores::direct || !config::SWAPPED || config::SPLIT_K > 1,
                  "of a transposed tile no thread holds two neighbours");

    const TensorMap& c_map;
    u16* c;
    int rows, cols;  // of C
    const Shared& shared;
    int consumer, thread;
    int slot = 0;

    __device__ __forceinline__ void store(const Accumulators& accumulators, const Place& place,
                                          int first_row) {
        const int row = config::SWAPPED ? place.col : place.row + first_row;
        const int col = config::SWAPPED ? place.row + first_row : place.col;
        if constexpr (config::STORES == Stores::direct)
            store_directly(accumulators, row, col);
        else
            store_panels(accumulators, row, col);
    }

   private:
    __device__ __forceinline__ void store_panels(const Accumulators& accumulators, int row,
                                                 int col) {
#pragma unroll
        for (int panel = 0; panel < PANELS; ++panel) {
            const u32 at = shared.panels +
                           (consumer * config::STORE_SLOTS + slot) * PANEL_BYTES;
            if (thread == 0) bulk_store_wait_read<config::STORE_SLOTS - 1>();
            group_sync(1 + consumer, GROUP_THREADS);  // the slot's last store has read it
            stage(accumulators, panel, at);
            async_proxy_fence();
            group_sync(1 + consumer, GROUP_THREADS);  // the whole panel is there
            send(at, row, col + panel * PANEL_COLS);
            slot = slot + 1 == config::STORE_SLOTS ? 0 : slot + 1;
        }
    }

    // Two neighbouring elements at a time, as wgmma leaves them: no barrier, but short stores.
    __device__ __forceinline__ void store_directly(const Accumulators& accumulators, int row,
                                                   int col) const {
        const int warp = thread / 32, lane = thread % 32;
#pragma unroll
        for (int block = 0; block < BLOCKS; ++block)
#pragma unroll
            for (int i = 0; i < config::TILE_N / 2; i += 2) {
                const float(&sum)[config::TILE_N / 2] = accumulators.sum[block];
                const int down = block * 64 + warp * 16 + lane / 4 + i / 2 % 2 * 8;
                const int across = i / 4 * 8 + lane % 4 * 2;
                store_pair(row + down, col + across, rounded_pair(sum[i], sum[i + 1]));
            }
    }

    // Stores what of two neighbours lies in C.
    __device__ void store_pair(int row, int col, u32 pair) const {
        if (row >= rows || col >= cols) return;
        u16* to = c + static_cast<long long>(row) * cols + col;
        if (cols % 2 == 0) {
            *reinterpret_cast<u32*>(to) = pair;
        } else {
            to[0] = static_cast<u16>(pair);
            if (col + 1 < cols) to[1] = static_cast<u16>(pair >> 16);
        }
    }

    __device__ __forceinline__ void stage(const Accumulators& accumulators, int panel,
                                          u32 at) const {
        const int warp = thread / 32, lane = thread % 32;
        if constexpr (config::SWAPPED) {
            const int row = lane / 16 * 8 + lane % 8, chunk = 2 * warp + lane / 8 % 2;
#pragma unroll
            for (int q = 0; q < config::TILE_N / 16; ++q)
                store_matrices<true>(at + panel_offset(q * 16 + row, chunk),
                                     &accumulators.sum[panel][q * 8]);
        } else {
            const int row = warp * 16 + lane % 16, chunk = lane / 16;
#pragma unroll
            for (int block = 0; block < BLOCKS; ++block)
#pragma unroll
                for (int q = 0; q < PANEL_COLS / 16; ++q)
                    store_matrices<false>(
                        at + panel_offset(block * 64 + row, 2 * q + chunk),
                        &accumulators.sum[block][panel * PANEL_COLS / 2 + q * 8]);
        }
    }

    __device__ __forceinline__ void send(u32 at, int row, int col) const {
        if constexpr (config::STORES == Stores::tensor) {
            if (thread != 0) return;
            if (row < rows && col < cols) store_box(c_map, at, col, row);
            bulk_store_commit();
        } else {
            copy_out(at, row, col);
        }
    }

    // Rows of C that are no multiple of 16 bytes: two elements a thread, a row at a time.
    __device__ void copy_out(u32 at, int row, int col) const {
        constexpr int LANES = PANEL_COLS / 2, LINES = GROUP_THREADS / LANES;
        for (int line = thread / LANES; line < PANEL_ROWS; line += LINES) {
            const u32 from = at + panel_offset(line, thread % LANES / 4) + thread % 4 * 4;
            store_pair(row + line, col + thread % LANES * 2, load_shared(from));
        }
    }
};

// Split K: the blocks of a cluster hold partial sums of one tile. Each leaves its own in shared
// memory, where the main loop has no more use for it, and adds up its share of everybody's.
struct Reduction {
    static constexpr int C_ROWS = config::SWAPPED ? config::TILE_N : config::TILE_M;
    static constexpr int C_COLS = config::SWAPPED ? config::TILE_M : config::TILE_N;
    static constexpr int PITCH = C_COLS + 4;  // in floats; keeps quads aligned and banks apart

    u16* c;
    int rows, cols;
    const Shared& shared;

    __device__ void leave(const Accumulators& accumulators, int first_row, int thread) const {
        const int warp = thread / 32, lane = thread % 32;
#pragma unroll
        for (int block = 0; block < BLOCKS; ++block)
#pragma unroll
            for (int i = 0; i < config::TILE_N / 2; ++i) {
                const int row = first_row + block * 64 + warp * 16 + lane / 4 + i / 2 % 2 * 8;
                const int col = i / 4 * 8 + lane % 4 * 2 + i % 2;
                const int at = config::SWAPPED ? col * PITCH + row : row * PITCH + col;
                store_shared(shared.stages + at * 4, accumulators.sum[block][i]);
            }
    }

    __device__ void add(const Place& place, const Schedule& schedule, int thread) const {
        constexpr int QUADS = C_ROWS * C_COLS / 4;
        const int top = config::SWAPPED ? place.col : place.row;
        const int left = config::SWAPPED ? place.row : place.col;
        const int end = QUADS * (schedule.part + 1) / config::SPLIT_K;
        for (int quad = QUADS * schedule.part / config::SPLIT_K + thread; quad < end;
             quad += config::CONSUMERS * GROUP_THREADS) {
            const int row = quad / (C_COLS / 4), col = quad % (C_COLS / 4) * 4;
            if (top + row >= rows || left + col >= cols) continue;
            float4 sum = {0, 0, 0, 0};
#pragma unroll
            for (int peer = 0; peer < config::SPLIT_K; ++peer) {  // in order: always the same bits
                const float4 part = load_remote(shared.stages + (row * PITCH + col) * 4,
                                                schedule.in_part(peer));
                sum = {sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w};
            }
            put(top + row, left + col, sum);
        }
    }

   private:
    __device__ void put(int row, int col, const float4& sum) const {
        u16* to = c + static_cast<long long>(row) * cols + col;
        const u32 low = rounded_pair(sum.x, sum.y), high = rounded_pair(sum.z, sum.w);
        if (cols % 4 == 0) {
            *reinterpret_cast<uint2*>(to) = {low, high};
            return;
        }
        const u16 values[4] = {static_cast<u16>(low), static_cast<u16>(low >> 16),
                               static_cast<u16>(high), static_cast<u16>(high >> 16)};
        for (int i = 0; i < 4 && col + i < cols; ++i) to[i] = values[i];
    }
};
