"""What a person prefers where several goals pull apart: it picks one row of each front."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from autotune.errors import InvalidInput
from autotune.records import TIME, Goal, goals_named
from autotune.store import Final, TrialRow
from autotune.store.chosen import Winner, as_fast, clearly_faster
from autotune.table.answered import Answered

_LIMIT = re.compile(r"(\w+)<=(\d+(?:\.\d+)?)(%?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The most of a goal that is allowed.

    Attributes:
        goal: What is limited.
        most: In its unit, or in percent of the least that a problem allows.
        relative: True if it is in percent.
        text: As it was typed.
    """

    goal: Goal
    most: float
    relative: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """The least of one goal within limits of others.

    Attributes:
        goal: Of what the least is taken; of equals, the fastest.
        limits: What else must hold.
        text: As a table records it.
    """

    goal: Goal
    limits: tuple[Limit, ...]
    text: str

    @classmethod
    def parse(cls, text: str) -> Preference:
        """Read ``shared_memory<=65536``, or ``shared_memory,time<=103%``.

        Raises:
            InvalidInput: It takes the least of two goals, names no goal, or a limit is no number.
        """
        parts = [re.sub(r"\s", "", part) for part in text.split(",")]
        goals = [part for part in parts if "<=" not in part]
        limits = [_limit(part) for part in parts if "<=" in part]
        if len(goals) > 1:
            raise InvalidInput(f"prefer {text!r}: of one goal at most can the least be taken")
        goal = goals_named([TIME, *goals])[-1]
        return cls(goal=goal, limits=tuple(limits), text=",".join(parts))


def _limit(text: str) -> Limit:
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise InvalidInput(
            f"prefer {text!r}: no limit such as shared_memory<=65536 or time<=103%",
            hint="numbers are in ns, bytes, registers, mJ, or in percent of the least",
        )
    goal = goals_named([TIME, match[1]])[-1]
    return Limit(goal=goal, most=float(match[2]), relative=match[3] == "%", text=text)


def preferred(answered: Answered, preference: Preference) -> Answered | str:
    """Return the problem answered by the row that is preferred, or why there is none, in words.

    The rows within all limits may answer, or those of them with the least of the one goal. The
    answer is one of those that no other is clearly faster than, as a final or the noise decides;
    of these, none has less of one limited goal and no more of the others.
    """
    every = [*answered.rows.values()]
    for goal in (preference.goal, *(limit.goal for limit in preference.limits)):
        if all(goal.value(row.trial) is None for row in every):
            return f"no row tells {goal.name}"
    rows = every
    for limit in preference.limits:
        most = _most(limit, every)
        rows = [row for row in rows if _amount(row, limit.goal) <= most]
    if not rows:
        return f"no row has {' and '.join(_told(limit, every) for limit in preference.limits)}"
    if preference.goal.name != TIME:
        least = min(_amount(row, preference.goal) for row in rows)
        rows = [row for row in rows if _amount(row, preference.goal) == least]
    limited = [limit.goal for limit in preference.limits if limit.goal.name != TIME]
    answer = _fastest(rows, answered.evidence.final, limited)
    return dataclasses.replace(answered, answer=answer, replaced=None)


def _fastest(rows: Sequence[TrialRow], final: Final | None, limited: Sequence[Goal]) -> Winner:
    """Return, of the rows that no other is clearly faster than, the one with the least."""
    tied = as_fast(rows, final)
    met = {each.config for each in final.finalists} if final else set()

    def beaten(row: TrialRow) -> bool:
        """Return True if another is clearly faster. Two that met in the final tied there."""
        others = (each for each in tied if not {each.trial.config, row.trial.config} <= met)
        return any(clearly_faster(other, row) for other in others)

    unbeaten = [row for row in tied if not beaten(row)]
    best = min(unbeaten, key=lambda row: [_amount(row, goal) for goal in limited])
    return Winner(row=best, tied=len(tied) - 1)


def _told(limit: Limit, rows: Sequence[TrialRow]) -> str:
    least = min(_amount(row, limit.goal) for row in rows)
    return limit.text if limit.relative else f"{limit.text} (the least is {least:.6g})"


def _most(limit: Limit, rows: Sequence[TrialRow]) -> float:
    least = min(_amount(row, limit.goal) for row in rows)
    return limit.most / 100 * least if limit.relative else limit.most


def _amount(row: TrialRow, goal: Goal) -> float:
    """Return how much a row takes of a goal; what it does not tell is too much."""
    value = goal.value(row.trial)
    return math.inf if value is None else value
