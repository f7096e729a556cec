"""Prove a candidate right before it is timed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from autotune.errors import InvalidInput
from autotune.records import Failure, Kernel, Policy, Problem, Status
from autotune.verify.case import Arrays, Case, draw_cases
from autotune.verify.compare import differing_elements, largest_error, wrong_elements
from autotune.verify.dtypes import encode
from autotune.verify.exam import Exam
from autotune.verify.guard import Guarded, poison
from autotune.verify.load import Load

READ_TOGETHER = 64  # comparisons: reading one back from a GPU takes as long as a launch


class Verifier:
    """Inputs, references and guarded outputs of one problem, paid once for all candidates.

    Args:
        kernel: Says what the operands are and what is right.
        problem: What is computed.
        policy: How many inputs and repeats, from which seed.
        xp: numpy or cupy.

    Raises:
        InvalidInput: The reference is not finite, is not what the kernel says it is, or would
            itself be wrong once it is rounded.
    """

    def __init__(self, kernel: Kernel, problem: Problem, policy: Policy, xp: Any) -> None:
        self._xp = xp
        self._policy = policy
        self._cases = draw_cases(kernel, problem, policy, xp)
        self._operands = [op for op in kernel.operands(problem) if op.output]
        self._outputs = {op.name: Guarded(op, xp) for op in self._operands}
        if policy.verify:
            self._rehearse(kernel, problem)

    @property
    def inputs(self) -> Arrays:
        """The random inputs, as stored: what timing runs on."""
        return self._cases[-1].inputs

    def intact(self) -> bool:
        """Return False if a candidate has written to an input or a reference."""
        return all(case.intact(self._xp) for case in self._cases)

    def check(self, run: Callable[[Arrays], None]) -> Failure | None:
        """Run a candidate on every case and say what is wrong with it, or None.

        Args:
            run: Launches once on arrays by operand name, and returns when they are written.
        """
        if not self._policy.verify:
            return None
        failure = self._first_failure(run)
        if not self.intact():  # then every other finding may be of its own making
            return Failure(status=Status.INCORRECT, message="it wrote to its inputs or beyond")
        return failure

    def poison(self, arrays: Arrays) -> None:
        """Fill the outputs among ``arrays``, which timing is about to use, with what is wrong."""
        if self._policy.verify:
            for operand in self._operands:
                poison(arrays[operand.name], operand)

    def confirm(self, run: Callable[[Arrays], None], timed: Arrays) -> Failure | None:
        """Say what is wrong with a candidate after it was timed, or None.

        One that stops to work after so many launches, or that works only while it is checked,
        is as fast as it likes.

        Args:
            run: Launches once on arrays by operand name, and returns when they are written.
            timed: Arrays with the random inputs that were poisoned before timing.
        """
        if not self._policy.verify:
            return None
        why = self._wrong(self._cases[-1], timed) or self._fault(self._cases[0], run)
        if not self.intact():
            why = "it wrote to its inputs or beyond"
        return Failure(status=Status.INCORRECT, message=f"as it was timed: {why}") if why else None

    def largest_error(self, run: Callable[[Arrays], None]) -> float:
        """Return the largest error on random inputs of a right candidate, as a share of its bound.

        Args:
            run: Launches once on arrays by operand name, and returns when they are written.
        """
        errors = [0.0]
        for case in self._cases:
            if case.tolerance is None or not case.finite:
                continue
            self._run_poisoned(case, run)
            for operand in self._operands:
                got, expected = self._outputs[operand.name].array, case.expected[operand.name]
                error = largest_error(got, expected, operand, tolerance=case.tolerance, xp=self._xp)
                errors.append(error)
        return max(errors)

    def _rehearse(self, kernel: Kernel, problem: Problem) -> None:
        """Check the rounded reference as if a candidate had written it.

        A tolerance that rejects it rejects every candidate. On a GPU this also compiles CuPy's
        own kernels, those that describe a fault too, so that no candidate's limit pays for them.
        """
        for case in self._cases:
            why = self._fault(case, partial(self._write_answer, case))
            if why is not None:
                raise InvalidInput(
                    f"kernel {kernel.name!r}: the tolerance of problem {problem} is narrower "
                    f"than the rounding of its outputs: {why}",
                    hint="widen Kernel.tolerance",
                )
            self._fault(case, _write_nothing)
        self._wavers(self._cases[-1], partial(self._write_answer, self._cases[-1]), 1)
        for output in self._outputs.values():
            output.overrun_by_hand()
            output.overrun()
        self.intact()

    def _write_answer(self, case: Case, arrays: Arrays) -> None:
        for operand in self._operands:
            answer = case.expected[operand.name]
            if case.tolerance is not None:
                answer = encode(answer, operand.dtype, self._xp)
            arrays[operand.name][...] = answer

    def _first_failure(self, run: Callable[[Arrays], None]) -> Failure | None:
        for case in self._cases:
            if (why := self._fault(case, run)) is not None:
                return Failure(status=Status.INCORRECT, message=why)
        why = self._wavers(self._cases[-1], run, self._policy.repeats)
        if why is None and isinstance(self._policy, Exam):
            why = self._wavers_in_the_long_run(self._cases[-1], run, self._policy)
        return Failure(status=Status.NONDETERMINISTIC, message=why) if why else None

    def _wavers_in_the_long_run(
        self, case: Case, run: Callable[[Arrays], None], exam: Exam
    ) -> str | None:
        with Load(self._xp):
            why = self._wavers(case, run, exam.loaded)
        if why is not None:
            return f"while the device was busy, {why}"
        return self._wavers(case, run, exam.launches, within_s=exam.patience_ms / 1e3)

    def _fault(self, case: Case, run: Callable[[Arrays], None]) -> str | None:
        self._run_poisoned(case, run)
        for output in self._outputs.values():
            if (why := output.overrun()) is not None:
                return f"{why} ({case.name} inputs)"
        return self._wrong(case, {name: output.array for name, output in self._outputs.items()})

    def _wrong(self, case: Case, arrays: Arrays) -> str | None:
        for operand in self._operands:
            why = wrong_elements(
                arrays[operand.name],
                case.expected[operand.name],
                operand,
                tolerance=case.tolerance,
                xp=self._xp,
                finite=case.finite,
            )
            if why is not None:
                return f"{why} ({case.name} inputs)"
        return None

    def _wavers(
        self,
        case: Case,
        run: Callable[[Arrays], None],
        repeats: int,
        *,
        within_s: float = math.inf,
    ) -> str | None:
        """Compare further runs on the inputs of the last run with it, bit for bit.

        A run counts as begun in time while the host has not waited for ``within_s``: comparisons
        are read back many at a time.
        """
        deadline = time.monotonic() + within_s
        first = {name: output.array.copy() for name, output in self._outputs.items()}
        counts: list[tuple[int, str, Any]] = []  # of elements that differ, by run and output
        for repeat in range(repeats):
            if time.monotonic() > deadline:
                break
            self._run_poisoned(case, run)
            counts += (
                (repeat + 2, name, differing_elements(output.array, first[name], xp=self._xp))
                for name, output in self._outputs.items()
            )
            if len(counts) >= READ_TOGETHER:
                if (why := self._differing(counts)) is not None:
                    return why
                counts.clear()
        return self._differing(counts)

    def _differing(self, counts: Sequence[tuple[int, str, Any]]) -> str | None:
        for run, name, count in counts:
            if count:
                return (
                    f"run {run} differs from run 1 on the same inputs in {int(count)} of "
                    f"{self._outputs[name].array.size} elements of {name}"
                )
        return None

    def _run_poisoned(self, case: Case, run: Callable[[Arrays], None]) -> None:
        for output in self._outputs.values():
            output.poison()
        run({**case.inputs, **{name: output.array for name, output in self._outputs.items()}})


def _write_nothing(arrays: Arrays) -> None:
    del arrays
