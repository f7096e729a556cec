// y = 2 x, unless FATE says otherwise. Each process that runs a candidate is noted in a file.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

enum class Fate {
    right, half, odd_is_wrong, accumulate, crash, kill, hang, hang_on_odd, hang_when_told
};

#include "config.h"

static void note_run() {
    static bool noted = false;
    const char* path = std::getenv("DOUBLING_RUNS");
    if (noted || path == nullptr) return;
    noted = true;
    std::FILE* file = std::fopen(path, "a");
    std::fprintf(file, "%s\n", NAME);
    std::fclose(file);
}

static bool told_to_hang() {
    const char* path = std::getenv("DOUBLING_HANGS");
    return path != nullptr && access(path, F_OK) == 0;
}

static bool hangs(int count) {
    return FATE == Fate::hang || (FATE == Fate::hang_on_odd && count % 2) ||
           (FATE == Fate::hang_when_told && told_to_hang());
}

extern "C" void doubled(const float* x, float* y, int count) {
    note_run();
    if (FATE == Fate::crash) std::raise(SIGSEGV);
    if (FATE == Fate::kill) ::kill(getpid(), SIGKILL);
    if (hangs(count))
        for (volatile int spin = 0;; spin = spin + 1) {}
    const int written = FATE == Fate::half ? count / 2 : count;
    for (int i = 0; i < written; ++i)
        y[i] = (FATE == Fate::accumulate ? y[i] : 0.0f) + 2.0f * x[i];
    if (FATE == Fate::odd_is_wrong && count % 2) y[count - 1] += 1.0f;
}
