"""The bench: what a lane process does. Candidate code runs here and nowhere else."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from autotune.device.backend import Backend, Verdict
from autotune.device.energy import sample_energy_mj
from autotune.device.messages import Identify, Job, Measure, Refused, Reply
from autotune.device.peaks import impossible
from autotune.device.scratch import Scratched
from autotune.errors import AutotuneError
from autotune.records import (
    Cost,
    DeviceIdentity,
    Failure,
    Kernel,
    Launch,
    LibraryKernel,
    Measurement,
    Operand,
    Outcome,
    Problem,
    Status,
    ask,
    described,
    load_kernel,
)
from autotune.timing import Plan, Timing, is_cold, set_count, stop_above_ns, time_launches
from autotune.verify import Arrays, Verifier, stored_dtype

Answer = DeviceIdentity | Refused | Reply | None


def serve_bench(
    make_backend: Callable[..., Backend], *arguments: Any
) -> Callable[[Identify | Job | Measure], Answer]:
    """Return a lane's request handler; it refuses everything if there is no such device."""
    try:
        return _Bench(make_backend(*arguments)).answer
    except AutotuneError as error:
        refused = Refused(error.message, error.hint)
        return lambda _request: refused


class _Setup:
    """All that the candidates of one job share."""

    def __init__(self, job: Job, backend: Backend) -> None:
        self.job = job
        self.kernel: Kernel = load_kernel(job.kernel_ref)
        self.problem: Problem = self.kernel.problem_type(**job.problem)
        self.verifier = Verifier(self.kernel, self.problem, job.policy, backend.xp)
        self.cost = ask(self.kernel, "cost", self.problem, gives=Cost)
        self._backend = backend
        self._operands = self.kernel.operands(self.problem)
        self._set_bytes = sum(operand.size_bytes for operand in self._operands)
        self._l2_bytes = backend.identity.target.l2_bytes
        self._sets: list[Arrays] = []

    @property
    def sets(self) -> Sequence[Arrays]:
        """Copies of the operands to rotate over, so that none is left in the cache."""
        if not self._sets:
            count = set_count(self._set_bytes, self._l2_bytes, self.job.policy.cache)
            self._sets = [self._copy(self._operands) for _ in range(count)]
        return self._sets

    @property
    def cold(self) -> bool:
        """True if what a launch reads and writes is never in the cache."""
        return is_cold(self._set_bytes, len(self.sets), self._l2_bytes)

    def discard_sets(self) -> None:
        """Copy the operands anew for the next candidate: this one may have written to them."""
        self._sets = []

    def _copy(self, operands: Sequence[Operand]) -> Arrays:
        inputs = self.verifier.inputs
        xp = self._backend.xp
        return {
            op.name: xp.empty(op.shape, stored_dtype(op.dtype))
            if op.output
            else inputs[op.name].copy()
            for op in operands
        }


