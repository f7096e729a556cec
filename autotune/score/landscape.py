"""One recorded space: what became of each config, and what it cost to find out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from autotune.records import Config, Status, Trial, Value
from autotune.space import Space

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Landscape:
    """Everything that a search could find in one problem, failures included.

    A row is a config's position in ``configs``.

    Attributes:
        recording: Name of the recording, or of its file.
        kernel: Name of the kernel.
        problem: What was computed, by field.
        device: Product name of what measured.
        space: The parameters, without constraints: only recorded configs can be asked for.
        configs: In the order in which they were recorded.
        statuses: How each ended.
        told_ns: What a searcher is told of each, in ns, or None.
        value_ns: Median of each in ns, [row]; infinite unless it was right.
        cost_ns: What it took to build and measure each, in ns, [row]; 1 where nothing is known.
        priced: False if all configs cost the same, as no cost was recorded or none is to count.
        first: What a study measures first: the kernel's default; empty for a search of its own.
        estimates: What a model predicts, in ns, by config.
    """

    recording: str
    kernel: str
    problem: Mapping[str, int | str]
    device: str
    space: Space
    configs: tuple[Config, ...]
    statuses: tuple[Status, ...]
    told_ns: tuple[float | None, ...]
    value_ns: Floats
    cost_ns: Floats
    priced: bool
    first: tuple[Config, ...] = ()
    estimates: Mapping[Config, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Kernel, problem and device, as messages name them."""
        fields = ",".join(f"{name}={value}" for name, value in self.problem.items())
        return " ".join(filter(None, (self.kernel, fields, "on", self.device)))

    def unpriced(self) -> Landscape:
        """Return it with the same cost for every config: measurements count, not their time."""
        return dataclasses.replace(self, cost_ns=np.ones_like(self.cost_ns), priced=False)


def landscape_of(
    trials: Iterable[Trial],
    *,
    space: Space,
    recording: str,
    kernel: str,
    problem: Mapping[str, Value],
    device: str,
    first: tuple[Config, ...] = (),
    estimates: Mapping[Config, float] | None = None,
) -> Landscape:
    """Return the landscape that ``trials``, one for each config, span."""
    known = list(trials)
    told = tuple(trial.known_ns for trial in known)
    right = np.array([trial.status is Status.OK for trial in known], dtype=bool)
    costs = np.array([trial.compile_ns + trial.device_ns for trial in known], dtype=np.float64)
    priced = bool(costs.any())
    return Landscape(
        recording=recording,
        kernel=kernel,
        problem=dict(problem),
        device=device,
        space=Space(space.parameters),
        configs=tuple(trial.config for trial in known),
        statuses=tuple(trial.status for trial in known),
        told_ns=told,
        value_ns=np.where(right, np.array([ns or np.inf for ns in told]), np.inf),
        cost_ns=costs if priced else np.ones_like(costs),
        priced=priced,
        first=first,
        estimates=estimates or {},
    )
