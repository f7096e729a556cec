"""Fronts: what no other row of a context beats in all of several goals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autotune.records import Goal, undominated
from autotune.store.chosen import offered
from autotune.store.rows import Final, TrialRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """The front of one context.

    Attributes:
        rows: Its members, the least of the first goal first.
        silent: By name of a goal, how many rows that are right do not tell it.
    """

    rows: tuple[TrialRow, ...]
    silent: Counter[str]


def fronts(
    rows: Iterable[TrialRow], finals: Mapping[int, Final], goals: Sequence[Goal]
) -> list[Front]:
    """Return the front of each context's rows, the oldest context first.

    Args:
        rows: Those that were right, of any contexts.
        finals: The newest final of each context, by the context's id.
        goals: Of what little is wanted.
    """
    by_context = offered(rows, finals)
    return [_front(by_context[key], goals) for key in sorted(by_context)]


def _front(rows: Sequence[TrialRow], goals: Sequence[Goal]) -> Front:
    of = {row.trial.row_id: row for row in rows}
    found = undominated([row.trial for row in rows], goals)
    silent = (goal.name for goal in goals for row in rows if goal.value(row.trial) is None)
    return Front(rows=tuple(of[trial.row_id] for trial in found), silent=Counter(silent))
