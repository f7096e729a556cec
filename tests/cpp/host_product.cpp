// Computes a product on the host from a bundle: host_product FOLDER M N K, and compares it.
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "autotune/files.hpp"
#include "tuned.hpp"

int main(int, char** words) {
    namespace matmul = tuned::host_matmul;
    const long long m = std::atoll(words[2]), n = std::atoll(words[3]), k = std::atoll(words[4]);
    const autotune::Choice choice = matmul::lookup({m, n, k});
    for (const autotune::Launch& launch : matmul::launches) {
        if (launch.answer != choice.answer) continue;
        const autotune::Binary& binary = tuned::binaries[launch.binary];
        const std::vector<char> image = autotune::checked_content(words[1], binary);
        const std::string copy = std::string(words[1]) + "/../image.so";
        std::ofstream(copy, std::ios::binary).write(image.data(), static_cast<long>(image.size()));
        void* library = dlopen(copy.c_str(), RTLD_NOW);
        using Product = void (*)(const float*, const float*, float*, int, int, int);
        const auto product = reinterpret_cast<Product>(dlsym(library, std::string(binary.entry).c_str()));
        std::vector<float> a(static_cast<std::size_t>(m * k), 0.5f), b(static_cast<std::size_t>(k * n), 2.0f);
        std::vector<float> c(static_cast<std::size_t>(m * n));
        product(a.data(), b.data(), c.data(), static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
        bool right = true;
        for (float each : c) right &= std::fabs(each - static_cast<float>(k)) == 0.0f;
        std::printf("%d %u %s\n", static_cast<int>(choice.source), choice.answer, right ? "right" : "wrong");
    }
}
