// Compiled by the host's C++ compiler with a config.h of the test: what tile.cuh and copy.cuh claim.
// Prints one line for each claim that does not hold.
#include "block.h"

struct uint2 {
    unsigned x, y;
};
struct uint4 {
    unsigned x, y, z, w;
};
template <class T>
T __ldg(const T* address) {
    return *address;
}

#include "ampere/copy.cuh"

#include <cstdio>
#include <set>
#include <utility>

namespace {

// Distinct 16-byte positions of a 128-byte line: reading them together meets no bank twice.
bool in_distinct_banks(const u32 (&offsets)[8]) {
    std::set<u32> positions;
    for (u32 offset : offsets) positions.insert(offset % 128 / 16);
    return positions.size() == 8;
}

template <class Tile>
void check_tile(const char* name) {
    constexpr int CHUNK = 16 / ELEMENT_BYTES;
    std::set<u32> seen;
    for (int row = 0; row < Tile::ROWS; ++row)
        for (int col = 0; col < Tile::COLS; ++col) seen.insert(Tile::offset(row, col));
    if (seen.size() != static_cast<unsigned>(Tile::ROWS * Tile::COLS) || *seen.rbegin() >= Tile::BYTES)
        std::printf("%s: elements share a place or leave the tile\n", name);

    for (int row = 0; row < Tile::ROWS; row += 8)
        for (int col = 0; col < Tile::COLS; col += CHUNK) {
            u32 offsets[8];
            for (int r = 0; r < 8; ++r) offsets[r] = Tile::offset(row + r, col);
            if (!in_distinct_banks(offsets)) std::printf("%s: a column of chunks conflicts\n", name);
        }

    constexpr int CHUNKS_IN_A_ROW = Tile::COLS / CHUNK;
    for (int chunk = 0; chunk < Tile::ROWS * CHUNKS_IN_A_ROW; chunk += 8) {
        u32 offsets[8];
        for (int c = 0; c < 8; ++c)
            offsets[c] = Tile::offset((chunk + c) / CHUNKS_IN_A_ROW, (chunk + c) % CHUNKS_IN_A_ROW * CHUNK);
        if (!in_distinct_banks(offsets)) std::printf("%s: a row of chunks conflicts\n", name);
    }

    for (u32 stage : {0u, 128u, 5 * 1152u})
        for (int row = 0; row < Tile::ROWS; ++row)
            for (int rows = 0; rows + row < Tile::ROWS; ++rows)
                for (int col = 0; col < Tile::COLS; ++col)
                    for (int cols = 0; cols + col < Tile::COLS; cols = cols ? cols * 2 : 1)
                        if ((row & rows) == 0 && (col & cols) == 0 &&
                            Tile::moved(stage + Tile::offset(row, col), rows, cols) !=
                                stage + Tile::offset(row + rows, col + cols)) {
                            std::printf("%s: moved() misses\n", name);
                            return;
                        }
}

// Each piece of a tile is copied once, by those who copy, to where it belongs; what is beyond the
// operand, whose last tile is not whole, is known to be.
template <class Tile>
void check_copies(const char* name) {
    constexpr int PIECE = config::COPY_BYTES / ELEMENT_BYTES;
    constexpr int ROWS = Tile::ROWS - 3, COLS = Tile::COLS - PIECE;
    constexpr int STEP = config::TILE_K;
    constexpr long long PITCH = 4096;
    const Element* operand = reinterpret_cast<const Element*>(1 << 20);
    for (int step = 0; step < 2; ++step) {
        const int first_row = Tile::K_CONTIGUOUS ? 0 : step * STEP;
        const int first_col = Tile::K_CONTIGUOUS ? step * STEP : 0;
        std::set<u32> seen;
        for (int copier = 0; copier < COPIERS; ++copier) {
            threadIdx.x = THREADS - COPIERS + copier;
            Copy<Tile> copy(operand, PITCH, first_row + ROWS, first_col + COLS);
            if (step > 0) copy.advance();
            copy.each(0, [&](u32 target, const Piece* source, bool inside) {
                const long long place = reinterpret_cast<const Element*>(source) - operand;
                const int row = place / PITCH - first_row, col = place % PITCH - first_col;
                if (target >= Tile::BYTES || target != Tile::offset(row, col))
                    std::printf("%s: copied elsewhere\n", name);
                if (inside != (row < ROWS && col < COLS)) std::printf("%s: the edge\n", name);
                seen.insert(target);
            });
        }
        if (seen.size() != static_cast<unsigned>(Tile::BYTES / config::COPY_BYTES))
            std::printf("%s: a piece is not copied\n", name);
    }
}

void check_raster(int tiles_m, int tiles_n, bool along_m, int group) {
    std::set<std::pair<int, int>> seen;
    for (int block = 0; block < tiles_m * tiles_n; ++block) {
        const Place place = place_of(block, tiles_m, tiles_n, along_m, group);
        if (place.m >= 0 && place.m < tiles_m && place.n >= 0 && place.n < tiles_n)
            seen.insert({place.m, place.n});
    }
    if (seen.size() != static_cast<unsigned>(tiles_m * tiles_n))
        std::printf("raster %d x %d, group %d: some tile has no block\n", tiles_m, tiles_n, group);
}

}  // namespace

int main() {
    check_tile<TileA>("A");
    check_tile<TileB>("B");
    check_copies<TileA>("A");
    check_copies<TileB>("B");
    for (int tiles_m : {1, 2, 7, 33})
        for (int tiles_n : {1, 3, 8, 20})
            for (int group : {1, 4, 8})
                for (bool along_m : {false, true}) check_raster(tiles_m, tiles_n, along_m, group);
    return 0;
}
