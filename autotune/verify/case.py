"""A case: inputs, and what every output must be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from autotune.errors import InvalidInput
from autotune.records import Kernel, Operand, Policy, Problem, Tolerance
from autotune.verify.compare import fingerprint, not_finite
from autotune.verify.draw import INTEGER_BOUND, draw
from autotune.verify.dtypes import decode, encode
from autotune.verify.exam import Exam
from autotune.verify.nonfinite import Spot, as_stored, meaningful, spots

EXACT_BELOW = 1 << 24  # integers up to here are exact in an fp32 accumulator

Arrays = Mapping[str, Any]
_NUMPY = {"fp32": "float32", "fp64": "float64"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One set of inputs with its answer.

    Attributes:
        name: ``integers``, ``random 0`` or where what is not finite, for messages.
        inputs: Input arrays by operand name, as stored.
        expected: Outputs by name: values in the reference dtype, or, where ``tolerance`` is
            None, rounded and as stored. Empty if nothing is verified.
        tolerance: How far an output may lie off, or None if it must be equal.
        fingerprint: Of every array above: a candidate that changes it wrote astray.
        finite: False if inputs and answer hold NaN or infinities.
    """

    name: str
    inputs: Arrays
    expected: Arrays
    tolerance: Tolerance | None
    fingerprint: int
    finite: bool = True

    def intact(self, xp: Any) -> bool:
        """Return False if anything has written to the inputs or the reference."""
        return self.fingerprint == _fingerprint(self.inputs, self.expected, xp)


def draw_cases(kernel: Kernel, problem: Problem, policy: Policy, xp: Any) -> tuple[Case, ...]:
    """Draw the inputs that ``policy`` asks for and compute their references.

    The last case is random; timing reuses its inputs. Without ``policy.verify`` there is only
    that one, and it has no reference.

    Raises:
        InvalidInput: The reference has a NaN or an infinity that no input has, or lacks an output.
    """
    return tuple(_draw_cases(_Asked(kernel, problem, policy.seed, xp), policy))


class _Asked:
    """One problem of a kernel, whose inputs are drawn and answered."""

    def __init__(self, kernel: Kernel, problem: Problem, seed: int, xp: Any) -> None:
        self.operands = kernel.operands(problem)
        self._kernel, self._problem = kernel, problem
        self._seed, self._xp = seed, xp

    @cached_property
    def tolerance(self) -> Tolerance:
        """How far an answer may lie off; nobody asks if nothing is verified."""
        return self._kernel.tolerance(self._problem)

    @property
    def stays_exact(self) -> bool:
        """True if every partial sum of integer products fits an fp32 accumulator."""
        outputs = sum(math.prod(op.shape) for op in self.operands if op.output)
        products = self._kernel.cost(self._problem).flop / (2 * max(1, outputs))
        return products * INTEGER_BOUND**2 < EXACT_BELOW

    def integers(self) -> Case:
        """Return whole numbers, whose answer has to be met exactly."""
        inputs = self._drawn("integers", integers=True)
        answer = self._answer(inputs)
        stored = {
            op.name: encode(answer[op.name], op.dtype, self._xp)
            for op in self.operands
            if op.output
        }
        return self._case("integers", inputs, stored, tolerance=None)

    def random(self, index: int) -> Case:
        """Return random inputs with an answer."""
        inputs = self._drawn(f"random {index}")
        return self._case(f"random {index}", inputs, self._answer(inputs), tolerance=self.tolerance)

    def unanswered(self) -> Case:
        """Return random inputs that nothing is compared on."""
        return self._case("random 0", self._drawn("random 0"), {}, tolerance=None)

    def spoilt(self, spot: Spot) -> Case:
        """Return random inputs of which some are not finite."""
        inputs, xp = self._drawn(spot.name), self._xp
        for op in self.operands:
            if not op.output:
                spot.put(inputs[op.name], op, seed=f"{self._seed}/{spot.name}", xp=xp)
        answer = self._answer(inputs, finite=False)
        stored = {
            op.name: as_stored(answer[op.name], op, xp=xp) for op in self.operands if op.output
        }
        return self._case(spot.name, inputs, stored, tolerance=self.tolerance, finite=False)

    def _drawn(self, name: str, *, integers: bool = False) -> dict[str, Any]:
        seed = f"{self._seed}/{name}"
        return {
            op.name: draw(op, seed=seed, integers=integers, xp=self._xp)
            for op in self.operands
            if not op.output
        }

    def _answer(self, inputs: Arrays, *, finite: bool = True) -> Arrays:
        wide = _NUMPY[self.tolerance.reference_dtype]
        operands = {op.name: op for op in self.operands}
        decoded = {name: decode(each, operands[name].dtype, wide) for name, each in inputs.items()}
        with nullcontext() if finite else np.errstate(all="ignore"):
            values = self._kernel.reference(self._problem, decoded, self._xp)
        return {
            op.name: self._checked(values, op, finite=finite) for op in self.operands if op.output
        }

    def _checked(self, values: Arrays, operand: Operand, *, finite: bool) -> Any:
        where = f"kernel {self._kernel.name!r}: the reference of problem {self._problem}"
        if operand.name not in values:
            raise InvalidInput(f"{where} has no output {operand.name!r}, only {', '.join(values)}")
        answer = values[operand.name]
        if answer.shape != operand.shape:
            raise InvalidInput(
                f"{where} gives {operand.name!r} the shape {answer.shape}, not {operand.shape}"
            )
        bad = not_finite(answer, xp=self._xp) if finite else 0
        if bad:
            raise InvalidInput(
                f"{where} is NaN or infinite in {bad} of {answer.size} elements of "
                f"{operand.name!r}",
                hint="nothing can be verified against it: repair Kernel.reference",
            )
        return answer

    def _case(
        self,
        name: str,
        inputs: Arrays,
        expected: Arrays,
        *,
        tolerance: Tolerance | None,
        finite: bool = True,
    ) -> Case:
        return Case(
            name=name,
            inputs=inputs,
            expected=expected,
            tolerance=tolerance,
            fingerprint=_fingerprint(inputs, expected, self._xp),
            finite=finite,
        )


def _draw_cases(asked: _Asked, policy: Policy) -> Iterator[Case]:
    if not policy.verify:
        yield asked.unanswered()
        return
    if asked.tolerance.exact_integers and asked.stays_exact:
        yield asked.integers()
    if isinstance(policy, Exam) and asked.tolerance.passes_nonfinite and meaningful(asked.operands):
        yield from map(asked.spoilt, spots(policy.nonfinite))
    yield from map(asked.random, reversed(range(max(1, policy.draws))))


def _fingerprint(inputs: Arrays, expected: Arrays, xp: Any) -> int:
    arrays = [*inputs.values(), *expected.values()]
    return hash(tuple(fingerprint(array, xp=xp) for array in arrays))
