"""The energy of a launch, by a counter that moves in steps of some tens of milliseconds."""

from __future__ import annotations

from collections.abc import Callable

from autotune.timing import Stopwatch

AT_ONCE_MS = 10.0  # work between two looks: long beside a look, and short beside the window
PATIENCE = 3.0  # times what was asked for: a counter that stands so long is none


def sample_energy_mj(
    counter_mj: Callable[[], int | None],
    stopwatch: Stopwatch,
    *,
    each_ns: float,
    window_ms: float,
) -> float | None:
    """Return the energy that one sample takes, in mJ, or None if the counter does not tell.

    Samples are taken without a break, and what is counted lies between two steps of the counter:
    between other moments it may be off by a whole step at either end.

    Args:
        counter_mj: Reads the energy that the device has taken so far, in mJ.
        stopwatch: Takes the samples.
        each_ns: About how long a sample takes, in ns.
        window_ms: How far the two steps must be apart, in ms of samples.
    """
    count = max(1, round(AT_ONCE_MS * 1e6 / each_ns))
    patience_ns = PATIENCE * max(window_ms * 1e6, count * each_ns)
    first: tuple[int, float, int] | None = None
    samples, ran_ns, last_mj = 0, 0.0, counter_mj()
    while last_mj is not None and ran_ns < patience_ns:
        ran_ns += sum(stopwatch.sample_ns(count))
        samples += count
        now_mj = counter_mj()
        if now_mj is None or now_mj == last_mj:
            last_mj = now_mj
            continue
        last_mj = now_mj
        first = first or (now_mj, ran_ns, samples)
        if ran_ns - first[1] >= window_ms * 1e6:
            return (now_mj - first[0]) / (samples - first[2])
    return None
