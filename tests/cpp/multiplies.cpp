// Starts one product from a bundle: multiplies FOLDER M N K TIMES
#include <cstdio>
#include <cstdlib>
#include <string>

#include "autotune/bundle.hpp"
#include "tuned.hpp"

int main(int, char** words) {
    namespace gemm = tuned::gemm;
    const gemm::Problem problem{std::atoll(words[2]), std::atoll(words[3]), std::atoll(words[4]),
                                gemm::Dtype::bf16, gemm::Layout::nt};
    try {
        autotune::Bundle bundle(words[1], tuned::binaries);
        for (int i = 0; i < std::atoi(words[5]); ++i) {
            const autotune::Choice choice = gemm::lookup(problem);
            bundle.multiply(choice, gemm::launches, gemm::config(choice), gemm::described(problem),
                            {0xa0, 0xb0, 0xc0}, nullptr);
        }
    } catch (const autotune::Error& error) {
        std::printf("error: %s\n", error.what());
        return 1;
    }
}
