"""The final: the best of a search meet again, in turns and in a new order each round.

A search compares times that lie minutes apart, and picks the luckiest of many. In a round of the
final all are measured within seconds of each other, and the winner is chosen from the
differences. (See ``docs/studies.md``.)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter

from autotune.records import Config, Failure, Finalist, Outcome, Status, Trial, tied
from autotune.study.entrant import Contender
from autotune.study.events import Observer
from autotune.study.question import Question
from autotune.verify import Exam

_WRONG = (Status.INCORRECT, Status.NONDETERMINISTIC)
WITHIN = 0.05  # of the best: what is further behind does not catch up


def contestants(
    trials: Iterable[Trial], *, most: int, slowness: Callable[[Trial], float]
) -> list[Trial]:
    """Return the trials that may be the best, at most so many, the most promising first.

    Args:
        trials: Those of a search, whatever their status.
        most: How many.
        slowness: How slow the device was at a trial's moment, 1 for as usual: what was measured
            in a bad moment gets the benefit of the doubt.
    """
    usual = [
        (known_ns / max(1.0, slowness(trial)), trial)
        for trial in trials
        if (known_ns := trial.known_ns) is not None
    ]
    best_ns = min((ns for ns, _ in usual), default=0.0)
    near = [each for each in usual if each[0] <= best_ns * (1 + WITHIN)]
    return [trial for _, trial in sorted(near, key=itemgetter(0))[:most]]


def examined(question: Question, config: Config) -> Failure | None:
    """Launch a config many times more and return what is wrong with it, or None.

    A search looks at some ten outputs of each candidate. What is seldom wrong shows in thousands;
    what fails otherwise fails in the final, too.
    """
    if not question.policy.verify:
        return None
    candidate = question.candidate(config)
    built = question.device.build(candidate).result()
    if isinstance(built, Failure):
        return None
    exam = Exam.of_many_launches(question.policy)
    return _fault(question.device.measure(candidate, built, exam))


def hold_final(
    question: Question, configs: Sequence[Config], *, rounds: int, seed: int, observer: Observer
) -> list[Contender]:
    """Measure every config in turns, up to ``rounds`` times, and return what came of each.

    The order of each round follows from ``seed``. A config that fails once is measured no more,
    nor is one that does not tie with the fastest so far; the last one left needs no more rounds.
    """
    field = [Contender(question, config) for config in configs]
    racing = list(field)
    shuffle = random.Random(seed).shuffle  # noqa: S311 - no secret
    for number in range(1, rounds + 1):
        observer.final_round(number, rounds=rounds, racing=len(racing))
        shuffle(racing)
        for contender in racing:
            contender.measure()
        even = tied([finalist(each) for each in field])
        racing = [each for each in racing if each.candidate.config in even]
        if len(racing) <= 1:
            break
    return field


def found_wrong(field: Iterable[Contender]) -> dict[Config, Failure]:
    """Return the configs that were right in the search, and wrong in the final."""
    faults = {each.candidate.config: _fault(each.outcomes[-1]) for each in field}
    return {config: fault for config, fault in faults.items() if fault is not None}


def finalist(contender: Contender) -> Finalist:
    """Return what is recorded of a config that was in a final."""
    failed = contender.outcomes[-1].status is not Status.OK
    measured = (outcome.measurement for outcome in contender.outcomes)
    rounds = (each.median_ns for each in measured if each is not None)
    return Finalist(config=contender.candidate.config, rounds_ns=() if failed else tuple(rounds))


def _fault(outcome: Outcome) -> Failure | None:
    if outcome.status not in _WRONG:
        return None
    return Failure(status=outcome.status, message=outcome.message)
