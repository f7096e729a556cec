"""Rules that answer a problem that was not tuned by what a table holds of others.

- ``table``: what a program with the table launches.
- ``nearest M``: the entry with the nearest N and K, and of several the one with the nearest M.
- ``nearest volume``: the entry with the nearest M·N·K.
- ``predicted``: of the table's configs, the one that the kernel's own model predicts to be fastest.
- ``corrected``: likewise, but each prediction times what that config was off by, on average, on the
  problems where it was measured.
- ``waves``: likewise, but by what was fitted to its own measurements (``unseen_waves.py``), where
  there are enough of them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from unseen_waves import fitted

from autotune.dispatch import Entry, Table, broken_condition
from autotune.dispatch.nearest import octaves
from autotune.records import Config, Target
from autotune.store import Filter, Store
from kernel_space.gemm import Gemm, GemmProblem

RULES = ("table", "nearest M", "nearest volume", "predicted", "corrected", "waves")
Measured = dict[GemmProblem, dict[Config, float]]  # median times in ns, fastest first
KERNEL = Gemm()
KIND = {"dtype": "bf16", "layout": "nt"}  # of the suite's problems


class Rules:
    """What each rule answers.

    Args:
        table: The table.
        measured: What is known of configs on the problems that were tuned.
        target: The device.
    """

    def __init__(self, table: Table, measured: Measured, target: Target) -> None:
        self._table, self._target = table, target
        self._entries = table.kernels[KERNEL.name].entries
        configs = {Config(entry.config) for entry in self._entries}
        self._off_by = _off_by(measured, configs, target)
        self._waves = {
            config: waves
            for config in configs
            if (waves := fitted(config, _times_ns(measured, config), target)) is not None
        }

    def answers(self, problem: GemmProblem) -> dict[str, Config]:
        """Return the config by rule; a rule without one is left out."""
        near = self._serving(problem)
        chosen = next(self._choices(problem), None)
        found = {} if chosen is None else {"table": chosen}
        if near:
            found["nearest M"] = Config(min(near, key=lambda e: _rows_apart(e, problem)).config)
            found["nearest volume"] = Config(min(near, key=lambda e: _apart(e, problem)).config)
            found |= self._predicted(problem)
        return found

    def portfolio(self, problem: GemmProblem) -> list[Config]:
        """Return all configs of the table that may serve a problem, each once."""
        return list(dict.fromkeys(Config(entry.config) for entry in self._serving(problem)))

    def _choices(self, problem: GemmProblem) -> Iterator[Config]:
        space = KERNEL.space(problem, self._target)
        for choice in self._table.choices(KERNEL.name, **problem.as_dict()):
            config = Config(choice.config)
            if space.broken(config) is None:
                yield config

    def _predicted(self, problem: GemmProblem) -> dict[str, Config]:
        times = KERNEL.estimates(problem, self.portfolio(problem), self._target)
        corrected = {config: ns * self._off_by.get(config, 1.0) for config, ns in times.items()}
        waves = {
            config: fit.time_ns(problem, config, self._target)
            for config, fit in self._waves.items()
            if config in times
        }
        found = {"predicted": times, "corrected": corrected, "waves": corrected | waves}
        return {rule: min(some, key=some.__getitem__) for rule, some in found.items() if some}

    def _serving(self, problem: GemmProblem) -> list[Entry]:
        fields, space = problem.as_dict(), KERNEL.space(problem, self._target)
        return [
            entry
            for entry in self._entries
            if all(entry.problem[name] == fields[name] for name in ("dtype", "layout"))
            and broken_condition(entry.conditions, fields) is None
            and space.broken(Config(entry.config)) is None
        ]


def recorded(paths: Iterable[Path]) -> Measured:
    """Return what databases hold of problems like the suite's; the first that knows one decides."""
    times: dict[GemmProblem, dict[Config, float]] = defaultdict(dict)
    for path in paths:
        with Store.open(f"sqlite:///{path.resolve()}", read_only=True) as store:
            for row in store.rows(Filter(kernel=KERNEL.name, problem=KIND)):
                trial = row.trial
                if trial.median_ns is not None and trial.verified:
                    problem = GemmProblem.parse(row.context.problem.as_dict())
                    times[problem].setdefault(trial.config, trial.median_ns)
    return {problem: _by_time(some) for problem, some in times.items()}


def nearest(problem: GemmProblem, tuned: Iterable[GemmProblem], count: int) -> list[GemmProblem]:
    """Return the tuned problems at the smallest distance by the rule of a table."""
    alike = [p for p in tuned if (p.dtype, p.layout) == (problem.dtype, problem.layout)]
    return sorted(alike, key=lambda other: octaves(_sizes(other), _sizes(problem)))[:count]


def _off_by(measured: Measured, configs: Iterable[Config], target: Target) -> dict[Config, float]:
    """Return the geometric mean of measured over predicted time of each config."""
    logs: dict[Config, list[float]] = defaultdict(list)
    for problem, times in measured.items():
        some = [config for config in configs if config in times]
        for config, ns in KERNEL.estimates(problem, some, target).items():
            logs[config].append(math.log(times[config] / ns))
    return {config: math.exp(fmean(some)) for config, some in logs.items()}


def _times_ns(measured: Measured, config: Config) -> dict[GemmProblem, float]:
    return {problem: times[config] for problem, times in measured.items() if config in times}


def _rows_apart(entry: Entry, problem: GemmProblem) -> tuple[float, int]:
    m, n, k = _extents(entry)
    return octaves((n, k), (problem.n, problem.k)), abs(m - problem.m)


def _apart(entry: Entry, problem: GemmProblem) -> float:
    return abs(math.log2(math.prod(_extents(entry)) / math.prod(_sizes(problem))))


def _extents(entry: Entry) -> tuple[int, int, int]:
    m, n, k = (int(entry.problem[name]) for name in GemmProblem.SIZES)
    return m, n, k


def _sizes(problem: GemmProblem) -> tuple[int, int, int]:
    return problem.m, problem.n, problem.k


def _by_time(times: Mapping[Config, Any]) -> dict[Config, float]:
    return {config: times[config] for config in sorted(times, key=times.__getitem__)}
