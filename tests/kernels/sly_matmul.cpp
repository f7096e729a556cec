// C = A * B, by a candidate that is right while it is checked and up to a TRICK.
#include <csignal>
#include <cstring>
#include <unistd.h>
#include <vector>

enum class Trick {
    none, tire, remember, spoil_later, fork, child, close, garble, chatter, chdir, stop
};

#include "config.h"

static const int CHECKED = 8;  // calls: more than a check makes, fewer than with the least of timing
static int calls = 0;

static void up_to_a_trick() {
    if (TRICK == Trick::fork) (void)!fork();
    if (TRICK == Trick::child && fork() == 0) execlp("sleep", "sleep", MARK, nullptr);
    if (TRICK == Trick::close)
        for (int file = 0; file < 1024; ++file) close(file);
    if (TRICK == Trick::garble)
        for (int file = 3; file < 64; ++file) (void)!write(file, "\0\0\0\3abc", 7);
    if (TRICK == Trick::chatter)
        for (int line = 0; line < 20000; ++line) (void)!write(1, "\xff candidate says\n", 17);
    if (TRICK == Trick::chdir) (void)!chdir("/");
    if (TRICK == Trick::stop) std::raise(SIGSTOP);
}

extern "C" void matmul(float* a, const float* b, float* c, int m, int n, int k) {
    static std::vector<float> last;
    if (++calls == 1) up_to_a_trick();
    if (calls > CHECKED) {
        if (TRICK == Trick::tire) return;
        if (TRICK == Trick::spoil_later) a[0] += 1.0f;
        if (TRICK == Trick::remember) {
            std::memcpy(c, last.data(), last.size() * sizeof(float));
            return;
        }
    }
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            float sum = 0.0f;
            for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
            c[i * n + j] = sum;
        }
    last.assign(c, c + m * n);
}
