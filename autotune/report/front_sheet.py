"""Fronts as sheets, for people and for scripts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from autotune.errors import InvalidInput
from autotune.records import TIME, Goal, goals_named
from autotune.report.nothing import why_nothing
from autotune.report.records import trials_sheet
from autotune.report.sheet import Column, Sheet
from autotune.report.units import counted, size_text, time_text
from autotune.store import Filter, Front, Store

_TEXTS: dict[str, Callable[[float], str]] = {
    TIME: time_text,
    "shared_memory": lambda size: size_text(int(size)),
    "registers": lambda count: f"{count:.0f}",
    "error": lambda share: f"{share:.3g}",
    "energy": lambda mj: f"{mj:.3g} mJ",
}


def sought(store: Store, wanted: Filter, names: Sequence[str]) -> tuple[Goal, ...]:
    """Return the goals of these names, or else those of the studies.

    Raises:
        InvalidInput: There is no such study or goal, or time is the only goal.
    """
    studies = wanted.studies
    chosen = [each for each in store.studies() if not studies or each.name in studies]
    if studies and not chosen:
        raise InvalidInput(why_nothing(store, wanted))
    own = [name for each in chosen for name in each.spec.get("goals", ())]
    goals = goals_named(names or own or [TIME])
    if len(goals) == 1:
        raise InvalidInput("a front is of two goals or more: --goals time,shared_memory")
    return goals


def front_sheet(fronts: Sequence[Front], goals: Sequence[Goal], *, empty: str) -> Sheet:
    """Return one row for each member of a front.

    Raises:
        InvalidInput: There are rows, and none of them tells one of the goals.
    """
    members = [row for front in fronts for row in front.rows]
    plain = trials_sheet("front", members, empty=empty)
    mute = [goal.name for goal in goals if any(front.silent[goal.name] for front in fronts)]
    if fronts and not members:
        raise InvalidInput(f"no row tells {mute[0]}", hint="name it among the goals of a study")
    values = ({goal.name: goal.value(row.trial) for goal in goals} for row in members)
    rows = [{**row, "goals": each} for row, each in zip(plain.rows, values, strict=True)]
    *first, last = plain.columns
    return dataclasses.replace(plain, rows=rows, columns=(*first, *map(_column, goals), last))


def silence(fronts: Sequence[Front], goals: Sequence[Goal]) -> Iterator[str]:
    """Yield a line for each goal that some rows do not tell."""
    for goal in goals:
        count = sum(front.silent[goal.name] for front in fronts)
        if count:
            yield f"{counted(count, 'row')} without {goal.name} left out"


def _column(goal: Goal) -> Column:
    text = _TEXTS[goal.name]
    return Column(goal.name, lambda row: text(row["goals"][goal.name]), right=True)
