"""A recording that measures: what a device recorded, drawn again with its noise and a drift.

A ``ResampledDevice`` is no replay to a study: it verifies nothing, but it times each candidate
with the product's own sampler, whose stopwatch draws from the recorded samples of that candidate
(a bootstrap: the recorded samples of a candidate show no correlation with their neighbours), so
that the true time of a candidate is its recorded median. All samples of one measurement are
multiplied by a drift that goes on from measurement to measurement: an autoregression of a stated
standard deviation that forgets with a stated number of measurements, as the recorded clocks do.

It also counts the device time that it was asked for. Verification is counted by the policy: a
launch for each case and repeat, one after timing, and the many after a final.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from statistics import fmean

from autotune.device import open_device, recordings
from autotune.device.recording import RecordingDevice
from autotune.errors import InvalidInput
from autotune.records import (
    Binary,
    Candidate,
    Config,
    DeviceIdentity,
    Failure,
    Kernel,
    Limits,
    Measurement,
    Outcome,
    Policy,
    Problem,
    Status,
    Toolchain,
)
from autotune.store import Store
from autotune.timing import Plan, Timing, set_count, stop_above_ns, time_launches
from autotune.toolchain import source_digest
from autotune.verify import Exam

DRIFT = 0.01  # standard deviation; the recorded clocks stay within 1 %, but for a few excursions
FORGETS = 10  # measurements: the clocks of so many trials apart correlate by about 1/e
MEAN_OF = 7  # samples that others take the mean of
FULL = Policy(stop_factor=0.0)  # asks a recording for all that it has


class Drift:
    """A factor that all times share, measurement by measurement.

    Args:
        share: Its standard deviation.
        seed: Everything random follows from it.
    """

    def __init__(self, share: float, seed: int) -> None:
        self._share = share
        self._random = random.Random(f"drift {seed}")  # noqa: S311 - not a secret
        self._state = self._random.gauss(0.0, 1.0)

    def step(self) -> float:
        """Return the factor of the next measurement."""
        kept = math.exp(-1 / FORGETS)
        self._state = kept * self._state
        self._state += math.sqrt(1 - kept**2) * self._random.gauss(0.0, 1.0)
        return 1.0 + self._share * self._state


class Resampling:
    """A stopwatch that draws from what was recorded, and counts what it would have cost."""

    def __init__(self, samples_ns: Sequence[float], factor: float, chance: random.Random) -> None:
        self._samples_ns, self._factor, self._chance = samples_ns, factor, chance
        self._launches = 1
        self.spent_ns = 0.0

    def load(self, plan: Plan) -> None:
        """Take batches of so many launches from now on."""
        self._launches = plan.launches

    def sample_ns(self, count: int) -> list[float]:
        """Draw the time of ``count`` batches, in ns."""
        drawn = self._chance.choices(self._samples_ns, k=count)
        times = [self._factor * each * self._launches for each in drawn]
        self.spent_ns += sum(times)
        return times


@dataclass(slots=True, kw_only=True)
class Spent:
    """Device time in ns, by what it was for; of how many measurements, and how many stopped.

    Of all time, ``again_ns`` went to what had been measured before: to yardsticks and finals.
    """

    verify_ns: float = 0.0
    time_ns: float = 0.0
    again_ns: float = 0.0
    measurements: int = 0
    stopped: int = 0

    @property
    def total_ns(self) -> float:
        """All of it, in ns."""
        return self.verify_ns + self.time_ns


class ResampledDevice:
    """Measures by drawing from a recording.

    Attributes:
        spent: The device time so far, by problem.
        means_ns: Beside it, for each config its first mean of ``MEAN_OF`` samples, drawn anew
            under the drift of the same moment: what a tuner without statistics would go by.

    Args:
        name: Of a recording.
        seed: Of its noise and its drift.
        drift: Standard deviation of the drift, relative.
    """

    replays = False
    lookahead = 1

    def __init__(self, name: str, *, seed: int, drift: float = DRIFT) -> None:
        opened = open_device(f"recording:{name}", limits=Limits())
        assert isinstance(opened, RecordingDevice)
        self.recording = opened
        self.name, self.identity = f"resampled:{name}", opened.identity
        self.spent: defaultdict[Problem, Spent] = defaultdict(Spent)
        self.means_ns: dict[tuple[str, Config], float] = {}
        self._drift = Drift(drift, seed)
        self._chance = random.Random(f"samples {seed}")  # noqa: S311 - not a secret
        self._others = random.Random(f"others {seed}")  # noqa: S311 - not a secret

    def policy(self, requested: Policy) -> Policy:
        """Return ``requested``: it samples as it is asked to."""
        return requested

    def toolchain_of(self, kernel: Kernel) -> Toolchain:
        """Return what compiled ``kernel`` for the recording."""
        return self.recording.toolchain_of(kernel)

    def preflight(self, kernel: Kernel) -> None:
        """Raise unless something of this kernel was recorded."""
        self.recording.preflight(kernel)

    def rehearse(self, candidate: Candidate) -> None:
        """Do nothing: it was built long ago."""
        del candidate

    def source_digest(self, candidate: Candidate) -> str:
        """Return the digest of today's source, so that a table takes what is measured here."""
        return source_digest(candidate.unit())

    def offers(self, kernel: Kernel, problem: Problem) -> tuple[Config, ...] | None:
        """Return the configs that were recorded."""
        return self.recording.offers(kernel, problem)

    def build(self, candidate: Candidate) -> Future[Binary | Failure]:
        """Return what the compiler made of it then; what was not recorded does not build."""
        try:
            return self.recording.build(candidate)
        except InvalidInput as error:  # a yardstick that came after the recording
            answer: Future[Binary | Failure] = Future()
            answer.set_result(Failure(status=Status.COMPILE_ERROR, message=error.message))
            return answer

    def measure(
        self,
        candidate: Candidate,
        binary: Binary,
        policy: Policy,
        *,
        best_ns: float | None = None,
    ) -> Outcome:
        """Time it with the product's sampler on drawn samples; what failed then fails again."""
        recorded = self.recording.measure(candidate, binary, FULL)
        if recorded.status is not Status.OK or recorded.measurement is None:
            return recorded
        factor, samples_ns = self._drift.step(), recorded.measurement.samples_ns
        again = self._notice(candidate, samples_ns, factor)
        stopwatch = Resampling(samples_ns, factor, self._chance)
        sets = _sets(candidate, policy)
        timing = time_launches(stopwatch, policy, sets=sets, best_ns=best_ns)
        outcome = _outcome(timing, stop_above_ns(policy, best_ns))
        spent = self.spent[candidate.problem]
        verify_ns = verifying_ns(policy, recorded.measurement.median_ns)
        spent.time_ns += stopwatch.spent_ns
        spent.verify_ns += verify_ns
        spent.again_ns += again * (stopwatch.spent_ns + verify_ns)
        spent.measurements += 1
        spent.stopped += outcome.status is Status.STOPPED_EARLY
        return outcome

    def close(self) -> None:
        """Close the recording."""
        self.recording.close()

    def _notice(self, candidate: Candidate, samples_ns: Sequence[float], factor: float) -> bool:
        """Return whether it was measured before."""
        key = candidate.problem.key, candidate.config
        if key in self.means_ns:
            return True
        self.means_ns[key] = factor * fmean(self._others.choices(samples_ns, k=MEAN_OF))
        return False


