// What a bundle holds: binaries, and what is fixed in their launches whatever the sizes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace autotune {

// A file of a bundle.
struct Binary {
    std::string_view file, sha256, entry;
    std::uint64_t bytes;
};

// A tensor map but for its matrix: rows and columns that one copy moves, and how it moves them.
struct Map {
    std::string_view operand;
    std::uint32_t box_rows, box_columns, swizzle_bytes, l2_promotion_bytes;
};

// How an answer is launched from one of its binaries.
struct Launch {
    std::uint32_t answer, binary;
    std::array<std::uint32_t, 3> threads;
    std::uint32_t shared_bytes;
    bool overlaps;
    std::uint32_t map_count;
    std::array<Map, 3> maps;
};

}  // namespace autotune
