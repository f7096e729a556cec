// Reads a config, a problem and the launches of a manifest from each line, and prints what the rule
// in C++ would start.
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "autotune/gemm.hpp"

namespace gemm = autotune::gemm;

namespace {

struct Config {
    int tile_m, tile_n, cluster_m, cluster_n, split_k, raster_group;
    std::string operands, raster, repack, epilogue;
};

constexpr const char* arrays[] = {"a", "b", "c", "scale", "packed_a", "packed_b", "none"};
constexpr const char* elements[] = {"e4m3", "bf16", "fp16", "fp32"};

const char* name(gemm::Array array) { return arrays[static_cast<int>(array)]; }

void print(const gemm::Argument& argument) {
    using Kind = gemm::Argument::Kind;
    const gemm::Matrix& matrix = argument.matrix;
    const autotune::Map& map = argument.map;
    switch (argument.kind) {
        case Kind::pointer: std::cout << ' ' << name(matrix.array); break;
        case Kind::int32: std::cout << " int32:" << argument.value; break;
        case Kind::int64: std::cout << " int64:" << argument.value; break;
        case Kind::tensor_map:
            std::cout << ' ' << name(matrix.array) << ':' << elements[static_cast<int>(matrix.element)]
                      << ':' << matrix.rows << 'x' << matrix.columns << ':' << map.box_rows << 'x'
                      << map.box_columns << ':' << map.swizzle_bytes << ':' << map.l2_promotion_bytes;
    }
}

void print(const gemm::Plan& plan) {
    for (std::size_t i = 0; i < plan.step_count; ++i) {
        const gemm::Step& step = plan.steps[i];
        std::cout << '[' << step.entry << "] " << step.grid[0] << ' ' << step.grid[1] << ' '
                  << step.grid[2] << " / " << step.threads[0] << ' ' << step.threads[1] << ' '
                  << step.threads[2] << " / " << step.shared_bytes << ' ' << step.overlaps << " /";
        for (std::size_t each = 0; each < step.argument_count; ++each) print(step.arguments[each]);
        std::cout << " ; ";
    }
    for (std::size_t i = 0; i < plan.scratch_count; ++i)
        std::cout << name(plan.scratch[i].array) << '=' << plan.scratch[i].bytes() << ' ';
    std::cout << '\n';
}

// Reads a launch; the names of its maps live in `names`.
autotune::Launch read_launch(std::istream& in, std::vector<std::string>& names) {
    autotune::Launch launch{};
    in >> launch.threads[0] >> launch.threads[1] >> launch.threads[2] >> launch.shared_bytes >>
        launch.overlaps >> launch.map_count;
    for (std::uint32_t i = 0; i < launch.map_count; ++i) {
        autotune::Map& map = launch.maps[i];
        std::string operand;
        in >> operand >> map.box_rows >> map.box_columns >> map.swizzle_bytes >> map.l2_promotion_bytes;
        names.push_back(operand);
        map.operand = names.back();
    }
    return launch;
}

}  // namespace

int main() {
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream in(line);
        Config config;
        in >> config.tile_m >> config.tile_n >> config.cluster_m >> config.cluster_n >> config.split_k >>
            config.raster_group >> config.operands >> config.raster >> config.repack >>
            config.epilogue;
        gemm::Problem problem{};
        std::string dtype, layout;
        std::int64_t multiprocessors = 0;
        std::size_t count = 0;
        in >> problem.m >> problem.n >> problem.k >> dtype >> layout >> multiprocessors >> count;
        problem.dtype = dtype;
        problem.layout = layout;
        std::vector<std::string> names;
        names.reserve(3 * count);
        bool done = false;
        for (std::size_t i = 0; i < count; ++i) {
            const autotune::Launch launch = read_launch(in, names);
            if (done || !gemm::serves(launch, config, problem)) continue;
            print(gemm::plan(launch, config, problem, multiprocessors));
            done = true;
        }
        if (!in || !done) return 1;
    }
}
