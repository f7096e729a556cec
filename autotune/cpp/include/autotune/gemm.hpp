// How the kernel `gemm` is started: grid, arguments, tensor maps and scratch from m, n and k.
//
// The same rule stands in kernel_space/gemm in Python; a test compares both on random configs and
// problems. Config is the struct of a generated header.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "autotune/launch.hpp"

namespace autotune::gemm {

// C[m, n] = A * B; dtype and layout as in a table: "bf16", "nt".
struct Problem {
    std::int64_t m, n, k;
    std::string_view dtype, layout;
};

enum class Array : std::uint8_t { a, b, c, scale, packed_a, packed_b, none };

enum class Element : std::uint8_t { e4m3, bf16, fp16, fp32 };

constexpr std::int64_t size_bytes(Element element) {
    return element == Element::e4m3 ? 1 : element == Element::fp32 ? 4 : 2;
}

// A matrix as it is stored: row-major without gaps.
struct Matrix {
    Array array = Array::none;
    Element element = Element::bf16;
    std::int64_t rows = 0, columns = 0;

    constexpr std::int64_t bytes() const { return rows * columns * size_bytes(element); }
};

// One argument; a tensor map is of `matrix`, cut as `map` says.
struct Argument {
    enum class Kind : std::uint8_t { pointer, int32, int64, tensor_map };
    Kind kind = Kind::int32;
    std::int64_t value = 0;
    Matrix matrix{};
    Map map{};
};

// One kernel to start. An empty entry is the binary's own.
struct Step {
    std::string_view entry;
    std::array<std::uint32_t, 3> grid{}, threads{};
    std::uint32_t shared_bytes = 0;
    bool overlaps = false;
    std::array<Argument, 12> arguments{};
    std::size_t argument_count = 0;

