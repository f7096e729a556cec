"""Goals: of what a search wants little, and which trials no other beats in all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import le

from autotune.errors import InvalidInput
from autotune.records.trial import Trial

TIME = "time"  # the one that every search has


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """Something of which less is better.

    Attributes:
        name: What it is called everywhere.
        unit: What it is counted in.
        value: Tells how much of it a trial takes, or None if that is not known.
    """

    name: str
    unit: str
    value: Callable[[Trial], float | None]


def _registers(trial: Trial) -> float | None:
    return trial.resources.registers if trial.resources else None


def _error(trial: Trial) -> float | None:
    return trial.measurement.error if trial.measurement else None


def _energy_mj(trial: Trial) -> float | None:
    return trial.measurement.energy_mj if trial.measurement else None


_ALL = (
    Goal(name=TIME, unit="ns", value=lambda trial: trial.median_ns),
    Goal(name="shared_memory", unit="bytes", value=lambda trial: trial.shared_bytes),
    Goal(name="registers", unit="a thread", value=_registers),
    Goal(name="error", unit="of its bound", value=_error),
    Goal(name="energy", unit="mJ", value=_energy_mj),
)
GOALS: dict[str, Goal] = {goal.name: goal for goal in _ALL}


def goals_named(names: Iterable[str]) -> tuple[Goal, ...]:
    """Return the goals of these names, each once, time first.

    Raises:
        InvalidInput: There is no such goal, or time, which every search has, is not among them.
    """
    wanted = dict.fromkeys(names)
    for name in wanted:
        if name not in GOALS:
            raise InvalidInput(f"no goal named {name!r}; allowed: {', '.join(GOALS)}")
    if TIME not in wanted:
        raise InvalidInput(f"goals: {', '.join(wanted) or 'none'}: {TIME!r} must be one of them")
    return tuple(GOALS[name] for name in (TIME, *(name for name in wanted if name != TIME)))


def undominated(trials: Sequence[Trial], goals: Sequence[Goal]) -> list[Trial]:
    """Return the trials that no other beats in all goals, the least of the first one first.

    What does not tell one of the goals is left out.
    """
    values = [[goal.value(trial) for goal in goals] for trial in trials]
    known = [at for at, each in enumerate(values) if None not in each]
    found = nondominated([[value or 0.0 for value in values[at]] for at in known])
    return [trials[known[at]] for at in found]


def nondominated(points: Sequence[Sequence[float]]) -> list[int]:
    """Return where the points are that no other beats, in the order of their first value.

    A point beats another that it exceeds in no value and undercuts in one.
    """
    found: list[int] = []
    for at in sorted(range(len(points)), key=lambda at: tuple(points[at])):
        if not any(_beats(points[other], points[at]) for other in found):
            found.append(at)  # what could beat it comes before it in this order
    return found


def _beats(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(map(le, one, other)) and tuple(one) != tuple(other)
