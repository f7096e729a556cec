"""Compile in several processes at once, each compile within a time limit."""

from __future__ import annotations

import contextlib
import os
import queue
import re
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from autotune.errors import InvalidInput, ToolchainBroken
from autotune.process import Died, TimedOut, Worker
from autotune.records import Binary, Failure, SourceUnit, Status, digest
from autotune.toolchain.build import Timed, build, refused, timed_compile
from autotune.toolchain.compiler import MESSAGE_CHARS, Compiler
from autotune.toolchain.machine import temporary_folder
from autotune.toolchain.recipe import Recipe
from autotune.toolchain.store import BinaryStore

CLOSE_S = 4.0
_POLL_S = 0.02
_KILLED = re.compile(
    "Killed signal terminated program|unable to execute command: Killed|ended by signal 9 "
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    key: str
    recipe: Recipe
    future: Future[Binary | Failure]


class CompilePool:
    """Compiles units in worker processes; one that hangs or crashes harms no other.

    Args:
        compiler: What compiles.
        store: Where binaries are looked for and put.
        arch: What is compiled for.
        limit_s: Time for one compile, in seconds. Waiting for a free process, and its start,
            do not count.
        workers: Number of processes; None means one for each processor that may be used.
    """

    def __init__(
        self,
        compiler: Compiler,
        store: BinaryStore,
        *,
        arch: str,
        limit_s: float,
        workers: int | None = None,
    ) -> None:
        self._compiler, self._store = compiler, store
        self._arch, self._limit_s = arch, limit_s
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._in_flight: dict[str, Future[Binary | Failure]] = {}
        self._lock = threading.Lock()
        self._closing = False
        # Compilers that are killed leave temporary files: they lie here, and go at the end.
        self._scratch = temporary_folder()
        count = workers if workers is not None else usable_cpus()
        self._workers = [
            Worker(serve_compiles, compiler, arch, self._scratch.name) for _ in range(count)
        ]
        self._threads = [
            threading.Thread(target=self._drive, args=(worker,), daemon=True)
            for worker in self._workers
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, unit: SourceUnit) -> Future[Binary | Failure]:
        """Start to compile ``unit``, or find its binary at once.

        Equal units that are under way share one future. A future that is cut short by
        ``close`` raises ``CancelledError``; it raises ``ToolchainBroken`` only if the store
        cannot be written or no compiler could work on this machine.

        Raises:
            ToolchainBroken: There is no compiler.
        """
        recipe = Recipe(compiler=self._compiler, unit=unit, arch=self._arch)
        try:
            key = digest(recipe.ingredients())
        except (InvalidInput, OSError) as error:
            return _done(refused(error))
        with self._lock:
            under_way = self._in_flight.get(key)
            if under_way is not None and not under_way.cancelled():
                return under_way
            stored = self._store.find(key)
            return _done(stored) if stored is not None else self._enqueue(key, recipe)

    def close(self) -> None:
        """End every process, also in the middle of a compile, and cancel what was pending."""
        with self._lock:
            self._closing = True
        for _ in self._threads:
            self._jobs.put(None)
        for _ in range(round(CLOSE_S / _POLL_S)):  # no deadline: this process may be held up
            if not any(thread.is_alive() for thread in self._threads):
                break
            for worker in self._workers:
                worker.interrupt()
            time.sleep(_POLL_S)
        self._scratch.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _enqueue(self, key: str, recipe: Recipe) -> Future[Binary | Failure]:
        future: Future[Binary | Failure] = Future()
        if self._closing:
            _cancel(future)
            return future
        self._in_flight[key] = future
        self._jobs.put(_Job(key=key, recipe=recipe, future=future))
        return future

    def _drive(self, worker: Worker) -> None:
        """Serve the queue with one worker process until the pool closes."""
        try:
            while (job := self._jobs.get()) is not None:
                if self._closing:
                    _cancel(job.future)
                elif job.future.set_running_or_notify_cancel():
                    self._finish(job.future, worker, job.recipe)
                with self._lock:
                    if self._in_flight.get(job.key) is job.future:  # or it was asked for again
                        del self._in_flight[job.key]
        finally:
            worker.close()

    def _finish(self, future: Future[Binary | Failure], worker: Worker, recipe: Recipe) -> None:
        try:
            outcome = build(recipe, self._store, lambda: self._compile(worker, recipe.unit))
        except BaseException as error:  # noqa: BLE001  # whoever waits must hear of it
            future.set_exception(error)
            return
        if self._closing and isinstance(outcome, Failure):  # it failed because it was killed
            future.set_exception(CancelledError())
        else:
            future.set_result(outcome)

    def _compile(self, worker: Worker, unit: SourceUnit) -> Timed:
        answer: Timed | TimedOut | Died = worker.call(unit, self._limit_s)
        if _was_killed(answer) and not self._closing:  # by another hand, or for want of memory
            answer = worker.call(unit, self._limit_s)
        if isinstance(answer, TimedOut):
            message = f"the compiler did not finish within {answer.limit_s:g} s"
            return _failed(Status.COMPILE_TIMEOUT, message)
        if isinstance(answer, Died):
            message = f"the compiler took its process with it: {answer.why}"
            return _failed(Status.COMPILE_ERROR, message[:MESSAGE_CHARS])
        assert isinstance(answer, Timed)
        return answer


def usable_cpus() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this platform
        return os.cpu_count() or 1


def serve_compiles(compiler: Compiler, arch: str, scratch: str) -> Callable[[SourceUnit], Any]:
    """Return what a worker process answers requests with, once the compiler is loaded."""
    tempfile.tempdir = os.environ["TMPDIR"] = scratch
    with contextlib.suppress(ToolchainBroken):  # every compile will say so
        _ = compiler.toolchain  # loads it, so that no candidate's time limit pays for that
    return lambda unit: timed_compile(compiler, unit, arch)


def _was_killed(answer: Timed | TimedOut | Died) -> bool:
    if isinstance(answer, Timed) and isinstance(answer.outcome, Failure):
        return _KILLED.search(answer.outcome.message) is not None
    return isinstance(answer, Died)


def _failed(status: Status, message: str) -> Timed:
    return Timed(outcome=Failure(status=status, message=message), compile_ns=0)


def _cancel(future: Future[Binary | Failure]) -> None:
    future.cancel()
    future.set_running_or_notify_cancel()  # else ``concurrent.futures.wait`` never hears of it


def _done(outcome: Binary | Failure) -> Future[Binary | Failure]:
    future: Future[Binary | Failure] = Future()
    future.set_result(outcome)
    return future
