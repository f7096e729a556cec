"""The study that every fault is put into, and the judgement of what became of it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from faults_record import Seen

from autotune.device import Device
from autotune.errors import AutotuneError, StoreError
from autotune.records import Config, Limits, Policy, Problem, Status, Trial, load_kernel
from autotune.store import Store
from autotune.study import Silent, StudySpec, run_study
from autotune.table import build_table

STUDY = "campaign"
MOST_LANES = 2  # that one candidate may take along
FINISHED, REFUSED, INTERRUPTED = "finished", "refused", "interrupted"  # how a run ends
POLICY = Policy(
    warmup_ms=0.2, min_samples=5, max_samples=9, budget_ms=2.0, sample_us=50.0, cache="hot"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a study: how it ended, and each row that it reported, with the moment in s."""

    ended: str
    message: str = ""
    rows: Sequence[tuple[float, Trial]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where one fault is injected.

    Attributes:
        folder: Its own, for the database and what else it needs.
        witness: Where candidates note in how many processes they ran.
        device: What measures; others may use it, too.
        kernel_ref: The kernel with the faults.
        problem: What is computed.
        limits: When the device gives a candidate up.
    """

    folder: Path
    witness: Path
    device: Device
    kernel_ref: str
    problem: Problem
    limits: Limits

    @property
    def database(self) -> Path:
        """The result database."""
        return self.folder / "results.db"

    def of(self, kernel_ref: str) -> Site:
        """Return this site with another kernel."""
        return dataclasses.replace(self, kernel_ref=kernel_ref)

    def tune(
        self,
        fault: str = "none",
        *,
        after: Callable[[int], None] | None = None,
        stop_after: int | None = None,
        device: Device | None = None,
    ) -> Run:
        """Run or resume the study of every right candidate and one that is ``fault``.

        Args:
            fault: A value of the kernel's parameter of that name.
            after: Called with the count of rows after each one.
            stop_after: Interrupt the study after so many rows.
            device: What measures instead of the site's device.
        """
        watch = _Watch(after, stop_after)
        spec = self._spec(fault)
        try:
            with Store.open(str(self.database)) as store:
                run_study(spec, device=device or self.device, store=store, observer=watch)
        except AutotuneError as error:
            return Run(ended=REFUSED, message=error.message, rows=watch.rows)
        except _Stopped:
            return Run(ended=INTERRUPTED, rows=watch.rows)
        return Run(ended=FINISHED, rows=watch.rows)

    def seen(self, runs: Sequence[Run], status: str = "", *, fault: str = "none") -> Seen:
        """Judge the study by its database.

        Args:
            runs: Every run, first to last; the last one met no fault.
            status: How the run ended that met it; empty for the status of the row of ``fault``.
            fault: Which candidate was not a right one.
        """
        kept = {trial.config: trial for trial in self.kept()}
        row = next((trial for trial in kept.values() if trial.config["fault"] == fault), None)
        ended = "" if runs[-1].ended == FINISHED else f", then {runs[-1].ended}"
        reported = [trial for run in runs for _, trial in run.rows]
        said = next((run.message for run in runs if run.message), row.message if row else "")
        right = self.right()
        return Seen(
            status=(status or (str(row.status) if row else "no row")) + ended,
            rows_lost=sum(_lost(trial, kept.get(trial.config)) for trial in reported),
            disturbed=sum(not _ok(kept.get(config)) for config in right),
            winners_wrong=int(self._winner() != min(right, key=lambda config: config["work"])),
            over_s=self._over_s(runs, row),
            message=next(iter(said.splitlines()), ""),
        )

    def kept(self) -> list[Trial]:
        """Return every row, as another reader finds it."""
        try:
            with Store.open(str(self.database), read_only=True) as store:
                return [row.trial for row in store.rows()]
        except StoreError:  # nothing is there yet
            return []

    def right(self) -> list[Config]:
        """Return every config without a fault."""
        kernel, target = load_kernel(self.kernel_ref), self.device.identity.target
        return list(kernel.space(self.problem, target).restricted({"fault": ["none"]}))

    def lanes(self, fault: str) -> int:
        """Return in how many processes the candidate ``fault`` has run."""
        note = self.witness / fault
        return note.stat().st_size if note.is_file() else 0

    def _spec(self, fault: str) -> StudySpec:
        return StudySpec(
            name=STUDY,
            kernel_ref=self.kernel_ref,
            kernel=load_kernel(self.kernel_ref),
            problems=(self.problem,),
            sampler="exhaustive",
            policy=POLICY,
            limits=self.limits,
            space={"fault": list(dict.fromkeys(("none", fault)))},
        )

    def _winner(self) -> Config | None:
        with Store.open(str(self.database), read_only=True) as store:
            try:
                (kernel,) = build_table(store).document["kernels"].values()
            except AutotuneError:
                return None
        return Config(kernel["entries"][0]["config"])

    def _over_s(self, runs: Sequence[Run], row: Trial | None) -> float | None:
        limits = {Status.TIMEOUT: self.limits.run_s, Status.COMPILE_TIMEOUT: self.limits.compile_s}
        if row is None or row.status not in limits:
            return None
        rows = runs[0].rows
        for (before, _), (moment, trial) in pairwise(rows):
            if trial.config == row.config:
                return max(0.0, moment - before - limits[row.status])
        return None


class _Stopped(KeyboardInterrupt):
    """What a person would do, but not the one who runs the campaign."""


class _Watch(Silent):
    def __init__(self, after: Callable[[int], None] | None, stop_after: int | None) -> None:
        self.rows: list[tuple[float, Trial]] = []
        self._after = after
        self._stop_after = stop_after

    def trial(self, problem: Problem, trial: Trial, best: Trial | None) -> None:
        del problem, best
        self.rows.append((time.monotonic(), trial))
        if self._after is not None:
            self._after(len(self.rows))
        if len(self.rows) == self._stop_after:
            raise _Stopped


def _lost(reported: Trial, kept: Trial | None) -> bool:
    """Return False for a row as it was reported, or for a later one that says that it is wrong."""
    if kept is None or kept == reported:
        return kept is None
    return kept.number < reported.number or kept.status is not Status.NONDETERMINISTIC


def _ok(trial: Trial | None) -> bool:
    return trial is not None and trial.status is Status.OK
