"""What a running study shows: a live display on a terminal, plain lines in a pipe."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from autotune.device.protocol import Device
from autotune.records import Kernel, Problem, Status, Trial
from autotune.report.fields import compiler_text, config_text
from autotune.report.units import counted, duration_text, rate_text, time_text
from autotune.study.events import ProblemReport, Reason
from autotune.study.spec import StudySpec

_LINE_EVERY_S = 5.0
_REDRAW_EVERY_S = 0.125
_GO_ON = "raise --trials to go on"


def watch(console: Console) -> LiveProgress | LineProgress:
    """Return the observer that suits ``console``."""
    return LiveProgress(console) if console.is_terminal else LineProgress(console)


@dataclass(slots=True, kw_only=True)
class _Progress:
    """Where the search for one problem stands."""

    kernel: Kernel
    cost: Mapping[str, int]
    planned: int
    done: int
    deadline_s: float | None
    began_s: float = field(default_factory=time.monotonic)
    ran: int = 0
    final_rounds: int = 0
    best: Trial | None = None
    statuses: Counter[Status] = field(default_factory=Counter)

    def add(self, trial: Trial, best: Trial | None) -> None:
        self.ran += 1
        self.best = best
        self.statuses[trial.status] += 1

    @property
    def failures(self) -> str:
        counts = ((n, s) for s, n in self.statuses.most_common() if s is not Status.OK)
        return ", ".join(f"{count} {status}" for count, status in counts)

    @property
    def left_s(self) -> float | None:
        if not self.ran:
            return None
        now = time.monotonic()
        left = (now - self.began_s) / self.ran * (self.planned - self.ran)
        return left if self.deadline_s is None else max(0.0, min(left, self.deadline_s - now))

    @property
    def at(self) -> int:
        """How many trials there are, those of earlier runs included."""
        return self.done + self.ran

    @property
    def total(self) -> int:
        """How many trials there will be."""
        return self.done + self.planned

    @property
    def position(self) -> str:
        return f"{self.at}/{self.total}"

    @property
    def left(self) -> str:
        return "" if self.left_s is None else f"{duration_text(self.left_s)} left"

    def speed(self, trial: Trial) -> str:
        rate = rate_text(self.cost, trial.median_ns)
        return f"{time_text(trial.median_ns)}  {rate}".rstrip()

    def config(self, trial: Trial) -> str:
        return config_text(self.kernel, trial.config)


class LineProgress:
    """Writes one line for each thing worth telling.

    Args:
        console: Where to write.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._spec: StudySpec | None = None
        self._deadline_s: float | None = None
        self._progress: _Progress | None = None
        self._last_line_s = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        pass

    def started(self, spec: StudySpec, device: Device) -> None:
        """Say what is tuned and on what."""
        self._spec = spec
        if spec.time_budget_s is not None:
            self._deadline_s = time.monotonic() + spec.time_budget_s
        problems = counted(len(spec.problems), "problem")
        self._say(
            f"study {spec.name}: kernel {spec.kernel.name}, {problems}, "
            f"sampler {spec.sampler}, seed {spec.seed}",
            style="bold",
        )
        what = "replays what was measured on" if device.replays else "is"
        self._say(
            f"device {device.name} {what} {device.identity.name}, "
            f"built by {compiler_text(device.toolchain_of(spec.kernel))}"
        )

    def problem_started(self, problem: Problem, *, planned: int, done: int, valid: int) -> None:
        """Say how much is to do."""
        assert self._spec is not None
        self._progress = _Progress(
            kernel=self._spec.kernel,
            cost=dataclasses.asdict(self._spec.kernel.cost(problem)),
            planned=planned,
            done=done,
            deadline_s=self._deadline_s,
        )
        self._last_line_s = time.monotonic()
        already = f", {done} done before" if done else ""
        if planned:
            self._say(f"{problem}: {planned:,} of {valid:,} configurations to try{already}")

    def trial(self, problem: Problem, trial: Trial, best: Trial | None) -> None:
        """Say a new best at once, and where the search stands now and then."""
        del problem
        assert self._progress is not None
        progress = self._progress
        progress.add(trial, best)
        if best is not None and best.number == trial.number:
            found = f"best {progress.speed(trial)}  {progress.config(trial)}"
            self._say(f"  {progress.position}  {found}")
        elif time.monotonic() - self._last_line_s > _LINE_EVERY_S:
            facts = (progress.position, progress.failures, progress.left)
            self._say("  " + "  ".join(fact for fact in facts if fact))

    def final_round(self, number: int, *, rounds: int, racing: int) -> None:
        """Say once that the best meet again: a log has no use for each round."""
        assert self._progress is not None
        self._progress.final_rounds = number
        if number == 1:
            self._say(f"  final: {racing} in turns, {counted(rounds, 'round')} at most")

    def problem_finished(self, report: ProblemReport) -> None:
        """Say what was found."""
        progress = self._progress
        if progress is not None and progress.final_rounds and report.best is not None:
            rounds = counted(progress.final_rounds, "round")
            tied = f", tied with {report.tied}" if report.tied else ""
            self._say(f"  final, after {rounds}: {progress.config(report.best)}{tied}")
        for line in _finished(report, progress):
            self._say(line)

    def note(self, text: str) -> None:
        """Pass a note on."""
        self._say(f"note: {text}", style="yellow")

    def _say(self, text: str, style: str = "") -> None:
        self._last_line_s = time.monotonic()
        self._console.print(Text(text), style=style or None)


