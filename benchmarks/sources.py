"""Where the tuned kernel's configs come from: a table, a database, a list, or its default."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from autotune.dispatch import Table
from autotune.launcher.gpu import target
from autotune.records import ELEMENT_BYTES, Config
from autotune.store import Filter, Store
from kernel_space.gemm import Gemm, GemmProblem
from kernel_space.gemm.problem import DTYPES, LAYOUTS


class Source(Protocol):
    """Where tuned configs come from."""

    def configs(self, problem: GemmProblem) -> tuple[str, list[Config]]:
        """Return how it knows of configs for ``problem``, and the best of them, best first."""


class FromTable:
    """The choice of a table: what a program with this table launches."""

    def __init__(self, path: Path) -> None:
        self._table = Table.load(path)

    def configs(self, problem: GemmProblem) -> tuple[str, list[Config]]:
        """Return the first choice that is valid for this problem, else the default."""
        for choice in self._table.choices("gemm", **problem.as_dict()):
            config = Config(choice.config)
            if _is_valid(problem, config):
                return choice.source, [config]
        return _default(problem)


class FromDatabase:
    """The fastest verified configs of result databases or recordings.

    Args:
        urls: The databases.
        most: How many configs of a problem meet again here, where all sides are timed alike.
    """

    def __init__(self, urls: Sequence[str], most: int) -> None:
        self._urls, self._most = urls, most
        self._known: dict[GemmProblem, tuple[str, list[Config]]] = {}

    def configs(self, problem: GemmProblem) -> tuple[str, list[Config]]:
        """Return what was fastest for this problem, else for its kin, else the default."""
        if problem not in self._known:
            self._known[problem] = self._found(problem)
        return self._known[problem]

    def _found(self, problem: GemmProblem) -> tuple[str, list[Config]]:
        for relative in kin(problem):
            valid = [config for config in self._ranked(relative) if _is_valid(problem, config)]
            if valid:
                return f"recorded for {relative.dtype} {relative.layout}", valid[: self._most]
        return _default(problem)

    def _ranked(self, problem: GemmProblem) -> list[Config]:
        """Return the configs that were right for a problem anywhere, fastest first."""
        times: dict[Config, float] = {}
        for url in self._urls:
            for config, ns in _timed(url, problem).items():
                times[config] = min(ns, times.get(config, ns))
        return sorted(times, key=times.__getitem__)


class Fixed:
    """Configs that were chosen before."""

    def __init__(self, configs: Iterable[Config]) -> None:
        self._configs = list(dict.fromkeys(configs))

    def configs(self, problem: GemmProblem) -> tuple[str, list[Config]]:
        """Return all of them, each once."""
        del problem
        return "chosen before", self._configs


class Defaults:
    """The kernel's own default, for whoever has tuned nothing."""

    def configs(self, problem: GemmProblem) -> tuple[str, list[Config]]:
        """Return the default."""
        return _default(problem)


def kin(problem: GemmProblem) -> Iterator[GemmProblem]:
    """Yield the problem itself, then with other elements as wide as its own, then other layouts."""
    alike = [name for name, (read, _) in DTYPES.items() if _as_wide(read, problem)]
    layouts = (problem.layout,) if problem.scaled else (problem.layout, *LAYOUTS)
    for layout in dict.fromkeys(layouts):
        for dtype in dict.fromkeys((problem.dtype, *alike)):
            yield dataclasses.replace(problem, dtype=dtype, layout=layout)


def _as_wide(dtype: str, problem: GemmProblem) -> bool:
    return ELEMENT_BYTES[dtype] == problem.element_bytes


def _timed(url: str, problem: GemmProblem) -> dict[Config, float]:
    """Return how long each config took that was right for a problem, in ns."""
    with Store.open(url, read_only=True) as store:
        return {
            row.trial.config: row.trial.median_ns
            for row in store.rows(Filter(kernel="gemm", problem=problem.as_dict()))
            if row.trial.median_ns is not None and row.trial.verified
        }


def _default(problem: GemmProblem) -> tuple[str, list[Config]]:
    return "default", [Gemm().default(problem, target(0))]


def _is_valid(problem: GemmProblem, config: Config) -> bool:
    return Gemm().space(problem, target(0)).broken(config) is None
