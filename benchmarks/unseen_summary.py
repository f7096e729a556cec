"""What rules lose on problems that were not tuned, over all of them and by family."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean, quantiles
from typing import Any

from ratios import Row, geometric_mean
from unseen_rules import RULES

BEST_OF_TABLE = "best of the table"  # what no rule can beat with these configs
LIBRARY = "cuBLAS"  # its own choice: what torch.matmul calls
BEST_RANK = "cublasLt"  # the fastest of the algorithms that it ranks
ANSWERS = (*RULES, BEST_OF_TABLE, LIBRARY, BEST_RANK)


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
