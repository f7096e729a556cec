"""The energy of a launch, by counters that move as those of GPUs do."""

from __future__ import annotations

import itertools

import pytest

from autotune.device.energy import sample_energy_mj

WATTS = 500.0


class Board:
    """Draws 500 W, and counts them in steps of so many ms of its own time."""

    def __init__(self, *, each_ms, step_ms):
        self._each_ms = each_ms
        self._step_ms = step_ms
        self._ms = 12.3  # it has been on for a while
        self.samples = 0

    def sample_ns(self, count):
        self._ms += count * self._each_ms
        self.samples += count
        return [self._each_ms * 1e6] * count

    def counter_mj(self):
        return int(WATTS * (self._ms // self._step_ms) * self._step_ms)


@pytest.mark.parametrize("each_ms", [0.02, 0.5, 7.0, 90.0, 800.0])
@pytest.mark.parametrize("step_ms", [1.0, 20.0, 100.0])
def test_it_is_right_however_coarse_the_counter_is(each_ms, step_ms):
    board = Board(each_ms=each_ms, step_ms=step_ms)
    energy_mj = sample_energy_mj(board.counter_mj, board, each_ns=each_ms * 1e6, window_ms=400.0)

    assert energy_mj == pytest.approx(WATTS * each_ms, rel=0.15 if each_ms > 50 else 0.05)


def test_it_takes_hardly_longer_than_it_was_asked_to():
    board = Board(each_ms=0.5, step_ms=20.0)
    sample_energy_mj(board.counter_mj, board, each_ns=0.5e6, window_ms=100.0)

    assert 200 <= board.samples <= 400  # of 0.5 ms: up to two steps come on top


@pytest.mark.parametrize("readings", [itertools.repeat(None), itertools.repeat(7)])
def test_a_counter_that_tells_nothing_gives_none_and_an_end(readings):
    board = Board(each_ms=0.5, step_ms=20.0)
    assert sample_energy_mj(lambda: next(readings), board, each_ns=0.5e6, window_ms=100.0) is None
    assert board.samples <= 640
