"""Rules that answer a problem that was not tuned by what a table holds of others; what they lose.

- ``table``: what a program with the table launches.
- ``nearest M``: the entry with the nearest N and K, and of several the one with the nearest M.
- ``nearest volume``: the entry with the nearest M·N·K.
- ``predicted``: of the table's configs, the one that the kernel's own model predicts to be fastest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean, quantiles
from typing import Any

from ratios import Row, geometric_mean
from unseen_problems import KERNEL, extents

from autotune.dispatch import Entry, Table, broken_condition
from autotune.dispatch.nearest import octaves
from autotune.records import Config, Target
from kernel_space.gemm import GemmProblem

RULES = ("table", "nearest M", "nearest volume", "predicted")
BEST_OF_TABLE = "best of the table"  # what no rule can beat with these configs
LIBRARY = "cuBLAS"  # its own choice: what torch.matmul calls
BEST_RANK = "cublasLt"  # the fastest of the algorithms that it ranks
ANSWERS = (*RULES, BEST_OF_TABLE, LIBRARY, BEST_RANK)


class Rules:
    """What each rule answers.

    Args:
        table: The table.
        target: The device.
    """

    def __init__(self, table: Table, target: Target) -> None:
        self._table, self._target = table, target
        self._entries = table.kernels[KERNEL.name].entries

    def answers(self, problem: GemmProblem) -> dict[str, Config]:
        """Return the config by rule; a rule without one is left out."""
        near = self._serving(problem)
        chosen = next(self._choices(problem), None)
        found = {} if chosen is None else {"table": chosen}
        if near:
            found["nearest M"] = Config(min(near, key=lambda e: _rows_apart(e, problem)).config)
            found["nearest volume"] = Config(min(near, key=lambda e: _apart(e, problem)).config)
        if times := KERNEL.estimates(problem, self.portfolio(problem), self._target):
            found["predicted"] = min(times, key=times.__getitem__)
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

    def _serving(self, problem: GemmProblem) -> list[Entry]:
        fields, space = problem.as_dict(), KERNEL.space(problem, self._target)
        return [
            entry
            for entry in self._entries
            if all(entry.problem[name] == fields[name] for name in ("dtype", "layout"))
            and broken_condition(entry.conditions, fields) is None
            and space.broken(Config(entry.config)) is None
        ]


def summary(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return a row for each rule: its regret on the problems where its answer was timed.

    The regret is how much longer its answer takes than the fastest config that was seen, as a
    share; of cuBLAS, which may be faster than any of ours, it may be below 0.
    """
    return [_figures(rule, [row for row in rows if rule in row["us"]]) for rule in ANSWERS]


def lines(figures: Iterable[dict[str, Any]]) -> list[str]:
    """Return a line for each rule."""
    return [_line(row) for row in figures]


def regret(row: Row, rule: str) -> float:
    """Return how much longer a rule's answer takes than the fastest config, as a share."""
    return float(row["us"][rule] / row["best_us"] - 1)


def _figures(rule: str, rows: Sequence[Row]) -> dict[str, Any]:
    losses = [regret(row, rule) for row in rows]
    families: dict[str, list[float]] = {}
    for row, loss in zip(rows, losses, strict=True):
        families.setdefault(row["family"], []).append(loss)
    met = [row["us"][LIBRARY] / row["us"][rule] for row in rows if LIBRARY in row["us"]]
    return {
        "rule": rule,
        "judged": len(rows),
        "mean": _rounded(fmean(losses)) if losses else None,
        "p95": _rounded(_p95(losses)) if losses else None,
        "worst": _rounded(max(losses)) if losses else None,
        "against_cublas": _rounded(geometric_mean(met)) if met else None,
        "families": {name: _rounded(fmean(some)) for name, some in sorted(families.items())},
    }


def _p95(values: Sequence[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else values[0]


def _rounded(value: float) -> float:
    return round(value, 4)


def _line(row: dict[str, Any]) -> str:
    if not row["judged"]:
        return f"{row['rule']:17}  not judged"
    shares = "  ".join(f"{name} {row[name]:6.1%}" for name in ("mean", "p95", "worst"))
    families = "  ".join(f"{name} {loss:.1%}" for name, loss in row["families"].items())
    ratio = "–" if row["against_cublas"] is None else f"{row['against_cublas']:.3f}"
    return f"{row['rule']:17}  {shares}  cuBLAS/it {ratio}  | {families}"


def _rows_apart(entry: Entry, problem: GemmProblem) -> tuple[float, int]:
    m, n, k = _extents(entry)
    return octaves((n, k), (problem.n, problem.k)), abs(m - problem.m)


def _apart(entry: Entry, problem: GemmProblem) -> float:
    return abs(math.log2(math.prod(_extents(entry)) / math.prod(extents(problem))))


def _extents(entry: Entry) -> tuple[int, int, int]:
    m, n, k = (int(entry.problem[name]) for name in GemmProblem.SIZES)
    return m, n, k
