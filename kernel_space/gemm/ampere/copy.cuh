// One thread's share of the copies of an operand's tiles, walking along K.
#pragma once

#include "ptx.cuh"
#include "tile.cuh"

template <int BYTES>
struct Vector;
template <>
struct Vector<2> {
    using type = u16;
};
template <>
struct Vector<4> {
    using type = u32;
};
template <>
struct Vector<8> {
    using type = uint2;
};
template <>
struct Vector<16> {
    using type = uint4;
};

// What one copy moves.
using Piece = Vector<config::COPY_BYTES>::type;

// The threads that copy take a tile in pieces of COPY_BYTES. Neighbouring threads take neighbouring
// pieces of a row; each thread takes PIECES of them at fixed distances from its first.
//
// Rows and the extents of the operand are multiples of COPY_BYTES, so that a piece lies wholly
// inside the operand or wholly outside. Outside counts as zero: along K that is what the sum
// needs, and along M or N those rows and columns of C are never stored.
template <class Tile>
class Copy {
    static constexpr int PIECE = config::COPY_BYTES / ELEMENT_BYTES;
    static constexpr int PIECES_IN_A_ROW = Tile::COLS / PIECE;
    static constexpr int PIECES = Tile::BYTES / config::COPY_BYTES / COPIERS;
    static constexpr bool WHOLE_ROWS = COPIERS >= PIECES_IN_A_ROW;
    static_assert(PIECES > 0 && Tile::BYTES % (config::COPY_BYTES * COPIERS) == 0,
                  "all copy equally many pieces of a tile");

   public:
    // A tile's worth of pieces on its way through registers.
    struct Held {
        Piece pieces[PIECES];
    };

    // `rows` x `cols` elements from `source` on, in rows `pitch` elements apart, belong to the
    // operand.
    __device__ Copy(const Element* source, long long pitch, int rows, int cols) : pitch_(pitch) {
        const u32 copier = threadIdx.x - (THREADS - COPIERS);
        const int row = copier / PIECES_IN_A_ROW;
        const int col = copier % PIECES_IN_A_ROW * PIECE;
        source_ = source + row * pitch + col;
        rows_left_ = rows - row;
        cols_left_ = cols - col;
        target_ = Tile::offset(row, col);
    }

    // Starts asynchronous copies of this thread's pieces into the stage at address `stage`, if
    // they are `wanted`.
    __device__ void start(u32 stage, bool wanted) const {
        each(stage, [=](u32 target, const Piece* source, bool inside) {
            cp_async<config::COPY_BYTES, config::CACHE>(target, source, inside, wanted);
        });
    }

    // Calls `copy` for each of this thread's pieces: where it belongs in the stage at address
    // `stage`, where it comes from, and whether that is inside the operand.
    template <class Call>
    __device__ __forceinline__ void each(u32 stage, Call copy) const {
        const Element* piece = source_;
#pragma unroll
        for (int i = 0; i < PIECES; ++i) {
            copy(target(stage, i), reinterpret_cast<const Piece*>(piece), inside(i));
            piece = next(piece, i);
        }
    }

    // Loads this thread's pieces into registers; nothing waits for them yet.
    __device__ void load(Held& held) const {
        const Element* piece = source_;
#pragma unroll
        for (int i = 0; i < PIECES; ++i) {
            const Piece* address = reinterpret_cast<const Piece*>(piece);
            held.pieces[i] = inside(i) ? __ldg(address) : Piece{};
            piece = next(piece, i);
        }
    }

    // Stores what load() brought into the stage at address `stage`.
    __device__ void store(const Held& held, u32 stage) const {
#pragma unroll
        for (int i = 0; i < PIECES; ++i) store_shared(target(stage, i), held.pieces[i]);
    }

    // Moves on to the next tile along K.
    __device__ void advance() {
        if constexpr (Tile::K_CONTIGUOUS) {
            source_ += config::TILE_K;
            cols_left_ -= config::TILE_K;
        } else {
            source_ += config::TILE_K * pitch_;
            rows_left_ -= config::TILE_K;
        }
    }

   private:
    // Distance of piece i from the first, in rows and in elements along the row.
    __device__ static constexpr int rows_to(int i) {
        return WHOLE_ROWS ? i * (COPIERS / PIECES_IN_A_ROW) : i * COPIERS / PIECES_IN_A_ROW;
    }
    __device__ static constexpr int cols_to(int i) {
        return WHOLE_ROWS ? 0 : i * COPIERS % PIECES_IN_A_ROW * PIECE;
    }

    __device__ u32 target(u32 stage, int i) const {
        return Tile::moved(stage + target_, rows_to(i), cols_to(i));
    }

    // The piece after piece i. The empty asm hides where it came from: compilers would otherwise
    // keep a register pair for each piece's distance through the whole main loop.
    __device__ const Element* next(const Element* piece, int i) const {
        piece += (rows_to(i + 1) - rows_to(i)) * pitch_ + (cols_to(i + 1) - cols_to(i));
        asm("" : "+l"(piece));
        return piece;
    }

    __device__ bool inside(int i) const {
        return rows_to(i) < rows_left_ && cols_to(i) < cols_left_;
    }

    const Element* source_;      // this thread's first piece of the current tile
    long long pitch_;            // elements from one row to the next
    int rows_left_, cols_left_;  // what is left of the operand from that piece on
    u32 target_;                 // the piece's byte offset in a stage
};

// Both operands' copies: what a main loop asks for, tile after tile.
struct Copies {
    Copy<TileA> a;
    Copy<TileB> b;

    struct Held {
        Copy<TileA>::Held a;
        Copy<TileB>::Held b;
    };

    __device__ void start(u32 stage, bool wanted) {
        a.start(stage, wanted);
        b.start(stage + TileA::BYTES, wanted);
        advance();
    }
    template <class Call>
    __device__ __forceinline__ void each(u32 stage, Call copy) {
        a.each(stage, copy);
        b.each(stage + TileA::BYTES, copy);
        advance();
    }
    __device__ void load(Held& held) {
        a.load(held.a);
        b.load(held.b);
        advance();
    }
    __device__ void store(const Held& held, u32 stage) const {
        a.store(held.a, stage);
        b.store(held.b, stage + TileA::BYTES);
    }

   private:
    __device__ void advance() {
        a.advance();
        b.advance();
    }
};
