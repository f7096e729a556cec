// Compiled by the host's C++ compiler: every thread of the packing kernel, one after the other.
// Prints one line for each matrix that is packed wrongly; the compiler's address sanitizer ends
// the program where one reads or writes outside of an array.
#define __device__
#define __global__
#define __launch_bounds__(threads)

struct Index {
    unsigned x, y;
};
static Index threadIdx, blockIdx, gridDim;

static unsigned __funnelshift_r(unsigned low, unsigned high, unsigned bits) {
    return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32) | low) >> bits);
}

#include "hopper/pack.cuh"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace {

struct Matrix {
    int rows, columns, pitch;
    u16* from;
    Piece* to;

    Matrix(int rows_, int columns_)
        : rows(rows_), columns(columns_), pitch((columns_ + 63) / 64 * 64) {
        const std::size_t count = static_cast<std::size_t>(rows) * columns;
        from = static_cast<u16*>(std::malloc(count * sizeof(u16)));  // nothing is after its end
        for (std::size_t i = 0; i < count; ++i) from[i] = value(i);
        to = static_cast<Piece*>(std::aligned_alloc(16, bytes()));
        std::memset(to, 0xFF, bytes());
    }
    ~Matrix() {
        std::free(from);
        std::free(to);
    }
    std::size_t bytes() const { return static_cast<std::size_t>(rows) * pitch * sizeof(u16); }
    static u16 value(std::size_t i) { return static_cast<u16>(i * 40503u + 7u) | 1; }

    void check(const char* name, int blocks) const {
        const u16* packed = reinterpret_cast<const u16*>(to);
        for (int row = 0; row < rows; ++row)
            for (int column = 0; column < pitch; ++column, ++packed) {
                const u16 wanted =
                    column < columns ? value(static_cast<std::size_t>(row) * columns + column) : 0;
                if (*packed == wanted) continue;
                std::printf("%s %d x %d, %d blocks: wrong at [%d, %d]\n", name, rows, columns,
                            blocks, row, column);
                return;
            }
    }
};

void launch(const Matrix& a, const Matrix& b, unsigned blocks, unsigned matrices) {
    gridDim = {blocks, matrices};
    for (blockIdx.y = 0; blockIdx.y < matrices; ++blockIdx.y)
        for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
            for (threadIdx.x = 0; threadIdx.x < PACK_THREADS; ++threadIdx.x)
                pack(a.from, a.to, a.rows, a.columns, a.pitch, b.from, b.to, b.rows, b.columns,
                     b.pitch);
}

}  // namespace

int main() {
    for (int columns : {1, 2, 7, 8, 9, 63, 64, 65, 127, 129, 513, 900, 1001, 1022, 1023})
        for (int rows : {1, 2, 3, 19})
            for (int blocks : {1, 3, 40}) {
                const Matrix a(rows, columns), b(columns, rows);
                launch(a, b, blocks, 2);
                a.check("first", blocks);
                b.check("second", blocks);
                const Matrix alone(rows, columns);
                launch(alone, alone, blocks, 1);
                alone.check("alone", blocks);
            }
    return 0;
}
