// Sums go to C through shared memory, in panels: from there by the copy engine, which works beside
// the next tile, or a row at a time where rows of C are no multiple of 16 bytes.
#pragma once

#include "consumer.cuh"
#include "destination.cuh"

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

template <class Element>  // of C
struct StagedEpilogue {
    static_assert(sizeof(Element) == 2, "panels hold rounded sums");

    const Destination& to;
    int consumer, thread;
    int slot = 0;

    __device__ __forceinline__ void store(const Accumulators& accumulators, const Place& place,
                                          int first_row) {
        const int row = config::SWAPPED ? place.col : place.row + first_row;
        const int col = config::SWAPPED ? place.row + first_row : place.col;
#pragma unroll
        for (int panel = 0; panel < PANELS; ++panel) {
            const u32 at = to.shared.panels +
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

    // Shared memory must not go before the copy engine has read it.
    __device__ void finish() const {
        if (thread == 0) bulk_store_wait_read<0>();
    }

   private:
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
            if (row < to.rows && col < to.cols) store_box(to.map, at, col, row);
            bulk_store_commit();
        } else {
            copy_out(at, row, col);
        }
    }

    // Two elements a thread, a row at a time.
    __device__ void copy_out(u32 at, int row, int col) const {
        constexpr int LANES = PANEL_COLS / 2, LINES = GROUP_THREADS / LANES;
        const int x = col + thread % LANES * 2;
        for (int line = thread / LANES; line < PANEL_ROWS; line += LINES) {
            const u32 from = at + panel_offset(line, thread % LANES / 4) + thread % 4 * 4;
            const u32 pair = load_shared(from);
            if (row + line < to.rows && x < to.cols)
                store_pair(to.at(row + line, x), pair, to.cols - x, to.cols % 2 == 0);
        }
    }
};
