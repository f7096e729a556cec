"""Where the tuned kernel's configs come from: a table, a database, or the kernel's default."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
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
    """The fastest verified configs of a result database or recording.

    Args:
        url: The database.
        most: How many configs of a problem meet again here, where all sides are timed alike.
    """

    def __init__(self, url: str, most: int) -> None:
        self._url, self._most = url, most
        self._known: dict[GemmProblem, tuple[str, list[Config]]] = {}

    def configs(self, problem: GemmProblem) -> tuple[str, list[Config]]:
        """Return what was fastest for this problem, else for its kin, else the default."""
        if problem not in self._known:
            self._known[problem] = self._found(problem)
        return self._known[problem]

    def _found(self, problem: GemmProblem) -> tuple[str, list[Config]]:
        with Store.open(self._url, read_only=True) as store:
            for relative in kin(problem):
                ranked = _ranked(store, relative)
                valid = [config for config in ranked if _is_valid(problem, config)]
                if valid:
                    return f"recorded for {relative.dtype} {relative.layout}", valid[: self._most]
        return _default(problem)


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


def _ranked(store: Store, problem: GemmProblem) -> list[Config]:
    """Return the configs that were right for a problem, fastest first."""
    rows = store.rows(Filter(kernel="gemm", problem=problem.as_dict()))
    timed = {
        row.trial.config: row.trial.median_ns
        for row in rows
        if row.trial.median_ns is not None and row.trial.verified
    }
    return sorted(timed, key=lambda config: timed[config])


def _default(problem: GemmProblem) -> tuple[str, list[Config]]:
    return "default", [Gemm().default(problem, target(0))]


def _is_valid(problem: GemmProblem, config: Config) -> bool:
    return Gemm().space(problem, target(0)).broken(config) is None
