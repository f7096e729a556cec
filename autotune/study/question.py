"""One problem, asked of one device: what every way of going through a space shares."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Iterable, Iterator
from itertools import islice
from numbers import Real

from autotune.device.protocol import Device
from autotune.errors import InvalidInput, NoValidConfig
from autotune.records import (
    TIME,
    Binary,
    Candidate,
    Config,
    Failure,
    Outcome,
    Problem,
    Status,
    Trial,
    ask,
)
from autotune.space import Space
from autotune.store import Context
from autotune.study.spec import StudySpec

MOST_SEARCHED = 250_000  # configs: a search holds about a kilobyte for each
_VERIFIED_FIRST = (Status.OK, Status.STOPPED_EARLY)
_LAUNCHED = ("cuda", "c++")  # languages of kernels that say how they are launched


class Question:
    """One problem of a study, asked of one device: checked, and nothing recorded yet.

    Its valid configs are not kept: all problems of a study are checked before the first search.
    """

    def __init__(self, spec: StudySpec, problem: Problem, device: Device) -> None:
        self.spec = spec
        self.problem = problem
        self.device = device
        self.policy = device.policy(spec.policy)
        target = device.identity.target
        space = ask(spec.kernel, "space", problem, target, gives=Space)
        self.space = space.restricted(spec.space)
        config = ask(spec.kernel, "default", problem, target, gives=Config)
        self.default = self.candidate(config)
        if self.default.launch().empty:
            raise InvalidInput(f"problem {problem} is empty: there is nothing to tune")
        self.context = self._make_context()
        self.offered = device.offers(spec.kernel, problem)
        if next(self.valid(), None) is None:
            raise NoValidConfig(self._why_none())
        self.estimates([config])  # a fault in the model shows before anything is recorded

    def of_time_alone(self) -> Question:
        """Return the same, asked for nothing but times: what costs more is not measured."""
        asked = copy.copy(self)
        policy = self.spec.policy.replace(energy_ms=0.0, error=False)
        asked.spec = dataclasses.replace(self.spec, policy=policy, goals=(TIME,))
        return asked

    def valid(self) -> Iterator[Config]:
        """Yield every config that keeps the rules and that the device can answer for."""
        if self.offered is None:
            return iter(self.space)
        return (config for config in self.offered if self.space.broken(config) is None)

    def searched(self) -> tuple[list[Config], int]:
        """Return the valid configs that a search chooses from, and how many are valid.

        They are all, or a uniform sample of ``MOST_SEARCHED`` and the default. The sample follows
        from the study's seed: a study that is resumed has the same.
        """
        valid = list(islice(self.valid(), MOST_SEARCHED + 1))
        if len(valid) <= MOST_SEARCHED:
            return valid, len(valid)
        if self.offered is not None:
            valid = list(self.valid())
            return valid, len(valid)
        valid = self.space.sample(MOST_SEARCHED, self.spec.seed)
        default = self.default.config
        first = [default] if default in self.space else []
        return list(dict.fromkeys([*first, *valid])), self.space.count()

    def estimates(self, configs: Iterable[Config]) -> dict[Config, float]:
        """Return the finite times that the kernel predicts, in ns: none without a prior.

        Raises:
            InvalidInput: The kernel's code raised, or predicts what is no number.
        """
        if not self.spec.prior:
            return {}
        asked = self.problem, configs, self.device.identity.target
        found = ask(self.spec.kernel, "estimates", *asked, gives=dict)
        for config, ns in found.items():
            if not isinstance(ns, Real):  # numpy's numbers are
                raise InvalidInput(
                    f"kernel {self.spec.kernel.name!r}: estimates() for {self.problem} predicts "
                    f"{ns!r:.60} for {config}: it must be a time in ns, or left out"
                )
        return {config: ns for config, ns in found.items() if abs(ns) < math.inf}

    def candidate(self, config: Config) -> Candidate:
        """Return what is built and measured of ``config``."""
        return Candidate(
            kernel_ref=self.spec.kernel_ref,
            problem=self.problem,
            config=config,
            target=self.device.identity.target,
            kernel=self.spec.kernel,
        )

    def measure(
        self, candidate: Candidate, built: Binary | Failure, best_ns: float | None = None
    ) -> Outcome:
        """Verify and time ``candidate``, unless it could not be built.

        It is given up if it is much slower than ``best_ns``, as the study asks: also on a
        recording, whose policy is its own.

        Raises:
            InvalidInput: The kernel's source is gone, or is not what it was at the start.
        """
        if isinstance(built, Failure) or not built.cached:
            self._require_same_source()
        if isinstance(built, Failure):
            return Outcome.of(built)
        return self.device.measure(candidate, built, self.spec.policy, best_ns=best_ns)

    def trial(
        self,
        number: int,
        *,
        config: Config,
        built: Binary | Failure,
        outcome: Outcome,
        device_ns: int,
    ) -> Trial:
        """Return what is stored of a candidate that was built and measured."""
        binary = built if isinstance(built, Binary) else None
        return Trial(
            number=number,
            problem_key=self.problem.key,
            config=config,
            status=outcome.status,
            message=outcome.message,
            measurement=outcome.measurement,
            resources=binary.resources if binary else None,
            dynamic_shared_bytes=self._dynamic_shared_bytes(config, outcome.status),
            binary_key=binary.key if binary else "",
            compile_ns=binary.compile_ns if binary and not binary.cached else 0,
            device_ns=device_ns,
            verified=self.policy.verify and outcome.status in _VERIFIED_FIRST,
        )

    def require_goals(self, trial: Trial) -> None:
        """Raise ``InvalidInput`` if a trial that is right does not tell a goal of the study."""
        values = zip(self.spec.seeks[1:], self.spec.further(trial), strict=True)
        unknown = [goal.name for goal, value in values if value is None]
        if unknown and trial.status is Status.OK:
            raise InvalidInput(
                f"goals: {self.device.name} does not tell {unknown[0]} of {self.problem}",
                hint="leave it out, or measure on a device that tells it",
            )

    def _dynamic_shared_bytes(self, config: Config, status: Status) -> int | None:
        """Return the most that a launch of ``config`` asks for in a block, if it ran.

        How a library starts what it calls is not known, nor how another tool did.
        """
        if status not in _VERIFIED_FIRST or self.spec.kernel.language not in _LAUNCHED:
            return None
        return max(step.shared_bytes for step in self.candidate(config).launch().steps)

    def _require_same_source(self) -> None:
        """Raise if a row would be kept under a source that it is not of."""
        if self.device.source_digest(self.default) != self.context.source_digest:
            raise InvalidInput(
                f"kernel {self.spec.kernel.name!r}: its source has changed while it was tuned",
                hint="run the same command again; what was measured stays with the old source",
            )

    def _make_context(self) -> Context:
        return Context(
            kernel=self.spec.kernel.name,
            kernel_ref=self.spec.kernel_ref,
            source_digest=self.device.source_digest(self.default),
            problem=self.problem,
            device=self.device.identity,
            toolchain=self.device.toolchain_of(self.spec.kernel),
            policy=self.policy,
            replayed_from=self.device.name if self.device.replays else "",
        )

    def _why_none(self) -> str:
        where = f"{self.spec.kernel.name} {self.problem} on {self.device.name}"
        none = f"no valid configuration for {where}"
        if self.offered is not None:
            return f"{none}: none of its {len(self.offered)} is in the space"
        census = self.space.census()
        removed = ", ".join(f"{name} removed {count}" for name, count in census.removed.items())
        return f"{none}: of {census.total}, {removed}"
