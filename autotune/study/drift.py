"""The yardstick: the kernel's default, measured again and again through a search.

What a device gives changes with its temperature, its clock and its neighbours. The yardstick's
readings say by how much, so that trials can be compared across a search, and so that those which
were measured in a bad moment meet the best ones again in the final.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Sequence

from autotune.records import Reading, Status, Trial
from autotune.study.question import Question

Keep = Callable[[Reading], None]


class Yardstick:
    """Measures the default of one problem again, once in ``every`` trials.

    Args:
        question: The problem, asked of a device.
        every: Trials between two readings; 0 takes none.
        limit: Readings that differ from the median by more than this share of it are excursions.
        readings: What earlier runs read.
        keep: Writes a reading down.
    """

    def __init__(
        self,
        question: Question,
        *,
        every: int,
        limit: float,
        readings: Sequence[Reading],
        keep: Keep,
    ) -> None:
        self._question, self._every, self._limit = question, every, limit
        self._keep = keep
        self._after = [reading.after for reading in readings]  # grows, as trials do
        self._medians_ns = [reading.measurement.median_ns for reading in readings]
        self._ordered_ns = sorted(self._medians_ns)

    def after(self, trials: int) -> Reading | None:
        """Read it if ``trials`` trials call for it; read an excursion once more."""
        if not self._every or trials % self._every:
            return None
        reading = self._read(trials)
        if reading is not None and self.is_excursion(reading):
            reading = self._read(trials)
        return reading

    def is_excursion(self, reading: Reading) -> bool:
        """Return whether it is further from the median reading than the limit."""
        return abs(self.slowness_of(reading) - 1) > self._limit

    def slowness_at(self, trial: Trial) -> float:
        """Return how slow the device was around ``trial``, 1.0 where nothing tells.

        That is the worse of the readings before and after it: a trial is doubted too often
        rather than never.
        """
        later = bisect_right(self._after, trial.number)
        around_ns = self._medians_ns[max(0, later - 1) : later + 1]
        return max(around_ns) / self._usual_ns if around_ns else 1.0

    def slowness_of(self, reading: Reading) -> float:
        """Return how slow the device was at a reading: 1.1 is ten percent slower than usual."""
        return reading.measurement.median_ns / self._usual_ns

    @property
    def _usual_ns(self) -> float:
        """The median reading, of two the higher."""
        return self._ordered_ns[len(self._ordered_ns) // 2]

    def _read(self, trials: int) -> Reading | None:
        candidate = self._question.default
        built = self._question.device.build(candidate).result()
        outcome = self._question.measure(candidate, built)
        if outcome.status is not Status.OK or outcome.measurement is None:
            self._every = 0  # it fails now, and what fails is no measure
            return None
        reading = Reading(after=trials, config=candidate.config, measurement=outcome.measurement)
        self._after.append(trials)
        self._medians_ns.append(reading.measurement.median_ns)
        insort(self._ordered_ns, reading.measurement.median_ns)
        self._keep(reading)
        return reading
