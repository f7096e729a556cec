"""A recording as a device: it answers with what a real device measured, failures included."""

from __future__ import annotations

import dataclasses
import logging
from collections import Counter
from collections.abc import Hashable, Iterator
from concurrent.futures import Future
from typing import TypeVar

from autotune.errors import InvalidInput, NoValidConfig
from autotune.records import (
    Binary,
    Candidate,
    Config,
    DeviceIdentity,
    Failure,
    Kernel,
    Outcome,
    Policy,
    Problem,
    Status,
    Toolchain,
    Trial,
    device_language,
)
from autotune.store import Context, Store, StoredContext
from autotune.timing import cut_short, stop_above_ns

_LOG = logging.getLogger(__name__)
_Key = TypeVar("_Key", bound=Hashable)
_ELSEWHERE = {
    "c++": "add --device host",
    "cuda": "measuring it takes a GPU; what this machine has: autotune doctor",
}
_NOT_BUILT = (Status.COMPILE_ERROR, Status.COMPILE_TIMEOUT)


class RecordingDevice:
    """Replays a result database.

    A recording is of one device and one policy, and of one toolchain for each kernel. Where a
    database holds results of several, the combination with the most problems speaks, of equals
    the newest; the log names what is left out.

    Args:
        name: How the user names it.
        store: The database, open for reading; the device closes it.

    Raises:
        InvalidInput: The database holds no measured results.
    """

    replays = True
    lookahead = 1

    def __init__(self, name: str, store: Store) -> None:
        self.name = name
        self._store = store
        measured = [each for each in store.contexts() if not each.context.replayed_from]
        if not measured:
            raise InvalidInput(f"{name}: {store.url} holds no measured results to replay")
        self._by_problem: dict[tuple[str, str], StoredContext] = {
            (each.context.kernel, each.context.problem.key): each for each in _speakers(measured)
        }
        self._context = next(iter(self._by_problem.values())).context
        self._answers: dict[int, dict[str, Trial]] = {}
        if len(self._by_problem) < len(measured):
            _LOG.info(
                "%s answers with %d of %d recorded contexts: those of %s, %s, one policy",
                name,
                len(self._by_problem),
                len(measured),
                self._context.device.name,
                self._context.toolchain.version,
            )

    @property
    def identity(self) -> DeviceIdentity:
        """The device that measured."""
        return self._context.device

    def toolchain_of(self, kernel: Kernel) -> Toolchain:
        """Return what compiled ``kernel`` then, or the library that was called."""
        contexts = (each.context for each in self._by_problem.values())
        own = (each.toolchain for each in contexts if each.kernel == kernel.name)
        return next(own, self._context.toolchain)

    def policy(self, requested: Policy) -> Policy:
        """Return the recorded policy, whatever is asked; log where they differ."""
        recorded = self._context.policy
        if requested.replace(stop_factor=recorded.stop_factor) != recorded:
            _LOG.info("%s answers with its recorded policy, not the one asked for", self.name)
        return self._context.policy

    def preflight(self, kernel: Kernel) -> None:
        """Raise unless something of this kernel was recorded."""
        names = sorted({name for name, _ in self._by_problem})
        if kernel.name not in names:
            raise InvalidInput(
                f"{self.name} has no results of kernel {kernel.name!r}; it has {', '.join(names)}",
                hint=_ELSEWHERE.get(device_language(kernel), ""),
            )

    def rehearse(self, candidate: Candidate) -> None:
        """Do nothing: it was built long ago."""
        del candidate

    def source_digest(self, candidate: Candidate) -> str:
        """Return the digest of the source that was measured, not of the source as it is now.

        Raises:
            NoValidConfig: Nothing was recorded for this problem.
        """
        return self._stored(candidate.kernel, candidate.problem).context.source_digest

    def offers(self, kernel: Kernel, problem: Problem) -> tuple[Config, ...] | None:
        """Return the configs that were recorded, oldest first."""
        return tuple(trial.config for trial in self._trials(kernel, problem).values())

    def answers(self) -> Iterator[tuple[Context, dict[str, Trial]]]:
        """Yield each context that it speaks for, with the trial of each config by config key."""
        for stored in self._by_problem.values():
            yield stored.context, self._store.answers(stored)

    def build(self, candidate: Candidate) -> Future[Binary | Failure]:
        """Return what the compiler made of it then."""
        answer: Future[Binary | Failure] = Future()
        answer.set_result(_built(self._trial(candidate), candidate))
        return answer

    def measure(
        self,
        candidate: Candidate,
        binary: Binary,
        policy: Policy,
        *,
        best_ns: float | None = None,
    ) -> Outcome:
        """Return what became of it then, or of its first samples if they say enough.

        Of ``policy``, which is the one asked for, ``stop_factor`` counts: how samples were taken
        is settled, but how many of them to look at is not.
        """
        del binary
        trial = self._trial(candidate)
        outcome = Outcome(status=trial.status, message=trial.message, measurement=trial.measurement)
        above_ns = stop_above_ns(policy, best_ns)
        if trial.status is not Status.OK or trial.measurement is None:
            return outcome
        head = cut_short(trial.measurement.samples_ns, above_ns)
        if head is None:
            return outcome
        seen = dataclasses.replace(trial.measurement, samples_ns=head)
        return Outcome.stopped(seen, above_ns)

    def close(self) -> None:
        """Close the database."""
        self._store.close()

    def _trial(self, candidate: Candidate) -> Trial:
        trial = self._trials(candidate.kernel, candidate.problem).get(candidate.config.key)
        if trial is None:
            raise InvalidInput(
                f"{self.name} has no result of {candidate.config} for {candidate.problem}"
            )
        return trial

    def _trials(self, kernel: Kernel, problem: Problem) -> dict[str, Trial]:
        stored = self._stored(kernel, problem)
        if stored.id not in self._answers:
            self._answers[stored.id] = self._store.answers(stored)
        return self._answers[stored.id]

    def _stored(self, kernel: Kernel, problem: Problem) -> StoredContext:
        stored = self._by_problem.get((kernel.name, problem.key))
        if stored is None:
            known = [
                str(each.context.problem)
                for (name, _), each in self._by_problem.items()
                if name == kernel.name
            ]
            raise NoValidConfig(
                f"{self.name} has no results of {kernel.name} for {problem}",
                hint=f"it has {'; '.join(known)}",
            )
        return stored


