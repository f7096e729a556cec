"""The yardstick: the kernel's default, measured again and again through a search.

What a device gives changes with its temperature, its clock and its neighbours. The yardstick's
readings say by how much, so that trials can be compared across a search, and so that those which
were measured in a bad moment meet the best ones again in the final.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median_high

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
        self.readings = list(readings)
        self._keep = keep

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
        earlier = [each for each in self.readings if each.after <= trial.number]
        later = [each for each in self.readings if each.after > trial.number]
        around = [*earlier[-1:], *later[:1]]
        return max((self.slowness_of(each) for each in around), default=1.0)

    def slowness_of(self, reading: Reading) -> float:
        """Return how slow the device was at a reading: 1.1 is ten percent slower than usual."""
        usual_ns = median_high(each.measurement.median_ns for each in self.readings)
        return reading.measurement.median_ns / usual_ns

    def _read(self, trials: int) -> Reading | None:
        candidate = self._question.default
        built = self._question.device.build(candidate).result()
        outcome = self._question.measure(candidate, built)
        if outcome.status is not Status.OK or outcome.measurement is None:
            self._every = 0  # it fails now, and what fails is no measure
            return None
        reading = Reading(after=trials, config=candidate.config, measurement=outcome.measurement)
        self.readings.append(reading)
        self._keep(reading)
        return reading
