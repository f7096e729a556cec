// Reads problems, one a line, and prints for each where its answer comes from and which it is.
#include <cstdio>
#include <string>

#include "tuned.hpp"

int main(int count, char** words) {
    namespace gemm = tuned::gemm;
    std::FILE* file = count == 2 ? std::fopen(words[1], "r") : nullptr;
    if (file == nullptr) return 2;
    long long m = 0, n = 0, k = 0;
    char dtype[16], batch[16];
    while (std::fscanf(file, "%lld %lld %lld %15s %15s", &m, &n, &k, dtype, batch) == 5) {
        const auto kind = gemm::dtype_from(dtype);
        const auto many = gemm::batch_from(batch);
        autotune::Choice choice;
        if (kind && many) choice = gemm::lookup({m, n, k, *kind, *many});
        std::printf("%d %u\n", static_cast<int>(choice.source), choice.answer);
    }
    std::fclose(file);
}
