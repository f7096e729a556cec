"""The coordinator: ask, build, measure, record, tell. One writer, one loop."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass

from autotune.device.protocol import Device
from autotune.errors import ToolchainBroken
from autotune.records import (
    Binary,
    Candidate,
    Config,
    Failure,
    Finalist,
    Reading,
    Status,
    Trial,
    front,
    headline,
)
from autotune.search import Searcher, make_searcher
from autotune.store import Store
from autotune.study.drift import Yardstick
from autotune.study.events import Observer, ProblemReport, Reason, Silent, StudyReport
from autotune.study.final import contestants, hold_final
from autotune.study.question import Question
from autotune.study.spec import StudySpec

SAME_FAILURES = 12  # so many first trials with one and the same failure mean a broken machine


def run_study(
    spec: StudySpec, *, device: Device, store: Store, observer: Observer | None = None
) -> StudyReport:
    """Tune every problem of ``spec`` on ``device`` and record every attempt in ``store``.

    A study that was interrupted goes on where it stopped; a finished one does nothing. The
    caller owns ``device`` and ``store`` and closes both, also after an interrupt.

    Raises:
        InvalidInput: The device cannot run this kernel, the study names what is not there, or
            the kernel's own code fails; nothing is then written.
        NoValidConfig: The space has no valid config for a problem; nothing is then written.
        ToolchainBroken: The compiler cannot be used, or every first candidate failed alike.
        StoreError: A row could not be written; earlier rows are safe.
    """
    observer = observer or Silent()
    started = time.monotonic()
    deadline = None if spec.time_budget_s is None else started + spec.time_budget_s
    device.preflight(spec.kernel)
    questions = [Question(spec, problem, device) for problem in spec.problems]
    if questions:
        device.rehearse(questions[0].default)
    observer.started(spec, device)
    reports = []
    for question in questions:
        search = _ProblemSearch(question, store)
        reports.append(search.run(observer, deadline))
        observer.problem_finished(reports[-1])
    return StudyReport(
        study=spec.name,
        device=device.name,
        replays=device.replays,
        problems=tuple(reports),
        seconds=time.monotonic() - started,
    )


@dataclass(frozen=True, slots=True)
class _Pending:
    candidate: Candidate
    build: Future[Binary | Failure]


class _ProblemSearch:
    """The search for one problem of one study."""

    def __init__(self, question: Question, store: Store) -> None:
        self._question = question
        self._spec = question.spec
        self._problem = question.problem
        self._device = question.device
        self._store = store
        self._study_id = store.find_study(self._spec.name)
        self._valid = list(question.valid())
        history = self._history()
        known = frozenset(self._valid)
        self._trials = [trial for trial in history if trial.config in known]
        self._next_number = max((trial.number for trial in history), default=-1) + 1
        self._best = min(filter(_rankable, self._trials), key=_median_ns, default=None)
        self._yardstick = self._make_yardstick()
        self._finalists: tuple[Finalist, ...] = ()

    def run(self, observer: Observer, deadline: float | None) -> ProblemReport:
        """Search until the trials, the space or the time are used up."""
        planned = max(0, self._spec.trials - len(self._trials))
        observer.problem_started(
            self._problem,
            planned=min(planned, len(self._valid) - len(self._trials)),
            done=len(self._trials),
            valid=len(self._valid),
        )
        ran, reason = 0, Reason.FINISHED_BEFORE
        if planned:
            ran, reason = self._search(planned, observer, deadline)
        if reason is not Reason.TIME:
            self._hold_final(observer)
        return self._report(ran, reason)

    def _search(
        self, planned: int, observer: Observer, deadline: float | None
    ) -> tuple[int, Reason]:
        searcher = self._make_searcher()
        configs = self._configs(searcher)
        pending: deque[_Pending] = deque()
        ran = 0
        while ran < planned:
            if deadline is not None and time.monotonic() >= deadline:
                _abandon(pending)
                return ran, Reason.TIME
            self._fill(pending, configs, planned - ran)
            if not pending:
                return ran, Reason.EXHAUSTED if ran else Reason.FINISHED_BEFORE
            trial = self._finish(pending.popleft())
            searcher.tell(trial.config, trial.status, trial.known_ns)
            ran += 1
            observer.trial(self._problem, trial, self._best)
            self._refuse_a_broken_machine()
            self._watch(observer)
        return ran, Reason.BUDGET

    def _fill(self, pending: deque[_Pending], configs: Iterator[Config], wanted: int) -> None:
        """Ask ahead, so that compilers work while the device measures."""
        while len(pending) < min(self._device.lookahead, wanted):
            config = next(configs, None)
            if config is None:
                return
            candidate = self._question.candidate(config)
            pending.append(_Pending(candidate, self._device.build(candidate)))

    def _configs(self, searcher: Searcher) -> Iterator[Config]:
        """Yield the kernel's default first, as the yardstick, then what the search asks."""
        default = self._question.default.config
        first = default in self._valid and all(trial.config != default for trial in self._trials)
        if first:
            yield default
        while (config := searcher.ask()) is not None:
            if not (first and config == default):
                yield config

    def _finish(self, pending: _Pending) -> Trial:
        built = pending.build.result()
        began = time.perf_counter_ns()
        best_ns = self._best.median_ns if self._best else None
        outcome = self._question.measure(pending.candidate, built, best_ns)
        trial = self._question.trial(
            self._next_number,
            config=pending.candidate.config,
            built=built,
            outcome=outcome,
            device_ns=time.perf_counter_ns() - began,
        )
        trial = self._store.record(self._begun(), self._question.context, trial)
        self._next_number += 1
        self._trials.append(trial)
        self._best = min(filter(_rankable, (self._best, trial)), key=_median_ns, default=None)
        return trial

    def _watch(self, observer: Observer) -> None:
        """Read the yardstick if it is time, and say so if the device is not as usual."""
        default = self._default_trial()
        if default is not None and default.known_ns is None:
            return  # it failed: no measure, and perhaps a hang that would be paid for again
        reading = self._yardstick.after(self._next_number)
        if reading is not None and self._yardstick.is_excursion(reading):
            percent = 100 * (self._yardstick.slowness_of(reading) - 1)
            observer.note(
                f"{self._problem}: the default takes {percent:+.1f} % against the usual; what was "
                "measured meanwhile gets the benefit of the doubt where the best meet again"
            )

    def _hold_final(self, observer: Observer) -> None:
        """Let the best meet again, unless they did since the last trial."""
        final, study_id = self._spec.final, self._study_id
        if self._device.replays or study_id is None:
            return
        last = self._store.final(study_id, self._question.context)
        if last is not None and all(each.finished_at <= last.finished_at for each in self._trials):
            self._finalists = last.finalists
            return
        best = contestants(
            self._trials, most=final.candidates, slowness=self._yardstick.slowness_at
        )
        if len(best) < 2:
            return
        self._finalists = hold_final(
            self._question,
            [trial.config for trial in best],
            rounds=final.rounds,
            seed=self._spec.seed,
            say=observer.note,
        )
        self._store.record_final(study_id, self._question.context, self._finalists)

    def _make_yardstick(self) -> Yardstick:
        drift, context = self._spec.drift, self._question.context
        return Yardstick(
            self._question,
            every=0 if self._device.replays else drift.every,
            limit=drift.limit,
            readings=self._readings(),
            keep=lambda reading: self._store.record_reading(self._begun(), context, reading),
        )

    def _history(self) -> list[Trial]:
        if self._study_id is None:
            return []
        return self._store.trials(self._study_id, self._question.context)

    def _readings(self) -> list[Reading]:
        if self._study_id is None:
            return []
        return self._store.readings(self._study_id, self._question.context)

    def _begun(self) -> int:
        """Return the study's id. It is made with its first row: none is ever empty."""
        if self._study_id is None:
            spec = self._spec
            self._study_id = self._store.begin_study(
                spec.name, spec=spec.as_dict(), sampler=spec.sampler, seed=spec.seed
            )
        return self._study_id

    def _refuse_a_broken_machine(self) -> None:
        if len(self._trials) < SAME_FAILURES:
            return
        first = self._trials[0]
        if first.status is Status.OK:
            return
        if all((t.status, t.message) == (first.status, first.message) for t in self._trials):
            raise ToolchainBroken(
                f"the first {len(self._trials)} candidates all ended as {first.status}: "
                f"{headline(first.message) or 'no message'}",
                hint="autotune doctor; autotune query failures shows each row",
            )

    def _make_searcher(self) -> Searcher:
        searcher = make_searcher(
            self._spec.sampler,
            space=self._question.space,
            valid=self._valid,
            seed=self._spec.seed,
            estimates=self._question.estimates(self._valid),
        )
        for trial in self._trials:
            searcher.tell(trial.config, trial.status, trial.known_ns)
        return searcher

    def _default_trial(self) -> Trial | None:
        default = self._question.default.config
        return next((trial for trial in self._trials if trial.config == default), None)

    def _report(self, ran: int, reason: Reason) -> ProblemReport:
        leading = front(self._finalists, self._trials)
        return ProblemReport(
            problem=self._problem,
            reason=reason,
            ran=ran,
            total=len(self._trials),
            valid=len(self._valid),
            best=leading[0] if leading else self._best,
            tied=max(0, len(leading) - 1),
            default=self._default_trial(),
            statuses=Counter(trial.status for trial in self._trials),
        )


def _abandon(pending: deque[_Pending]) -> None:
    for entry in pending:
        entry.build.cancel()


def _rankable(trial: Trial | None) -> bool:
    return trial is not None and trial.median_ns is not None


def _median_ns(trial: Trial | None) -> float:
    assert trial is not None
    assert trial.median_ns is not None
    return trial.median_ns
