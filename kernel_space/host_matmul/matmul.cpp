// C = A * B in fp32, row-major, tiled for one core. Tails of every size are handled.
#include <algorithm>

enum class Order { ijk, ikj, kij };  // how the loops inside a tile are nested, outermost first

#include "config.h"

namespace {

struct Span {
    int begin, end;
};

struct Problem {
    const float* a;
    const float* b;
    float* c;
    int n, k;

    const float& a_at(int i, int p) const { return a[static_cast<long>(i) * k + p]; }
    const float* b_row(int p) const { return b + static_cast<long>(p) * n; }
    float* c_row(int i) const { return c + static_cast<long>(i) * n; }
};

// Adds UNROLL rank-1 terms to one row of C at a time.
void add_row(const Problem& x, int i, int p, Span cols) {
    float* c = x.c_row(i);
    for (int j = cols.begin; j < cols.end; ++j) {
        float sum = 0.0f;
        for (int u = 0; u < UNROLL; ++u) sum += x.a_at(i, p + u) * x.b_row(p + u)[j];
        c[j] += sum;
    }
}

void add_row_tail(const Problem& x, int i, Span inner, Span cols) {
    float* c = x.c_row(i);
    for (int p = inner.begin; p < inner.end; ++p)
        for (int j = cols.begin; j < cols.end; ++j) c[j] += x.a_at(i, p) * x.b_row(p)[j];
}

// Adds UNROLL partial dot products to one element of C.
void add_element(const Problem& x, int i, int j, Span inner) {
    float sums[UNROLL] = {};
    int p = inner.begin;
    for (; p + UNROLL <= inner.end; p += UNROLL)
        for (int u = 0; u < UNROLL; ++u) sums[u] += x.a_at(i, p + u) * x.b_row(p + u)[j];
    for (; p < inner.end; ++p) sums[0] += x.a_at(i, p) * x.b_row(p)[j];
    for (float sum : sums) x.c_row(i)[j] += sum;
}

void add_tile(const Problem& x, Span rows, Span inner, Span cols) {
    const int whole = inner.begin + (inner.end - inner.begin) / UNROLL * UNROLL;
    if constexpr (ORDER == Order::ijk) {
        for (int i = rows.begin; i < rows.end; ++i)
            for (int j = cols.begin; j < cols.end; ++j) add_element(x, i, j, inner);
    } else if constexpr (ORDER == Order::ikj) {
        for (int i = rows.begin; i < rows.end; ++i) {
            for (int p = inner.begin; p < whole; p += UNROLL) add_row(x, i, p, cols);
            add_row_tail(x, i, {whole, inner.end}, cols);
        }
    } else {
        for (int p = inner.begin; p < whole; p += UNROLL)
            for (int i = rows.begin; i < rows.end; ++i) add_row(x, i, p, cols);
        for (int i = rows.begin; i < rows.end; ++i) add_row_tail(x, i, {whole, inner.end}, cols);
    }
}

}  // namespace

extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    const Problem x{a, b, c, n, k};
    std::fill(c, c + static_cast<long>(m) * n, 0.0f);
    for (int i = 0; i < m; i += TILE_M)
        for (int p = 0; p < k; p += TILE_K)
            for (int j = 0; j < n; j += TILE_N)
                add_tile(x, {i, std::min(i + TILE_M, m)}, {p, std::min(p + TILE_K, k)},
                         {j, std::min(j + TILE_N, n)});
}