class LiveProgress(LineProgress):
    """Keeps a few lines at the bottom of a terminal up to date.

    They are drawn between trials and by no thread, so that nothing is drawn after the end.

    Args:
        console: The terminal.
    """

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._live = Live(console=console, transient=True, auto_refresh=False)
        self._drawn_s = 0.0

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._clear()
        self._live.stop()

    def problem_started(self, problem: Problem, *, planned: int, done: int, valid: int) -> None:
        """Say how much is to do, and show the bar."""
        super().problem_started(problem, planned=planned, done=done, valid=valid)
        self._draw()

    def trial(self, problem: Problem, trial: Trial, best: Trial | None) -> None:
        """Move the bar."""
        del problem
        assert self._progress is not None
        self._progress.add(trial, best)
        if time.monotonic() - self._drawn_s > _REDRAW_EVERY_S:
            self._draw()

    def final_round(self, number: int, *, rounds: int, racing: int) -> None:
        """Say that a round begins."""
        self.note(f"final, round {number} of {rounds}: {racing} in turns")

    def problem_finished(self, report: ProblemReport) -> None:
        """Say what was found above the display."""
        self._clear()
        super().problem_finished(report)

    def _draw(self) -> None:
        assert self._progress is not None
        self._drawn_s = time.monotonic()
        self._live.update(_display(self._progress), refresh=True)

    def _clear(self) -> None:
        self._live.update(Text(), refresh=True)


def _display(progress: _Progress) -> Group:
    bar = Table.grid(padding=(0, 2))
    bar.add_row(
        ProgressBar(total=max(progress.total, 1), completed=progress.at, width=30),
        Text(progress.position),
        Text(progress.left),
    )
    facts = Table.grid(padding=(0, 2))
    if progress.best is not None:
        facts.add_row("best", Text(progress.speed(progress.best), style="green"))
        facts.add_row("", Text(progress.config(progress.best)))
    if progress.failures:
        facts.add_row("failed", Text(progress.failures))
    return Group(bar, facts)


def _finished(report: ProblemReport, progress: _Progress | None) -> list[str]:
    if report.reason is Reason.FINISHED_BEFORE:
        tried = f"{report.total} trials"
        how = "every configuration was tried" if report.total >= report.valid else _GO_ON
        return [f"{report.problem}: already finished ({tried}; {how})"]
    ending = f"  {report.reason}: {report.ran} trials in this run, {report.total} in all"
    failures = progress.failures if progress is not None else ""
    lines = [f"{ending} ({failures})" if failures else ending]
    if report.best is None:
        lines.append("  no configuration gave a right result")
    return lines
