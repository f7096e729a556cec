// Times the lookup of a table's header: nanoseconds a call, the median over rounds of all problems.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "tuned.hpp"

namespace gemm = tuned::gemm;

namespace {

constexpr int rounds = 301;

double median_ns(const std::vector<gemm::Problem>& problems, std::uint64_t& sum) {
    std::vector<double> samples;
    for (int round = 0; round < rounds; ++round) {
        const auto began = std::chrono::steady_clock::now();
        for (const auto& problem : problems) sum += gemm::lookup(problem).answer;
        const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began;
        samples.push_back(took.count() / static_cast<double>(problems.size()));
    }
    std::nth_element(samples.begin(), samples.begin() + rounds / 2, samples.end());
    return samples[rounds / 2];
}

}  // namespace

// Each file holds one problem of bf16 and nt a line: m, n and k.
int main(int count, char** files) {
    std::uint64_t sum = 0;
    for (int i = 1; i < count; ++i) {
        std::FILE* file = std::fopen(files[i], "r");
        if (file == nullptr) return 2;
        std::vector<gemm::Problem> problems;
        long long m, n, k;
        while (std::fscanf(file, "%lld %lld %lld", &m, &n, &k) == 3)
            problems.push_back({m, n, k, gemm::Dtype::bf16, gemm::Layout::nt});
        std::fclose(file);
        std::printf("%.2f\n", median_ns(problems, sum));
    }
    return sum == 0;
}
