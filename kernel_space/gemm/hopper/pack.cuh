// Copies matrices whose rows no tensor map can describe to rows that one can.
//
// A row of, say, 3001 elements begins at any even address. Memory is read in aligned pieces of 16
// bytes all the same: a piece of the copy is cut from two neighbours. Rows of the copy are filled
// up with zeros, so that what a tile holds beyond the last column adds nothing to a sum.
#pragma once

#include "ptx/grid.cuh"
#include "vocabulary.cuh"

constexpr int PIECE_ELEMENTS = 8;
constexpr int PACK_THREADS = 256;
constexpr int PACK_LANES = 32;
constexpr int AT_ONCE = 2;  // pieces of one thread that travel together
constexpr int SEGMENT = PACK_LANES * AT_ONCE;

struct alignas(16) Piece {
    u32 words[4];
};

// Elements `shift` to `shift + count - 1` of two neighbours, and zeros behind them.
struct Cut {
    Piece low, high;
    int shift, count;

    __device__ Piece piece() const {
        u32 words[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) words[i] = i < 4 ? low.words[i] : high.words[i - 4];
#pragma unroll
        for (int i = 0; i < 6; ++i) words[i] = shift & 4 ? words[i + 2] : words[i];
#pragma unroll
        for (int i = 0; i < 5; ++i) words[i] = shift & 2 ? words[i + 1] : words[i];
        Piece joined;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const u32 word = __funnelshift_r(words[i], words[i + 1], shift % 2 * 16);
            joined.words[i] = count > 2 * i + 1 ? word : count > 2 * i ? word & 0xFFFF : 0;
        }
        return joined;
    }
};

// One matrix of 16-bit elements: row-major without gaps where it is, `pitch` pieces a row where
// it goes.
struct Packing {
    const u16* from;
    Piece* to;
    int rows, columns, pitch;

    // Moves pieces at, at + PACK_LANES, ... of a row.
    __device__ void move(int row, int at) const {
        const long long start = static_cast<long long>(row) * columns;
        const long long end = static_cast<long long>(rows) * columns;
        Piece* const line = to + static_cast<long long>(row) * pitch;
        constexpr int FURTHEST = SEGMENT - PACK_LANES + 1;  // of the neighbours, from the first
        if (start + (at + FURTHEST + 1) * PIECE_ELEMENTS <= end)
            move_whole(line, start, at);
        else
            move_last(line, start, at);
    }

   private:
    __device__ void move_whole(Piece* line, long long start, int at) const {
        const Piece* const source = reinterpret_cast<const Piece*>(from) + start / PIECE_ELEMENTS;
        Cut cuts[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i, at += PACK_LANES) {
            Cut& cut = cuts[i];
            cut = {{}, {}, static_cast<int>(start % PIECE_ELEMENTS), count(at)};
            if (cut.count > 0) cut.low = source[at];
            if (cut.shift + cut.count > PIECE_ELEMENTS) cut.high = source[at + 1];
        }
        at -= SEGMENT;
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i, at += PACK_LANES)
            if (at < pitch) line[at] = cuts[i].piece();
    }

    // Element by element: there a whole piece may reach beyond the end of the source.
    __device__ void move_last(Piece* line, long long start, int at) const {
#pragma unroll 1
        for (int i = 0; i < AT_ONCE && at < pitch; ++i, at += PACK_LANES) {
            const u16* const source = from + start + static_cast<long long>(at) * PIECE_ELEMENTS;
            Piece piece = {};
#pragma unroll
            for (int e = 0; e < PIECE_ELEMENTS; ++e)
                if (e < count(at)) piece.words[e / 2] |= static_cast<u32>(source[e]) << e % 2 * 16;
            line[at] = piece;
        }
    }

    // How many elements of the row are in a piece of it.
    __device__ int count(int at) const {
        const int left = columns - at * PIECE_ELEMENTS;
        return left < PIECE_ELEMENTS ? left : PIECE_ELEMENTS;
    }
};

// Packs `a`, and `b` too if the grid has a second row. Each warp takes a segment of a row, then the
// one that lies as many segments on as there are warps.
extern "C" __global__ void __launch_bounds__(PACK_THREADS)
    pack(const u16* a, Piece* packed_a, int rows_a, int columns_a, int pitch_a,
         const u16* b, Piece* packed_b, int rows_b, int columns_b, int pitch_b) {
    const Packing matrix = blockIdx.y == 0
                               ? Packing{a, packed_a, rows_a, columns_a, pitch_a / PIECE_ELEMENTS}
                               : Packing{b, packed_b, rows_b, columns_b, pitch_b / PIECE_ELEMENTS};
    const int segments = (matrix.pitch + SEGMENT - 1) / SEGMENT;
    const int warps = gridDim.x * (PACK_THREADS / PACK_LANES);
    const int warp = (blockIdx.x * PACK_THREADS + threadIdx.x) / PACK_LANES;
    int row = warp / segments, segment = warp % segments;
    wait_for_launch_before();
    let_next_launch_start();  // which sets itself up, and waits in turn
    while (row < matrix.rows) {
        matrix.move(row, segment * SEGMENT + threadIdx.x % PACK_LANES);
        row += warps / segments;
        segment += warps % segments;
        if (segment >= segments) {
            segment -= segments;
            ++row;
        }
    }
}
