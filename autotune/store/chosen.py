"""The best of a context's rows, when times have noise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autotune.records import Measurement, Status, Trial, near_the_fastest, tied_trials, ties
from autotune.store.rows import Final, TrialRow

# A config that ever gave a wrong answer or took its process down is not offered, whatever
# another run of it said.
UNTRUSTED = frozenset(
    {Status.INCORRECT, Status.NONDETERMINISTIC, Status.RUNTIME_ERROR, Status.CRASHED}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Winner:
    """The row that answers for a problem, and how many others it cannot be told from."""

    row: TrialRow
    tied: int


def winners(rows: Iterable[TrialRow], finals: Mapping[int, Final]) -> list[TrialRow]:
    """Return the best of each context's rows, the oldest row first.

    Args:
        rows: Those that were right, of any contexts.
        finals: The newest final of each context, by the context's id.
    """
    by_context = offered(rows, finals)
    best = (winner(some, finals.get(key)).row for key, some in by_context.items())
    return sorted(best, key=lambda row: row.trial.row_id or 0)


def offered(rows: Iterable[TrialRow], finals: Mapping[int, Final]) -> dict[int, list[TrialRow]]:
    """Return the rows of each context, by its id, less those that failed in its final."""
    by_context: dict[int, list[TrialRow]] = {}
    for row in rows:
        final = finals.get(row.context_id)
        failed = {each.config for each in final.finalists if each.failed} if final else ()
        if row.trial.config not in failed:
            by_context.setdefault(row.context_id, []).append(row)
    return by_context


def winner(rows: Sequence[TrialRow], final: Final | None) -> Winner:
    """Return the best of ``rows``, which may all be offered; there is at least one."""
    tied = as_fast(rows, final)
    return Winner(row=tied[0], tied=len(tied) - 1)


def as_fast(rows: Sequence[TrialRow], final: Final | None) -> list[TrialRow]:
    """Return the best of ``rows`` and then what ties with it; there is at least one row."""
    of = {id(row.trial): row for row in rows}  # two studies may have measured the same config
    return [of[id(trial)] for trial in decided([row.trial for row in rows], final)]


def decided(trials: Sequence[Trial], final: Final | None) -> list[Trial]:
    """Return the best of trials that were right, if any, and then what ties with it.

    A final decides, unless a later trial is faster than its winner was in the search. Else their
    times in the search do.
    """
    tied = tied_trials(final.finalists, trials) if final else []
    if final is None or not tied:
        return near_the_fastest(trials)
    later = [trial for trial in trials if trial.finished_at > final.finished_at]
    if min(map(_median_ns, later), default=math.inf) < _median_ns(tied[0]):
        met = {trial.config: trial for trial in (*tied, *later)}  # one may be in both
        return near_the_fastest(met.values())
    return tied


def measurement(row: TrialRow) -> Measurement:
    """Return the measurement of a sound row."""
    assert row.trial.measurement is not None, "sound rows are measured"
    return row.trial.measurement


def clearly_faster(one: TrialRow, other: TrialRow) -> bool:
    """Return True if ``one`` is faster than ``other`` by more than the noise of both."""
    slower, fastest = measurement(other), measurement(one)
    return fastest.median_ns < slower.median_ns and not ties(slower, fastest)


def _median_ns(trial: Trial) -> float:
    assert trial.median_ns is not None, "it was right"
    return trial.median_ns
