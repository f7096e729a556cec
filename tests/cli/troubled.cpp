// C = A * B in fp32, unless TROUBLE says otherwise.
#include <cstdio>
#include <cstdlib>

enum class Trouble { none, refuse, hang, wrong };

#include "config.h"

static_assert(TROUBLE != Trouble::refuse, "this configuration refuses to compile");

extern "C" int twin() { return TWIN; }

extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    if (TROUBLE == Trouble::hang) {
        std::fclose(std::fopen(std::getenv("TROUBLED_HANGS"), "w"));  // tells the test
        for (volatile int spin = 0;; spin = spin + 1) {}
    }
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            float sum = 0.0f;
            for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
            c[i * n + j] = TROUBLE == Trouble::wrong ? sum + 1.0f : sum;
        }
}
