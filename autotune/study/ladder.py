"""A ladder: one config of each rung of a kernel, timed in turns beside the kernel's peer."""

from __future__ import annotations

import dataclasses
import itertools
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from autotune.device.protocol import Device
from autotune.errors import AutotuneError, InvalidInput
from autotune.records import (
    Config,
    DeviceIdentity,
    Kernel,
    Policy,
    Problem,
    Rung,
    Toolchain,
    Trial,
    ask,
    load_kernel,
)
from autotune.store import Store
from autotune.study.entrant import Contender, Entrant, Record, Step
from autotune.study.question import Question
from autotune.study.spec import StudySpec

SAMPLER = "ladder"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderSpec:
    """What to climb, and how.

    Attributes:
        kernel_ref: How any process loads the kernel.
        kernel: The loaded kernel.
        problem: What is computed.
        trials: With 1 each rung's representative is measured, else the fastest of so many.
        rounds: How often each rung is timed, all rungs and the peer in turns.
        seed: Which configs are tried follows from it.
        policy: How candidates are measured.
    """

    kernel_ref: str
    kernel: Kernel = field(compare=False, repr=False)
    problem: Problem
    trials: int = 1
    rounds: int = 3
    seed: int = 0
    policy: Policy = field(default_factory=Policy)

    def as_dict(self) -> dict[str, Any]:
        """Return what the database stores about this ladder, ready for JSON."""
        return {
            "kernel": self.kernel_ref,
            "problems": [self.problem.as_dict()],
            "search": {"sampler": SAMPLER, "trials": self.trials, "seed": self.seed},
            "rounds": self.rounds,
            "policy": dataclasses.asdict(self.policy),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderReport:
    """A ladder that was climbed.

    Attributes:
        spec: What was asked for.
        device: The name that the device was opened by.
        identity: What the times belong to.
        toolchain: What compiled the kernel.
        replays: True if that device repeats what was measured before.
        study: Name of the study that holds the trials; empty if nothing was stored.
        steps: One for each rung, lowest first.
        peer: The same for the kernel's peer, or None.
        no_peer: Why there is no peer, in one line; empty for a kernel that names none.
    """

    spec: LadderSpec
    device: str
    identity: DeviceIdentity
    toolchain: Toolchain
    replays: bool
    study: str
    steps: tuple[Step, ...]
    peer: Step | None
    no_peer: str = ""


def run_ladder(
    spec: LadderSpec, *, device: Device, store: Store | None = None, say: Say = lambda _: None
) -> LadderReport:
    """Measure one config of each rung of ``spec.kernel`` on ``device``, in turns with the peer.

    Whatever was measured is recorded in ``store``, also after an interrupt, as a study of its
    own. What a recording answers is not: it is recorded already.

    Args:
        spec: What to measure.
        device: What measures, or repeats what was measured.
        store: Where trials go, or None. The caller closes both.
        say: Hears of what goes on, a line at a time.

    Raises:
        InvalidInput: The kernel declares no ladder, the device cannot run it, or its code fails.
        NoValidConfig: The space has no valid config for the problem.
        ToolchainBroken: The compiler cannot be used.
    """
    device.preflight(spec.kernel)
    question = _question(spec, device)
    rungs = _rungs(question)
    device.rehearse(question.default)
    entrants = [_entrant(question, rung, spec) for rung in rungs]
    peer, no_peer = _peer(spec, device)
    everyone = [*entrants, *([peer] if peer else [])]
    log = _Log(spec, None if device.replays else store)
    try:
        _heats(everyone, log.record, say)
        _rounds(everyone, 1 if device.replays else spec.rounds, say)
    finally:
        with _undisturbed():
            steps = tuple(entrant.step(log.record) for entrant in everyone)
    return LadderReport(
        spec=spec,
        device=device.name,
        identity=device.identity,
        toolchain=question.context.toolchain,
        replays=device.replays,
        study=log.study,
        steps=steps[: len(entrants)],
        peer=steps[-1] if peer else None,
        no_peer=no_peer,
    )


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let no second Ctrl-C break off the writing of what the first one left."""
    if threading.current_thread() is not threading.main_thread():  # no signal comes here
        yield
        return
    stops = (signal.SIGINT, signal.SIGTERM)
    handlers = [signal.signal(stop, signal.SIG_IGN) for stop in stops]
    try:
        yield
    finally:
        for stop, handler in zip(stops, handlers, strict=True):
            signal.signal(stop, signal.SIG_DFL if handler is None else handler)


def _question(spec: LadderSpec, device: Device) -> Question:
    study = StudySpec(
        name=SAMPLER,
        kernel_ref=spec.kernel_ref,
        kernel=spec.kernel,
        problems=(spec.problem,),
        policy=spec.policy,
    )
    return Question(study, spec.problem, device)


def _rungs(question: Question) -> tuple[Rung, ...]:
    kernel, target = question.spec.kernel, question.device.identity.target
    rungs = ask(kernel, "ladder", question.problem, target, gives=tuple)
    if not all(isinstance(rung, Rung) for rung in rungs):
        raise InvalidInput(f"kernel {kernel.name!r}: ladder() returns something other than rungs")
    [(name, count), *_] = Counter(rung.name for rung in rungs).most_common(1) or [("", 0)]
    if count > 1:
        raise InvalidInput(f"kernel {kernel.name!r}: ladder() names {count} rungs {name!r}")
    if not rungs:
        raise InvalidInput(
            f"kernel {kernel.name!r} declares no ladder",
            hint="its method ladder() declares one; docs/ladder.md shows how",
        )
    return rungs


def _entrant(question: Question, rung: Rung, spec: LadderSpec) -> Entrant:
    return Entrant(question, rung, trials=spec.trials, seed=spec.seed)


def _peer(spec: LadderSpec, device: Device) -> tuple[Entrant | None, str]:
    """Return the kernel's peer, ready to be measured, or why there is none."""
    name = spec.kernel.peer
    if not name:
        return None, ""
    try:
        kernel = load_kernel(name)
        device.preflight(kernel)
        problem = kernel.problem_type.parse(spec.problem.as_dict())
        theirs = dataclasses.replace(spec, kernel_ref=name, kernel=kernel, problem=problem)
        question = _question(theirs, device)
    except AutotuneError as error:
        return None, error.message
    default = question.default.config
    rung = Rung(name=kernel.name, where={}, preferred=(default,), change="", why="")
    return _entrant(question, rung, spec), ""


def _heats(entrants: Iterable[Entrant], record: Record, say: Say) -> None:
    for entrant in entrants:
        if len(entrant.contenders) > 1:
            say(f"{entrant.rung.name}: the fastest of {len(entrant.contenders)}")
            entrant.heat(record)


def _rounds(entrants: Sequence[Entrant], rounds: int, say: Say) -> None:
    chosen = [entrant.chosen for entrant in entrants if entrant.chosen is not None]
    for number in range(1, rounds + 1):
        say(f"round {number} of {rounds}: {len(chosen)} in turns")
        for contender in chosen:
            contender.measure()


class _Log:
    """Where trials go: a study that is made with its first row, or nowhere."""

    def __init__(self, spec: LadderSpec, store: Store | None) -> None:
        self.study = ""
        self._spec = spec
        self._store = store
        self._study_id: int | None = None
        self._numbers: Counter[tuple[str, ...]] = Counter()
        self._kept: set[tuple[tuple[str, ...], Config]] = set()

    def record(self, contender: Contender) -> Trial:
        """Return the trial of ``contender``, written down if there is a store.

        A config that stands for two rungs is kept once: a study has one trial of each.
        """
        context = contender.question.context
        trial = contender.trial(self._numbers[context.identity])
        if self._store is None or (context.identity, trial.config) in self._kept:
            return trial
        self._kept.add((context.identity, trial.config))
        self._numbers[context.identity] += 1
        return self._store.record(self._begun(self._store), context, trial)

    def _begun(self, store: Store) -> int:
        """Return the study's id: the first free number behind the kernel's name is its name."""
        if self._study_id is None:
            names = (f"{SAMPLER}-{self._spec.kernel.name}-{i}" for i in itertools.count(1))
            self.study = next(name for name in names if store.find_study(name) is None)
            spec = {"name": self.study, **self._spec.as_dict()}
            self._study_id = store.begin_study(
                self.study, spec=spec, sampler=SAMPLER, seed=self._spec.seed
            )
        return self._study_id
