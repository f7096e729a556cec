"""What a table with few configs loses, and what it says of problems that were not tuned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor
from typing import Any

from autotune.report.sheet import Column, Row, Sheet
from autotune.table import Portfolio


def losses_sheet(portfolios: Mapping[str, Sequence[Portfolio]]) -> Sheet:
    """Return one row for each number of configs, kernel by kernel."""
    return Sheet(
        kind="portfolios",
        rows=[_row(name, found) for name, some in portfolios.items() for found in some],
        columns=(
            Column("kernel", lambda row: row["kernel"]),
            Column("configs", lambda row: str(row["configs"]), right=True),
            Column("served", lambda row: f"{row['served']} of {row['problems']}", right=True),
            Column("mean loss", lambda row: f"{row['mean_loss']:.1%}", right=True),
            Column("worst loss", lambda row: f"{row['worst_loss']:.1%}", right=True),
            Column("of the best", _of_the_best, right=True),
        ),
    )


def regret_line(kernel: Mapping[str, Any]) -> str:
    """Return what a table says about the problems that it has no entry for."""
    weights, regret = kernel["weights"], kernel["regret"]
    told = f"how much slower untuned problems are is not known: {_unknown(regret)}"
    if regret["judged"]:
        told = (
            f"untuned problems are {regret['mean']:.1%} slower than tuned ones on average, "
            f"{regret['worst']:.1%} at worst (each left out in turn; {regret['judged']} of "
            f"{regret['problems']} could be judged)"
        )
    if regret["rule"] == "tree":
        told += "; a tree answers them"
    if set(weights.values()) - {1}:
        told += f"; weights {', '.join(f'{name} {weight}' for name, weight in weights.items())}"
    return told


def _unknown(regret: Mapping[str, Any]) -> str:
    if regret["problems"] == 1:
        return "there is only one problem"
    return "none was measured with another's answer, which autotune tune --cross 1 does"


def _row(kernel: str, found: Portfolio) -> Row:
    return {
        "kernel": kernel,
        "configs": len(found.configs),
        "served": found.served,
        "problems": found.problems,
        "mean_loss": found.mean,
        "worst_loss": found.worst,
        "worth": found.worth,
        "bound": found.bound,
        "chosen": [config.as_dict() for config in found.configs],
    }


def _of_the_best(row: Row) -> str:
    """Return that no other choice of so many is better by more than this."""
    return f"≥ {floor(100 * row['worth'] / row['bound'])}%"
