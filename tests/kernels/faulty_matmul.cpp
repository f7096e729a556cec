// C = A * B, right unless FAULT says otherwise.
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>

enum class Fault {
    none, compile_error, half_of_k, nan, nothing, overrun, underrun, spoil_input, waver,
    segfault, hang, exit, odd_rows, odd_crash, swallow_nan, seldom,
};

#include "config.h"

static_assert(FAULT != Fault::compile_error, "this configuration must not compile");

static int calls = 0;

extern "C" void matmul(float* a, const float* b, float* c, int m, int n, int k) {
    ++calls;
    const int used = FAULT == Fault::half_of_k ? k / 2 : k;
    if (FAULT == Fault::nothing) return;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            float sum = 0.0f;
            for (int p = 0; p < used; ++p) sum += a[i * k + p] * b[p * n + j];
            c[i * n + j] = sum;
        }
    if (FAULT == Fault::nan) c[m * n / 2] = NAN;
    if (FAULT == Fault::overrun) c[m * n] = 1.0f;
    if (FAULT == Fault::underrun) c[-1] = 1.0f;
    if (FAULT == Fault::spoil_input) a[0] += 1.0f;
    if (FAULT == Fault::waver && calls % 2 == 0) c[0] = std::nextafter(c[0], 1e9f);
    if (FAULT == Fault::seldom && calls % 200 == 100) c[0] += 1.0f;
    if (FAULT == Fault::segfault) std::raise(SIGSEGV);
    if (FAULT == Fault::exit) std::exit(3);
    if (FAULT == Fault::odd_rows && m % 2) c[m * n - 1] += 1.0f;
    if (FAULT == Fault::odd_crash && m % 2) std::raise(SIGSEGV);
    if (FAULT == Fault::swallow_nan)
        for (int i = 0; i < m * n; ++i)
            if (c[i] != c[i]) c[i] = 0.0f;
    if (FAULT == Fault::hang) {
        if (const char* file = std::getenv("FAULTY_HANGS")) std::fclose(std::fopen(file, "w"));
        for (volatile int spin = 0;; spin = spin + 1) {}
    }
}