def _speakers(measured: list[StoredContext]) -> list[StoredContext]:
    """Return the contexts of one device and policy, those of a kernel of one toolchain too."""
    setting = _most_common([_setting(each.context) for each in measured])
    alike = [each for each in measured if _setting(each.context) == setting]
    by_kernel: dict[str, list[StoredContext]] = {}
    for each in alike:
        by_kernel.setdefault(each.context.kernel, []).append(each)
    return [speaker for some in by_kernel.values() for speaker in _of_one_toolchain(some)]


def _of_one_toolchain(contexts: list[StoredContext]) -> list[StoredContext]:
    key = _most_common([each.context.toolchain.key for each in contexts])
    return [each for each in contexts if each.context.toolchain.key == key]


def _setting(context: Context) -> tuple[str, str]:
    return context.device.key, context.policy.key


def _most_common(keys: list[_Key]) -> _Key:
    return Counter(reversed(keys)).most_common(1)[0][0]  # of equals, the last one


def _built(trial: Trial, candidate: Candidate) -> Binary | Failure:
    if trial.status in _NOT_BUILT or trial.resources is None:
        return Failure(status=trial.status, message=trial.message)
    return Binary(
        key=trial.binary_key,
        path="",
        entry=candidate.unit().entry,
        resources=trial.resources,
        compile_ns=trial.compile_ns,
        cached=True,
    )
