// Multiplies two matrices by the best config of a bundle, and checks the product. No Python is needed.
//
//   autotune bundle table.json --out gemm_bundle
//   autotune header gemm_bundle --out include
//   nvcc -std=c++17 -Iinclude examples/multiply.cu -o multiply
//   ./multiply gemm_bundle 4096 4096 4096
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "autotune/bundle.hpp"
#include "tuned.hpp"

namespace gemm = tuned::gemm;

// Device memory that holds `count` values of bf16.
class Matrix {
public:
    Matrix(std::size_t count, float value) : values_(count, __float2bfloat16(value)) {
        cudaMalloc(&memory_, bytes());
        cudaMemcpy(memory_, values_.data(), bytes(), cudaMemcpyHostToDevice);
    }
    Matrix(const Matrix&) = delete;
    Matrix& operator=(const Matrix&) = delete;
    ~Matrix() { cudaFree(memory_); }

    autotune::driver::Pointer address() const {
        return reinterpret_cast<autotune::driver::Pointer>(memory_);
    }

    const std::vector<__nv_bfloat16>& read() {
        cudaMemcpy(values_.data(), memory_, bytes(), cudaMemcpyDeviceToHost);
        return values_;
    }

private:
    std::size_t bytes() const { return values_.size() * sizeof(__nv_bfloat16); }

    std::vector<__nv_bfloat16> values_;
    void* memory_ = nullptr;
};

int main(int count, char** words) {
    if (count != 5) return std::fprintf(stderr, "usage: %s BUNDLE M N K\n", words[0]), 2;
    const std::size_t m = std::strtoul(words[2], nullptr, 10), n = std::strtoul(words[3], nullptr, 10),
                      k = std::strtoul(words[4], nullptr, 10);
    const gemm::Problem problem{static_cast<std::int64_t>(m), static_cast<std::int64_t>(n),
                                static_cast<std::int64_t>(k), gemm::Dtype::bf16, gemm::Layout::nt};
    Matrix a(m * k, 0.5f), b(n * k, 2.0f), c(m * n, 0.0f);  // nt: B is stored as N x K
    try {
        autotune::Bundle bundle(words[1], tuned::binaries);
        const autotune::Choice choice = gemm::lookup(problem);
        bundle.multiply(choice, gemm::launches, gemm::config(choice), gemm::described(problem),
                        {a.address(), b.address(), c.address()}, cudaStreamPerThread);
        cudaStreamSynchronize(cudaStreamPerThread);
    } catch (const autotune::Error& error) {
        return std::fprintf(stderr, "error: %s\n", error.what()), 1;
    }
    std::size_t wrong = 0;
    const float expected = __bfloat162float(__float2bfloat16(static_cast<float>(k)));
    for (__nv_bfloat16 each : c.read()) wrong += __bfloat162float(each) != expected;
    std::printf("%zu x %zu x %zu: %zu of %zu elements are wrong\n", m, n, k, wrong, m * n);
    return wrong != 0;
}
