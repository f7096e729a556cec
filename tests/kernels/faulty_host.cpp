// C = A * B, right and ROUNDS times over, unless FAULT says otherwise.
#include <fcntl.h>
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum class Fault {
    none, victim,
    // It stays right.
    prints, forks, copies_itself, changes_folder, clears_environment, takes_signals, rounds_up,
    lowers_limits, leaves_spinning, leaves_crashing, crashes_once, killed_once,
    // It ends, or does not.
    null, illegal_address, read_only_write, divides_by_zero, illegal_instruction, aborts, throws,
    exits, kills_itself, frees_twice, overflows_stack, spins, sleeps, deadlocks, stops,
    crashes_second, exhausts_memory, closes_files, garbles_pipe,
    // It is wrong.
    half_of_k, not_a_number, infinite, zeros, nothing, tail, integers_only, low_precision,
    transposed, accumulates, overruns, underruns, spoils_input, wavers, rarely_wrong, stale,
    trusts_scratch, beyond_scratch,
    // It is not as fast as it looks.
    tires, remembers, spoils_later, clock_zero, clock_negative, clock_nan, clock_infinite,
    clock_stuck
};

#include "config.h"

namespace {

constexpr int CHECKED = 8;  // calls: more than a check makes, fewer than with the least of timing
constexpr bool is(Fault fault) { return FAULT == fault; }
volatile int zero = 0;
char* volatile last_block;
int calls = 0;

// Notes in a file that this candidate runs in one more process; returns in how many it has.
long witness(const char* folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, NAME);
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    (void)!write(file, "x", 1);
    const long processes = lseek(file, 0, SEEK_END);
    close(file);
    return processes;
}

void begin() {
    const char* folder = getenv("FAULTS_WITNESS");
    const bool first = folder && witness(folder) == 1;
    if (is(Fault::crashes_once) && first) abort();
    if (is(Fault::killed_once) && first) raise(SIGKILL);
}

int overflow(int depth) {
    volatile char frame[4096];
    frame[0] = static_cast<char>(depth);
    return overflow(depth + 1) + frame[0];
}

void* spin(void*) {
    for (volatile int i = 0;; i = i + 1) {}
}

long runs_of_right_ones() {
    char path[4096];
    snprintf(path, sizeof path, "%s/none", getenv("FAULTS_WITNESS"));
    struct stat found;
    return stat(path, &found) == 0 ? found.st_size : 0;
}

// Ends the process while the next candidate runs.
void* crash_later(void*) {
    const long before = runs_of_right_ones();
    while (runs_of_right_ones() == before) usleep(500);
    abort();
}

void leave(void* (*what)(void*)) {
    pthread_t thread;
    pthread_create(&thread, nullptr, what, nullptr);
}

void lock_twice() {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
}

void take_all_memory() {
    const rlimit little{1ul << 32, 1ul << 32};
    setrlimit(RLIMIT_AS, &little);
    for (;;) last_block = new char[1 << 26];
}

void lower_limits() {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
    setrlimit(RLIMIT_FSIZE, &none);
}

void in_the_way_of_others() {
    if (is(Fault::prints))
        for (int line = 0; line < 100000; ++line) (void)!write(1, "\xff a candidate says\n", 19);
    if (is(Fault::forks) && fork() == 0) execlp("sleep", "sleep", "600", nullptr);
    if (is(Fault::copies_itself)) (void)!fork();
    if (is(Fault::changes_folder)) (void)!chdir("/");
    if (is(Fault::clears_environment)) clearenv();
    if (is(Fault::takes_signals))
        for (int number = 1; number < NSIG; ++number) signal(number, SIG_IGN);
    if (is(Fault::rounds_up)) fesetround(FE_UPWARD);
    if (is(Fault::lowers_limits)) lower_limits();
    if (is(Fault::leaves_spinning)) leave(spin);
    if (is(Fault::leaves_crashing)) leave(crash_later);
    if (is(Fault::closes_files))
        for (int file = 0; file < 1024; ++file) close(file);
    if (is(Fault::garbles_pipe))
        for (int file = 3; file < 64; ++file) (void)!write(file, "\0\0\0\3abc", 7);
}

