"""A few configs for many problems.

The worth of a set of configs is the speed that the best of them reaches on each problem, as a
share of that of the problem's winner, summed; a config that was not measured there, or may not
be offered, has none. Adding the config of largest gain again and again reaches at least 1 - 1/e
of the best worth, since gains only shrink; how far the best can be above is stated as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autotune.records import Config
from autotune.table.answered import Answered

Speeds = NDArray[np.float64]  # [problem, config], 1 is that of the winner and 0 is unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Portfolio:
    """Some configs, and what it costs to have no others.

    Attributes:
        configs: In the order in which they were chosen.
        problems: How many problems there are.
        served: How many problems one of them was measured on; the others keep their winners.
        mean: Mean loss on those, as a share of the winner's time.
        worst: The largest loss among them.
        worth: Sum of the speeds that they reach, as shares of the winners'.
        bound: No set of so many configs is worth more.
    """

    configs: tuple[Config, ...]
    problems: int
    served: int
    mean: float
    worst: float
    worth: float
    bound: float


def portfolios(problems: Sequence[Answered], most: int) -> list[Portfolio]:
    """Return the portfolio of 1, 2, … and ``most`` configs for the problems of one kernel.

    More configs than it takes to lose nothing are not offered.
    """
    configs, speeds = _speeds(problems)
    found: list[Portfolio] = []
    chosen: list[int] = []
    while len(chosen) < min(most, len(configs)):
        reached = speeds[:, chosen].max(axis=1, initial=0.0)
        gains = np.maximum(speeds - reached[:, None], 0.0).sum(axis=0)
        if not gains.max() > 0:
            break
        chosen = _exchanged(speeds, [*chosen, int(gains.argmax())])
        found.append(_portfolio([configs[at] for at in chosen], speeds, chosen))
    return found


def restricted(problems: Sequence[Answered], offered: Sequence[Portfolio]) -> list[Answered]:
    """Return the problems, each answered by the best of the last portfolio that has a row there.

    Where none has one, or no portfolio is offered, a problem keeps its answer.
    """
    configs = offered[-1].configs if offered else ()
    return [_answered(problem, configs) for problem in problems]


def _answered(problem: Answered, configs: Sequence[Config]) -> Answered:
    offered = [config for config in configs if config in problem.rows]
    if not offered or problem.config in offered:
        return problem
    return problem.answered_by(min(offered, key=lambda config: problem.loss_of(config) or 0.0))


def _speeds(problems: Sequence[Answered]) -> tuple[list[Config], Speeds]:
    """Return the configs worth a choice: what has one row only is beaten by that row's winner."""
    rows = Counter(config for problem in problems for config in problem.rows)
    winners = {problem.config for problem in problems}
    configs = [config for config, count in rows.items() if count > 1 or config in winners]
    place = {config: at for at, config in enumerate(configs)}
    speeds = np.zeros((len(problems), len(configs)))
    for row, problem in enumerate(problems):
        for config in problem.rows.keys() & place:
            speeds[row, place[config]] = 1 / (1 + (problem.loss_of(config) or 0.0))
    return configs, speeds


def _exchanged(speeds: Speeds, chosen: list[int]) -> list[int]:
    """Exchange one of ``chosen`` for another config as long as that is worth more."""
    better = True
    while better:
        better = False
        for at in range(len(chosen)):
            others = chosen[:at] + chosen[at + 1 :]
            reached = speeds[:, others].max(axis=1, initial=0.0)
            worth = np.maximum(speeds, reached[:, None]).sum(axis=0)
            best = int(worth.argmax())
            if worth[best] > worth[chosen[at]] + 1e-9:
                chosen, better = [*chosen[:at], best, *chosen[at + 1 :]], True
    return chosen


def _portfolio(configs: list[Config], speeds: Speeds, chosen: list[int]) -> Portfolio:
    reached = speeds[:, chosen].max(axis=1)
    gains = np.sort(np.maximum(speeds - reached[:, None], 0.0).sum(axis=0))[::-1]
    losses = 1 / reached[reached > 0] - 1
    return Portfolio(
        configs=tuple(configs),
        problems=len(speeds),
        served=len(losses),
        mean=float(losses.mean()),
        worst=float(losses.max()),
        worth=float(reached.sum()),
        bound=min(float(len(speeds)), float(reached.sum() + gains[: len(chosen)].sum())),
    )
