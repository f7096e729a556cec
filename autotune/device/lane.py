"""The owner's end of a lane: one candidate at a time, and what became of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autotune.device.backend import Backend
from autotune.device.bench import serve_bench
from autotune.device.messages import Identify, Job, Measure, Refused, Reply
from autotune.errors import DeviceUnavailable, InvalidInput
from autotune.process import Died, TimedOut, Worker
from autotune.records import Binary, Config, DeviceIdentity, Outcome, Status

IDENTIFY_LIMIT_S = 60.0
PREPARE_LIMIT_S = 600.0
KILLED = "killed by SIGKILL"  # what no candidate does to itself


class Lane:
    """One process that owns one device; it is restarted when a candidate takes it along.

    Args:
        make_backend: An importable function that makes the device's backend in the process.
        arguments: Its arguments.
        run_limit_s: Time that one candidate may take to be verified and timed, in seconds.
    """

    def __init__(
        self, make_backend: Callable[..., Backend], *arguments: Any, run_limit_s: float
    ) -> None:
        self._worker = Worker(serve_bench, make_backend, *arguments)
        self._run_limit_s = run_limit_s
        self._served_pid: int | None = None

    @property
    def pid(self) -> int | None:
        """Process id, or None while none runs."""
        return self._worker.pid

    def identity(self) -> DeviceIdentity:
        """Return which device it owns.

        Raises:
            DeviceUnavailable: There is no such device.
        """
        answer = self._call_twice(Identify(), IDENTIFY_LIMIT_S)
        if isinstance(answer, DeviceIdentity):
            return answer
        if isinstance(answer, Refused):
            self.close()
            raise DeviceUnavailable(answer.message, answer.hint)
        raise DeviceUnavailable(f"the device's process did not start: {_last_line(answer)}")

    def measure(
        self, job: Job, *, config: Config, binary: Binary, best_ns: float | None = None
    ) -> Outcome:
        """Verify and time one candidate; give it up if it is much slower than ``best_ns``.

        A lane that dies, or cannot start the candidate, is given one more chance with it in a
        fresh process, unless it was fresh: an earlier candidate may have spoilt it, or another
        hand killed it.

        Raises:
            InvalidInput: The kernel's inputs or reference cannot be made, or are not finite.
            DeviceUnavailable: The lane cannot get ready, whatever the candidate.
        """
        request = Measure(config=config, binary=binary, best_ns=best_ns)
        was_used = self._served_pid is not None and self._served_pid == self._worker.pid
        answer = self._attempt(job, request)
        if (was_used and _may_be_anothers(answer)) or answer == Died(KILLED):
            self.close()
            answer = self._attempt(job, request)
        return self._outcome(answer)

    def close(self) -> None:
        """Kill the process and whatever it runs."""
        self._worker.close()

    def _attempt(self, job: Job, request: Measure) -> Reply | TimedOut | Died:
        unready = self._prepare(job)
        if unready is not None:
            return unready
        self._served_pid = self._worker.pid
        answer: Reply | TimedOut | Died = self._worker.call(request, self._run_limit_s)
        return answer

    def _prepare(self, job: Job) -> Reply | None:
        answer = self._call_twice(job, PREPARE_LIMIT_S)
        if answer is None or isinstance(answer, Reply):
            return answer
        if isinstance(answer, Refused):
            raise InvalidInput(answer.message, answer.hint)
        raise DeviceUnavailable(f"inputs and reference were not made: {_last_line(answer)}")

    def _call_twice(self, request: Identify | Job, limit_s: float) -> Any:
        answer = self._worker.call(request, limit_s)
        if isinstance(answer, Died):  # perhaps long ago, and of an earlier candidate
            answer = self._worker.call(request, limit_s)
        return answer

    def _outcome(self, answer: Reply | TimedOut | Died) -> Outcome:
        match answer:
            case TimedOut(limit_s):
                message = f"still running after {limit_s:g} s; its process was killed"
                return Outcome(status=Status.TIMEOUT, message=message)
            case Died(why):
                return Outcome(status=Status.CRASHED, message=why.strip())
            case Reply(outcome=outcome, poisoned=poisoned):
                if poisoned:
                    self.close()
                return outcome


def _may_be_anothers(answer: Reply | TimedOut | Died) -> bool:
    """Return True for what an earlier candidate may have led to; a device's own error is not."""
    if isinstance(answer, Reply):
        return answer.outcome.status is Status.RUNTIME_ERROR and not answer.poisoned
    return isinstance(answer, Died)


def _last_line(answer: TimedOut | Died) -> str:
    if isinstance(answer, TimedOut):
        return f"no answer in {answer.limit_s:g} s"
    return answer.why.strip().splitlines()[-1]