    void add(const Argument& argument) { arguments[argument_count++] = argument; }
    void add_pointer(Array array) { add({Argument::Kind::pointer, 0, {array, {}, 0, 0}, {}}); }
    void add_int32(std::int64_t value) { add({Argument::Kind::int32, value, {}, {}}); }
    void add_int64(std::int64_t value) { add({Argument::Kind::int64, value, {}, {}}); }
};

// What to start, in order, on one stream, and the scratch that it needs meanwhile.
struct Plan {
    std::array<Step, 2> steps{};
    std::size_t step_count = 0;
    std::array<Matrix, 2> scratch{};
    std::size_t scratch_count = 0;
};

namespace detail {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

constexpr Element element_of(std::string_view name) {
    if (name == "e4m3") return Element::e4m3;
    if (name == "fp16") return Element::fp16;
    return name == "fp32" ? Element::fp32 : Element::bf16;
}

// "bf16-fp32": of A and B, then of C.
constexpr Element input_of(std::string_view dtype) { return element_of(dtype.substr(0, dtype.find('-'))); }

constexpr Element output_of(std::string_view dtype) {
    const std::size_t dash = dtype.find('-');
    return element_of(dash == std::string_view::npos ? dtype : dtype.substr(dash + 1));
}

constexpr Matrix matrix_a(const Problem& p) {
    const bool transposed = p.layout[0] == 't';
    return {Array::a, input_of(p.dtype), transposed ? p.k : p.m, transposed ? p.m : p.k};
}

constexpr Matrix matrix_b(const Problem& p) {
    const bool transposed = p.layout[1] == 't';
    return {Array::b, input_of(p.dtype), transposed ? p.n : p.k, transposed ? p.k : p.n};
}

constexpr Matrix matrix_c(const Problem& p) { return {Array::c, output_of(p.dtype), p.m, p.n}; }

constexpr bool whole_rows(const Matrix& matrix) {
    return matrix.columns * size_bytes(matrix.element) % 16 == 0;
}

inline Step main_step(const Launch& launch, std::int64_t blocks) {
    Step step;
    step.grid = {static_cast<std::uint32_t>(blocks), 1, 1};
    step.threads = launch.threads;
    step.shared_bytes = launch.shared_bytes;
    step.overlaps = launch.overlaps;
    return step;
}

// Threads that copy and warps that multiply: one block for each tile of C.
template <class Config>
Plan by_tiles(const Launch& launch, const Config& config, const Problem& p) {
    Plan plan;
    const std::int64_t blocks = ceil_div(p.m, config.tile_m) * ceil_div(p.n, config.tile_n);
    if (blocks == 0) return plan;
    Step step = main_step(launch, blocks);
    for (Array array : {Array::a, Array::b, Array::c}) step.add_pointer(array);
    for (std::int64_t size : {p.m, p.n, p.k}) step.add_int32(size);
    for (std::int64_t pitch : {matrix_a(p).columns, matrix_b(p).columns, p.n}) step.add_int64(pitch);
    step.add_int32(config.raster == "along_m");
    step.add_int32(config.raster_group);
    plan.steps[plan.step_count++] = step;
    return plan;
}

// Clusters of blocks that run at a time: those of more than two leave multiprocessors idle.
inline std::int64_t resident_clusters(std::int64_t blocks, std::int64_t multiprocessors) {
    const std::int64_t spare = blocks > 2 ? 12 : 0;
    return std::max<std::int64_t>(1, (multiprocessors - spare) / blocks);
}

// Rows that no tensor map describes are copied to lines of 128 bytes.
inline Matrix packed(const Matrix& given) {
    const Array array = given.array == Array::a ? Array::packed_a : Array::packed_b;
    return {array, given.element, given.rows, ceil_div(given.columns, 64) * 64};
}

inline void add_packing(Plan& plan, std::array<Matrix, 2>& operands, std::int64_t multiprocessors) {
    std::array<Matrix, 2> given{};
    std::int64_t segments = 0;
    for (Matrix& operand : operands) {
        if (operand.columns % 8 == 0) continue;
        given[plan.scratch_count] = operand;
        operand = packed(operand);
        plan.scratch[plan.scratch_count++] = operand;
        segments = std::max(segments, operand.rows * ceil_div(operand.columns, 512));
    }
    if (plan.scratch_count == 0) return;
    Step step;
    step.entry = "pack";
    step.grid = {static_cast<std::uint32_t>(std::min(ceil_div(segments, 8), 6 * multiprocessors)),
                 static_cast<std::uint32_t>(plan.scratch_count), 1};
    step.threads = {256, 1, 1};
    step.overlaps = true;
    for (std::size_t i : {std::size_t{0}, plan.scratch_count - 1}) {
        step.add_pointer(given[i].array);
        step.add_pointer(plan.scratch[i].array);
        for (std::int64_t extent : {given[i].rows, given[i].columns, plan.scratch[i].columns})
            step.add_int32(extent);
    }
    plan.steps[plan.step_count++] = step;
}

// Tensor copies: a grid that fills the device once, or one cluster for each split tile.
template <class Config>
Plan by_tensor_maps(const Launch& launch, const Config& config, const Problem& p,
                    std::int64_t multiprocessors) {
    Plan plan;
    if (p.m == 0 || p.n == 0) return plan;
    const bool swapped = config.operands == "swapped";
    std::array<Matrix, 2> operands{matrix_a(p), matrix_b(p)};
    if (config.repack == "rows") add_packing(plan, operands, multiprocessors);
    const std::int64_t size = std::int64_t{config.cluster_m} * config.cluster_n * config.split_k;
    const std::int64_t rows = swapped ? p.n : p.m, columns = swapped ? p.m : p.n;
    const std::int64_t tiles = ceil_div(rows, std::int64_t{config.tile_m} * config.cluster_m) *
                               ceil_div(columns, std::int64_t{config.tile_n} * config.cluster_n);
    const std::int64_t resident = resident_clusters(size, multiprocessors);
    Step step = main_step(launch, (config.split_k > 1 ? tiles : std::min(tiles, resident)) * size);
    for (const Map& map : launch.maps) {
        const char last = map.operand.back();  // "a", "packed_a", "b", "packed_b" or "c"
        const Matrix of = last == 'c' ? matrix_c(p) : operands[last == 'b'];
        step.add({Argument::Kind::tensor_map, 0, of, map});
    }
    step.add_pointer(Array::c);
    for (std::int64_t extent : {p.m, p.n, p.k}) step.add_int32(extent);
    step.add_int32(config.raster == "along_m");
    step.add_int32(config.raster_group);
    if (input_of(p.dtype) == Element::e4m3)
        step.add_pointer(Array::scale);
    else
        step.add_int64(0);  // a pointer that nothing follows
    plan.steps[plan.step_count++] = step;
    return plan;
}

}  // namespace detail

// Whether a launch's binary is the one for this problem: sums that are staged leave by tensor copies
// where the rows of C are whole, and row by row where they are not.
template <class Config>
bool serves(const Launch& launch, const Config& config, const Problem& problem) {
    const bool by_map = launch.map_count == 3 && launch.maps[2].operand == "c";
    const bool staged = launch.map_count == 3 && config.epilogue == "staged";
    return by_map == (staged && detail::whole_rows(detail::matrix_c(problem)));
}

// What to start for a problem that the launch's answer serves, on a device with so many
// multiprocessors. Nothing if C has no elements.
template <class Config>
Plan plan(const Launch& launch, const Config& config, const Problem& problem,
          std::int64_t multiprocessors) {
    if (launch.map_count == 0) return detail::by_tiles(launch, config, problem);
    return detail::by_tensor_maps(launch, config, problem, multiprocessors);
}

}  // namespace autotune::gemm