void end(float* a) {
    if (is(Fault::null)) *reinterpret_cast<volatile float*>(zero) = 1.0f;
    if (is(Fault::illegal_address)) a[(1ll << 44) + zero] = 1.0f;
    if (is(Fault::read_only_write)) const_cast<volatile char*>(NAME)[zero] = 'x';
    if (is(Fault::divides_by_zero)) zero = 12345 % zero;
    if (is(Fault::illegal_instruction)) __builtin_trap();
    if (is(Fault::aborts)) abort();
    if (is(Fault::throws)) throw 1;
    if (is(Fault::exits)) exit(0);
    if (is(Fault::kills_itself)) raise(SIGKILL);
    if (is(Fault::frees_twice)) free(a + 1);
    if (is(Fault::overflows_stack)) overflow(zero);
    if (is(Fault::spins)) spin(nullptr);
    if (is(Fault::sleeps)) sleep(600);
    if (is(Fault::deadlocks)) lock_twice();
    if (is(Fault::stops)) raise(SIGSTOP);
    if (is(Fault::crashes_second) && calls == 2) abort();
    if (is(Fault::exhausts_memory)) take_all_memory();
}

float term(float x, float y) {
    if (is(Fault::integers_only)) return truncf(x) * truncf(y);
    if (is(Fault::low_precision)) {
        x = roundf(x * 64.0f) / 64.0f;
        y = roundf(y * 64.0f) / 64.0f;
    }
    return x * y;
}

void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
    const int used = is(Fault::half_of_k) ? k / 2 : k;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            const bool short_of_one = is(Fault::tail) && j >= n / 4 * 4;
            float sum = is(Fault::accumulates) ? c[i * n + j] : 0.0f;
            for (int p = 0; p < used - short_of_one; ++p)
                sum += term(a[i * k + p], b[p * n + j]);
            c[is(Fault::transposed) ? j * m + i : i * n + j] = sum;
        }
}

void spoil(float* a, float* c, int size) {
    if (is(Fault::not_a_number)) c[size / 2] = NAN;
    if (is(Fault::infinite)) c[size / 2] = INFINITY;
    if (is(Fault::zeros)) memset(c, 0, size * sizeof *c);
    if (is(Fault::overruns)) c[size] = 1.0f;
    if (is(Fault::underruns)) c[-1] = 1.0f;
    if (is(Fault::spoils_input)) a[0] += 1.0f;
    if (is(Fault::wavers) && calls % 2 == 0) c[0] = nextafterf(c[0], 1e9f);
    if (is(Fault::rarely_wrong) && calls % 1000 == 500) c[0] += 1.0f;
    if (is(Fault::spoils_later) && calls > CHECKED) a[0] += 1.0f;
}

// What the candidate before this one answered, from the file that it left.
void answer_of_another(float* c, int size) {
    const char* folder = getenv("FAULTS_WITNESS");
    char path[4096];
    if (!folder) return;  // one that clears the environment came before: leave nothing here
    snprintf(path, sizeof path, "%s/answer", folder);
    const bool reads = is(Fault::stale);
    if (!reads && calls != 1) return;
    FILE* file = fopen(path, reads ? "rb" : "wb");
    if (!file) return;
    (void)!(reads ? fread(c, sizeof *c, size, file) : fwrite(c, sizeof *c, size, file));
    fclose(file);
}

void through_scratch(float* c, float* w, int m, int n) {
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) c[i * n + j] += w[j];
}

}  // namespace

extern "C" const int clock_fault = static_cast<int>(FAULT) - static_cast<int>(Fault::clock_zero);

extern "C" void matmul(float* a, const float* b, float* c, int m, int n, int k, float* w) {
    static float* last = static_cast<float*>(malloc(m * n * sizeof(float)));
    if (++calls == 1) {
        begin();
        in_the_way_of_others();
    }
    if (is(Fault::nothing) || (is(Fault::tires) && calls > CHECKED)) return;
    if (is(Fault::remembers) && calls > CHECKED) {
        memcpy(c, last, m * n * sizeof(float));
        return;
    }
    end(a);
    if (is(Fault::stale)) return answer_of_another(c, m * n);
    for (int round = 0; round < ROUNDS; ++round) {
        multiply(a, b, c, m, n, k);
        asm volatile("" ::: "memory");
    }
    if (is(Fault::beyond_scratch)) w[n] = 1.0f;
    if (is(Fault::trusts_scratch)) through_scratch(c, w, m, n);
    if (is(Fault::none)) answer_of_another(c, m * n);
    if (is(Fault::remembers)) memcpy(last, c, m * n * sizeof(float));
    spoil(a, c, m * n);
}
