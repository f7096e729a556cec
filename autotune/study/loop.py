"""The coordinator: ask, build, measure, record, tell. One writer, one loop."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial

from autotune.device.protocol import Device
from autotune.errors import ToolchainBroken
from autotune.records import (
    Binary,
    Candidate,
    Config,
    Failure,
    Outcome,
    Status,
    Trial,
    headline,
    leaders,
)
from autotune.search import MODELS, Searcher, chosen, make_searcher
from autotune.store import Store
from autotune.study.ahead import Ahead
from autotune.study.cross import cross_measure
from autotune.study.deferred import Deferred
from autotune.study.drift import Yardstick
from autotune.study.events import Observer, ProblemReport, Reason, Silent, StudyReport
from autotune.study.experience import experience
from autotune.study.final import contestants, examined, finalist, found_wrong, hold_final
from autotune.study.polish import Polished
from autotune.study.progress import Progress
from autotune.study.prospect import Prospect
from autotune.study.question import Question
from autotune.study.spec import StudySpec

MAY_PASS = frozenset(  # at another time, or within other limits
    {
        Status.COMPILE_TIMEOUT,
        Status.RUNTIME_ERROR,
        Status.TIMEOUT,
        Status.CRASHED,
        Status.OOM,
        Status.BAD_MEASUREMENT,
    }
)
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
    reports = {}
    for question in questions:
        search = _ProblemSearch(question, store, retry=spec.retry_failed)
        reports[question] = search.run(observer, deadline)
    if all(report.reason is not Reason.TIME for report in reports.values()):
        crossed = cross_measure(questions, store, observer=observer, deadline=deadline)
        for question, measured in crossed:
            ran = reports[question].ran + measured
            reports[question] = _ProblemSearch(question, store).end_crossed(observer, ran)
    return StudyReport(
        study=spec.name,
        device=device.name,
        replays=device.replays,
        problems=tuple(reports.values()),
        seconds=time.monotonic() - started,
    )


class _ProblemSearch:
    """The search for one problem of one study."""

    def __init__(self, question: Question, store: Store, *, retry: bool = False) -> None:
        self._question = question
        self._spec = question.spec
        self._problem = question.problem
        self._device = question.device
        self._store = store
        self._valid, self._valid_count = question.searched()
        sampled = self._valid_count > len(self._valid)
        counted = question.space if sampled else frozenset(self._valid)
        self._progress = Progress(question, store, valid=counted)
        if sampled:  # what an earlier sample held stays a choice
            self._valid = list(dict.fromkeys([*self._valid, *self._progress.trials]))
        self._again = self._set_aside_failed() if retry else []
        self._yardstick = self._make_yardstick()

    def run(self, observer: Observer, deadline: float | None) -> ProblemReport:
        """Search until the trials, the space or the time are used up, and tell what was found."""
        done = len(self._progress.trials)
        planned = max(len(self._again), self._spec.trials - done)
        self._start(observer, min(planned, len(self._valid) - done))
        if self._valid_count > len(self._valid):
            some = f"{len(self._valid):,} of {self._valid_count:,} valid configurations"
            observer.note(f"{self._problem}: searches {some}, drawn uniformly")
        ran, reason = 0, Reason.FINISHED_BEFORE
        if planned:
            ran, reason = self._search(planned, observer, deadline)
        return self._end(observer, ran, reason)

    def end_crossed(self, observer: Observer, ran: int) -> ProblemReport:
        """Let others' winners, measured since the search, meet the best; tell what was found."""
        self._start(observer, planned=0)
        return self._end(observer, ran, Reason.CROSSED)

    def _start(self, observer: Observer, planned: int) -> None:
        done = len(self._progress.trials)
        observer.problem_started(self._problem, planned=planned, done=done, valid=self._valid_count)

    def _end(self, observer: Observer, ran: int, reason: Reason) -> ProblemReport:
        if reason is not Reason.TIME:
            self._hold_final(observer)
        report = self._report(ran, reason)
        observer.problem_finished(report)
        return report

    def _search(
        self, planned: int, observer: Observer, deadline: float | None
    ) -> tuple[int, Reason]:
        searcher = self._make_searcher(observer)
        prospect = Prospect(searcher, self._spec, partial(self._note, observer))
        over = prospect.recall(list(self._progress.trials.values()))
        planned = len(self._again) if over else planned
        with Ahead(self._question, self._configs(searcher), deadline) as ahead:
            for ran in range(planned):
                searched = ran > 0 and ran >= len(self._again)
                if searched and self._is_poor(prospect, ahead):
                    return ran, Reason.UNLIKELY
                taken = ahead.take_built(planned - ran)
                if taken is None and ahead.is_late:
                    return ran, Reason.TIME
                if taken is None:
                    return ran, Reason.EXHAUSTED if ran else Reason.FINISHED_BEFORE
                ready = nullcontext if ran else partial(ahead.hear, searcher.make)
                trial = self._finish(*taken, ready)
                told = trial.config, trial.status, trial.known_ns, self._spec.further(trial)
                ahead.tell(partial(searcher.tell, *told))
                observer.trial(self._problem, trial, self._progress.best)
                self._refuse_a_broken_machine()
                self._watch(observer)
        return planned, Reason.BUDGET if planned else Reason.FINISHED_BEFORE

    def _is_poor(self, prospect: Prospect, ahead: Ahead) -> bool:
        trials = len(self._progress.trials)
        return prospect.is_due(trials) and bool(ahead.hear(partial(prospect.is_poor, trials)))

    def _make_searcher(self, observer: Observer) -> Deferred:
        spec = self._spec
        sampler = self._sampler()
        elsewhere = self._elsewhere() if sampler in MODELS else []
        if spec.sampler != sampler or elsewhere:
            self._note(observer, _way(sampler, elsewhere))
        mute = sum(None in spec.further(trial) for trial in self._progress.fastest_first())
        if mute:
            self._note(observer, f"{mute} trials of earlier runs do not tell all goals")
        if spec.stop_chance and sampler not in MODELS:
            self._note(observer, f"{sampler} cannot tell when a gain is unlikely: it goes on")
        return Deferred(lambda: self._searcher(sampler, elsewhere))

    def _sampler(self) -> str:
        spec, valid = self._spec, len(self._valid)
        return chosen(spec.sampler, valid=valid, trials=spec.trials, goals=len(spec.goals))

    def _searcher(self, sampler: str, elsewhere: Sequence[Mapping[Config, float]]) -> Searcher:
        searcher = make_searcher(
            sampler,
            space=self._question.space,
            valid=self._valid,
            seed=self._spec.seed,
            estimates=self._question.estimates(self._valid),
            elsewhere=elsewhere,
            goals=len(self._spec.goals),
        )
        if sampler not in MODELS or not self._holds_final or len(self._spec.goals) > 1:
            return searcher
        space, trials = self._question.space, self._spec.trials
        return Polished(searcher, space, self._valid, trials=trials)

    @property
    def _holds_final(self) -> bool:
        return self._spec.final.candidates > 1 and not self._device.replays

    def _note(self, observer: Observer, text: str) -> None:
        observer.note(f"{self._problem}: {text}")

    def _elsewhere(self) -> list[dict[Config, float]]:
        """Return what was known when this search began, so that it resumes as it went."""
        if not self._spec.warm_start:
            return []
        trials = self._progress.trials.values()
        began = min((trial.finished_at for trial in trials), default=None)
        return experience(self._question, self._store, before=began)

    def _set_aside_failed(self) -> list[Config]:
        trials = self._progress.trials.values()
        failed = [trial for trial in trials if trial.status in MAY_PASS]
        for trial in failed:
            self._progress.set_aside(trial)
        return [trial.config for trial in failed]

    def _configs(self, searcher: Searcher) -> Iterator[Config]:
        """Yield the kernel's default, as the yardstick, then what is retried or searched for."""
        default = self._question.default.config
        untried = default in self._valid and self._progress.default is None
        first = dict.fromkeys([default, *self._again] if untried else self._again)
        yield from first
        while (config := searcher.ask()) is not None:
            if config not in first:
                yield config

    def _finish(
        self, candidate: Candidate, built: Binary | Failure, ready: Callable[[], object]
    ) -> Trial:
        """Measure and record a candidate; nothing is recorded if ``ready`` raises."""
        began = time.perf_counter_ns()
        outcome = self._question.measure(candidate, built, self._best_ns())
        device_ns = time.perf_counter_ns() - began
        ready()
        return self._progress.add(
            candidate.config, built=built, outcome=outcome, device_ns=device_ns
        )

    def _best_ns(self) -> float | None:
        """Return the time of which a multiple is too slow: for other goals than time, none is."""
        best = self._progress.best
        return best.median_ns if best and len(self._spec.goals) == 1 else None

    def _refuse_a_broken_machine(self) -> None:
        trials = self._progress.trials.values()
        first = next(iter(trials))
        if self._device.replays or len(trials) < SAME_FAILURES or first.status is Status.OK:
            return
        if all((t.status, t.message) == (first.status, first.message) for t in trials):
            raise ToolchainBroken(
                f"the first {len(trials)} candidates all ended as {first.status}: "
                f"{headline(first.message) or 'no message'}",
                hint="autotune doctor; autotune query failures shows each row",
            )

    def _make_yardstick(self) -> Yardstick:
        drift = self._spec.drift
        return Yardstick(
            self._question.of_time_alone(),
            every=0 if self._device.replays else drift.every,
            limit=drift.limit,
            readings=self._progress.readings(),
            keep=self._progress.add_reading,
        )

    def _watch(self, observer: Observer) -> None:
        """Read the yardstick if it is time, and say so if the device is not as usual."""
        default = self._progress.default
        if default is not None and default.known_ns is None:
            return  # it failed: no measure, and perhaps a hang that would be paid for again
        reading = self._yardstick.after(self._progress.next_number)
        if reading is not None and self._yardstick.is_excursion(reading):
            change = self._yardstick.slowness_of(reading) - 1
            self._note(
                observer,
                f"the device has changed: the default takes {abs(change):.1%} "
                f"{'more' if change > 0 else 'less'} time than usual; what was measured meanwhile "
                "gets the benefit of the doubt in the final",
            )

    def _hold_final(self, observer: Observer) -> None:
        """Let the best meet again, unless they did since the last trial."""
        if self._device.replays or self._progress.has_final():
            return
        final, passed = self._spec.final, set[Config]()
        while best := self._contestants():
            field = hold_final(
                self._question.of_time_alone(),
                [trial.config for trial in best],
                rounds=final.rounds if len(best) > 1 else 1,
                seed=self._spec.seed,
                observer=observer,
            )
            finalists = [finalist(each) for each in field]
            wrong = found_wrong(field) or self._fails_exam(leaders(finalists), passed)
            if not wrong:
                self._progress.add_final(finalists)
                break
            self._condemn(wrong, observer)

    def _contestants(self) -> list[Trial]:
        if self._spec.final.candidates < 2:
            return []
        return contestants(
            self._progress.trials.values(),
            most=self._spec.final.candidates,
            slowness=self._yardstick.slowness_at,
        )

    def _fails_exam(self, configs: Sequence[Config], passed: set[Config]) -> dict[Config, Failure]:
        """Return the first config that fails an exam, and how. Those before it have passed."""
        for config in configs:
            failure = None if config in passed else examined(self._question, config)
            if failure is not None:
                return {config: failure}
            passed.add(config)
        return {}

    def _condemn(self, wrong: Mapping[Config, Failure], observer: Observer) -> None:
        """Have the rows of trials which seemed right say that they are not."""
        for config, failure in wrong.items():
            build = self._device.build(self._question.candidate(config))
            self._progress.set_aside(self._progress.trials[config])
            self._progress.add(
                config, built=build.result(), outcome=Outcome.of(failure), device_ns=0
            )
            self._note(observer, f"{failure.status}: {headline(failure.message)}")

    def _report(self, ran: int, reason: Reason) -> ProblemReport:
        progress, tied = self._progress, self._progress.tied()
        recorded = progress.recorded()
        return ProblemReport(
            problem=self._problem,
            reason=reason,
            ran=ran,
            total=len(recorded),
            valid=self._valid_count,
            best=tied[0] if tied else None,
            tied=max(0, len(tied) - 1),
            front=len(progress.front()),
            default=progress.default,
            statuses=Counter(trial.status for trial in recorded),
        )


def _way(sampler: str, elsewhere: Sequence[Mapping[Config, float]]) -> str:
    """Return how a search goes, for a person who left that open."""
    if not elsewhere:
        return f"searches by {sampler}"
    rows = sum(map(len, elsewhere))
    return f"searches by {sampler}, which learns from {rows} trials elsewhere"
