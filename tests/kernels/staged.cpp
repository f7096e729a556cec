// out = 2 * in by way of scratch, in two steps, right unless FAULT says otherwise.
enum class Fault { none, short_copy, overrun, stale, absent, huge };

#include "config.h"

static int calls = 0;

extern "C" void stage(const float* in, float* copy, int count) {
    if (FAULT == Fault::stale && calls++ > 0) return;
    for (int i = 0; i < count - (FAULT == Fault::short_copy); ++i) copy[i] = in[i];
    if (FAULT == Fault::overrun) copy[count] = 1.0f;
}

extern "C" void scale(const float* copy, float* out, int count) {
    for (int i = 0; i < count; ++i) out[i] = 2.0f * copy[i];
}