class _Bench:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._setup: _Setup | None = None

    def answer(self, request: Identify | Job | Measure) -> Answer:
        match request:
            case Identify():
                return self._backend.identity
            case Job():
                return self._prepare(request)
            case Measure():
                return self._measure(request)

    def _prepare(self, job: Job) -> Refused | Reply | None:
        if self._setup is not None and self._setup.job == job:
            return None
        self._forget()
        try:
            self._setup = _Setup(job, self._backend)
        except AutotuneError as error:
            return Refused(error.message, error.hint)
        except Exception as error:  # noqa: BLE001 - a user's kernel may raise anything
            verdict = self._backend.judge(error)
            return _reply(verdict) if verdict else _refused(job, error)
        return None

    def _measure(self, request: Measure) -> Reply:
        assert self._setup is not None
        try:
            outcome = self._verify_and_time(self._setup, request)
        except AutotuneError as error:  # this candidate asks for what cannot be launched
            failure = Failure(status=Status.RUNTIME_ERROR, message=error.message)
            return Reply(outcome=Outcome.of(failure))
        except Exception as error:
            verdict = self._backend.judge(error)
            if verdict is None:
                raise
            return _reply(verdict)
        if outcome.status is Status.INCORRECT and not self._setup.verifier.intact():
            self._forget()  # it wrote where the next candidate's inputs are
        return Reply(outcome=outcome)

    def _verify_and_time(self, setup: _Setup, request: Measure) -> Outcome:
        launch = setup.kernel.launch(setup.problem, request.config, setup.job.target)
        if launch.empty:
            return Outcome(status=Status.BAD_MEASUREMENT, message="an empty grid: nothing to time")
        program = self._program(setup, request, launch)
        failure = setup.verifier.check(program.run) or program.overrun()
        if failure is not None:
            return Outcome.of(failure)
        timing = self._time(setup, program, request.best_ns)
        if isinstance(timing, Failure):
            return Outcome.of(timing)
        measurement = self._measurement(timing)
        if timing.stopped:
            above_ns = stop_above_ns(setup.job.policy, request.best_ns)
            return Outcome.stopped(measurement, above_ns)
        return self._judged(setup, self._beyond_time(setup, program, measurement))

    def _beyond_time(
        self, setup: _Setup, program: Scratched, measurement: Measurement
    ) -> Measurement:
        """Return a measurement with what goals besides time ask for."""
        policy = setup.job.policy
        if policy.energy_ms:
            energy_mj = self._energy_mj(setup, program, measurement)
            measurement = dataclasses.replace(measurement, energy_mj=energy_mj)
        if policy.error:
            error = setup.verifier.largest_error(program.run)
            measurement = dataclasses.replace(measurement, error=error)
        return measurement

    def _energy_mj(
        self, setup: _Setup, program: Scratched, measurement: Measurement
    ) -> float | None:
        """Return the energy of one launch, in mJ."""
        launches = measurement.launches_per_sample
        stopwatch = program.stopwatch(setup.sets)
        stopwatch.load(Plan(launches=launches, graph=launches > 1))
        energy_mj = sample_energy_mj(
            self._backend.energy_mj,
            stopwatch,
            each_ns=measurement.median_ns * launches,
            window_ms=setup.job.policy.energy_ms,
        )
        return None if energy_mj is None else energy_mj / launches

    def _measurement(self, timing: Timing) -> Measurement:
        now = self._backend.telemetry()
        return Measurement(
            samples_ns=timing.samples_ns,
            launches_per_sample=timing.launches_per_sample,
            sm_clock_mhz=now.sm_clock_mhz,
            power_w=now.power_w,
            temperature_c=now.temperature_c,
        )

    def _judged(self, setup: _Setup, measurement: Measurement) -> Outcome:
        peaks = self._backend.peaks
        why = impossible(measurement.median_ns, setup.cost, peaks, cold=setup.cold)
        if why is not None:
            return Outcome(status=Status.BAD_MEASUREMENT, message=why)
        return Outcome(status=Status.OK, measurement=measurement)

    def _program(self, setup: _Setup, request: Measure, launch: Launch) -> Scratched:
        backend, kernel = self._backend, setup.kernel
        if not isinstance(kernel, LibraryKernel):
            return Scratched(backend.program(request.binary, launch), launch, backend.xp)
        routine = kernel.routine(setup.problem, request.config, setup.job.target)
        return Scratched(backend.call(routine), launch, backend.xp)

    def _time(self, setup: _Setup, program: Scratched, best_ns: float | None) -> Timing | Failure:
        first = setup.sets[0]
        setup.verifier.poison(first)
        stopwatch = program.stopwatch(setup.sets)
        count = len(setup.sets)
        self._backend.rest()
        timing = time_launches(stopwatch, setup.job.policy, sets=count, best_ns=best_ns)
        if isinstance(timing, Failure):
            return timing
        failure = setup.verifier.confirm(program.run, first) or program.overrun()
        if failure is not None:
            setup.discard_sets()
        return failure or timing

    def _forget(self) -> None:
        self._setup = None
        self._backend.release()


def _reply(verdict: Verdict) -> Reply:
    return Reply(outcome=Outcome.of(verdict.failure), poisoned=verdict.poisoned)


def _refused(job: Job, error: Exception) -> Refused:
    problem = ",".join(f"{name}={value}" for name, value in job.problem.items())
    return Refused(
        f"kernel {job.kernel_ref!r}: no inputs or reference for {problem}: {described(error)}"
    )