def _outcome(timing: Timing | Failure, above_ns: float) -> Outcome:
    if isinstance(timing, Failure):
        return Outcome.of(timing)
    measured = Measurement(
        samples_ns=timing.samples_ns, launches_per_sample=timing.launches_per_sample
    )
    if timing.stopped:
        return Outcome.stopped(measured, above_ns)
    return Outcome(status=Status.OK, measurement=measured)


def verifying_ns(policy: Policy, launch_ns: float) -> float:
    """Return how long a candidate that is right runs to be checked, in ns, and once after timing.

    In an exam its many launches take no longer than there is patience.
    """
    if not policy.verify:
        return 0.0
    many_ns = 0.0
    if isinstance(policy, Exam):
        many_ns = min(policy.launches * launch_ns, policy.patience_ms * 1e6)
    return (1 + policy.draws + policy.repeats + 1) * launch_ns + many_ns


def recorded_times(
    name: str, kernel: Kernel
) -> tuple[DeviceIdentity, dict[Problem, dict[Config, float]]]:
    """Return the device of a recording, and by problem the median of each config, in ns.

    Only of configs that were right and that the kernel of today allows.
    """
    with closing(Store.open(str(recordings()[name]), read_only=True, immutable=True)) as store:
        stored = [each for each in store.contexts() if each.context.kernel == kernel.name]
        times = {}
        for each in stored:
            problem = kernel.problem_type.parse(each.context.problem.as_dict())
            space = kernel.space(problem, each.context.device.target)
            times[problem] = {
                trial.config: trial.median_ns
                for trial in store.answers(each).values()
                if trial.median_ns is not None and space.broken(trial.config) is None
            }
        return stored[0].context.device, times


def _sets(candidate: Candidate, policy: Policy) -> int:
    operands = candidate.kernel.operands(candidate.problem)
    set_bytes = sum(operand.size_bytes for operand in operands)
    return set_count(set_bytes, candidate.target.l2_bytes, policy.cache)
