"""One config of a table, verified again on a device: on its own problem and beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from autotune.device import Device
from autotune.device.sanitizer import Sanitizer, Watch
from autotune.dispatch import Entry, KernelTable
from autotune.errors import AutotuneError, InvalidInput, InvalidProblem
from autotune.records import (
    Binary,
    Candidate,
    Config,
    Failure,
    Kernel,
    LibraryKernel,
    Outcome,
    Problem,
    Status,
    Toolchain,
    Value,
    load_kernel,
    one_line,
)
from autotune.study.neighbours import neighbours
from autotune.table import Place
from autotune.verify import Exam

# A launcher that cannot build or start a config goes on to the next choice, so that nothing wrong
# comes out. It counts where the config was chosen for the problem, not beside it.
DECLINED = frozenset({Status.COMPILE_ERROR, Status.COMPILE_TIMEOUT, Status.RESOURCES, Status.OOM})
WATCHED = 4  # problems: its own, and those with tails in every direction, which come first


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What became of one config of a table.

    Attributes:
        place: Where it stands.
        answer: The entry or default.
        problem: What it is for, its fields in the kernel's order.
        problems: On which problems it was right, its own first.
        status: ``ok``, or how it failed.
        message: What was wrong, or empty.
        failed_on: The problem on which it failed, or empty. A sanitizer watches several in one
            process, and does not say on which: then it is one of those named.
        sanitizer: What a sanitizer said of it, or why none has watched it.
        watched: False if a sanitizer should have watched it and did not get to the end.
        source_digest: Digest of the kernel's source as it was built, or empty.
        toolchain: What built it, or None.
    """

    place: Place
    answer: Entry
    problem: Mapping[str, Value]
    problems: tuple[str, ...] = ()
    status: Status = Status.OK
    message: str = ""
    failed_on: str = ""
    sanitizer: str = ""
    watched: bool = True
    source_digest: str = ""
    toolchain: Toolchain | None = None

    @property
    def passed(self) -> bool:
        """True if nothing was wrong."""
        return self.status is Status.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class Examiner:
    """Examines configs of one kernel's table; what two of them share is run once.

    Attributes:
        device: What builds and runs them.
        kernel: The loaded kernel.
        table: What the table says of it.
        exam: How hard it looks.
        sanitizer: What watches each config once, or why none does.
        outcomes: Of candidates that were run.
    """

    device: Device
    kernel: Kernel
    table: KernelTable
    exam: Exam
    sanitizer: Sanitizer | str
    outcomes: dict[Candidate, Outcome] = field(default_factory=dict)

    @classmethod
    def of(
        cls, table: KernelTable, device: Device, *, exam: Exam, sanitizer: Sanitizer | str
    ) -> Examiner:
        """Load a table's kernel.

        Raises:
            InvalidInput: It cannot be loaded, or the device cannot run it.
            ToolchainBroken: The compiler cannot be used.
        """
        kernel = load_kernel(table.kernel_ref)
        device.preflight(kernel)
        return cls(device=device, kernel=kernel, table=table, exam=exam, sanitizer=sanitizer)

    def begin(self, place: Place, answer: Entry) -> Examination | Examined:
        """Start to build a config for its problem and for those beside it.

        A problem that the kernel of today refuses has failed already.
        """
        try:
            problem = self.kernel.problem_type.parse(answer.problem)
        except InvalidProblem as error:
            return self._refused(place, answer, error)
        beside = neighbours(
            self.kernel,
            problem,
            scaled=self.table.scaled_fields,
            conditions=answer.conditions,
        )
        own, *others = (self._candidate(each, answer) for each in (problem, *beside))
        candidates = (own, *(each for each in others if not _empty(each)))
        builds = [(each, self.device.build(each)) for each in candidates]
        return Examination(place=place, answer=answer, problem=problem.as_dict(), builds=builds)

    def finish(self, examination: Examination) -> Examined:
        """Run the config on every problem, as far as the first that it fails on."""
        right: list[tuple[Candidate, Binary]] = []
        for number, (candidate, build) in enumerate(examination.builds):
            built = build.result()
            outcome = self._outcome(candidate, built)
            if isinstance(built, Binary) and outcome.status is Status.OK:
                right.append((candidate, built))
            elif number == 0 or outcome.status not in DECLINED:
                return examination.failed([candidate.problem], outcome)
        return self._watched(examination, right)

    def _refused(self, place: Place, answer: Entry, error: InvalidProblem) -> Examined:
        fields = (*self.table.scaled_fields, *self.table.exact_fields)
        problem = {name: answer.problem[name] for name in fields}
        return Examined(
            place=place,
            answer=answer,
            problem=problem,
            status=Status.CONSTRAINT,
            message=f"the kernel of today refuses it: {error.message}",
            failed_on=",".join(f"{name}={value}" for name, value in problem.items()),
        )

    def _candidate(self, problem: Problem, answer: Entry) -> Candidate:
        return Candidate(
            kernel_ref=self.table.kernel_ref,
            problem=problem,
            config=Config(answer.config),
            target=self.device.identity.target,
            kernel=self.kernel,
        )

    def _outcome(self, candidate: Candidate, built: Binary | Failure) -> Outcome:
        if candidate not in self.outcomes:
            self.outcomes[candidate] = self._run(candidate, built)
        return self.outcomes[candidate]

    def _run(self, candidate: Candidate, built: Binary | Failure) -> Outcome:
        if isinstance(built, Failure):
            return Outcome.of(built)
        try:
            outcome = self.device.measure(candidate, built, self.exam)
        except InvalidInput as error:  # no inputs or reference, of this problem at least
            return Outcome(status=Status.RUNTIME_ERROR, message=error.message)
        if outcome.status is Status.OOM and self.exam.draws > 1:
            raise AutotuneError(  # what is to blame is how much is kept to compare with
                f"{self.kernel.name} {candidate.problem}: {self.exam.draws} draws do not fit the "
                f"memory of {self.device.name}: {one_line(outcome.message)}",
                hint="the table is as it was; add --draws 1",
            )
        return outcome

    def _watched(self, examination: Examination, right: list[tuple[Candidate, Binary]]) -> Examined:
        watch = self._watch(right[:WATCHED])
        if watch.fault is not None:
            problems = [candidate.problem for candidate, _ in right[:WATCHED]]
            return examination.failed(problems, Outcome.of(watch.fault))
        return Examined(
            place=examination.place,
            answer=examination.answer,
            problem=examination.problem,
            problems=tuple(str(candidate.problem) for candidate, _ in right),
            sanitizer=watch.said,
            watched=watch.ended,
            source_digest=self.device.source_digest(right[0][0]),
            toolchain=self.device.toolchain_of(self.kernel),
        )

    def _watch(self, launches: list[tuple[Candidate, Binary]]) -> Watch:
        if isinstance(self.kernel, LibraryKernel):
            return Watch(said="not for a library's code")
        if isinstance(self.sanitizer, str):
            return Watch(said=self.sanitizer)
        return self.sanitizer.watch(launches)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """A config that is being built, for its own problem and for those beside it."""

    place: Place
    answer: Entry
    problem: Mapping[str, Value]
    builds: list[tuple[Candidate, Future[Binary | Failure]]]

    def failed(self, problems: Sequence[Problem], outcome: Outcome) -> Examined:
        """Return that it failed on one of ``problems``."""
        return Examined(
            place=self.place,
            answer=self.answer,
            problem=self.problem,
            status=outcome.status,
            message=outcome.message,
            failed_on=" or ".join(map(str, problems)),
        )


def _empty(candidate: Candidate) -> bool:
    try:
        return candidate.launch().empty
    except InvalidInput:  # whoever measures it says so
        return False
