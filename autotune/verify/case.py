"""A case: inputs, and what every output must be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from autotune.errors import InvalidInput
from autotune.records import Kernel, Operand, Policy, Problem, Tolerance
from autotune.verify.compare import fingerprint, not_finite
from autotune.verify.draw import INTEGER_BOUND, draw
from autotune.verify.dtypes import decode, encode

EXACT_BELOW = 1 << 24  # integers up to here are exact in an fp32 accumulator

Arrays = Mapping[str, Any]
_NUMPY = {"fp32": "float32", "fp64": "float64"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One set of inputs with its answer.

    Attributes:
        name: ``integers`` or ``random 0``, for messages.
        inputs: Input arrays by operand name, as stored.
        expected: Outputs by name: values in the reference dtype, or, where ``tolerance`` is
            None, rounded and as stored. Empty if nothing is verified.
        tolerance: How far an output may lie off, or None if it must be equal.
        fingerprint: Of every array above: a candidate that changes it wrote astray.
    """

    name: str
    inputs: Arrays
    expected: Arrays
    tolerance: Tolerance | None
    fingerprint: int

    def intact(self, xp: Any) -> bool:
        """Return False if anything has written to the inputs or the reference."""
        return self.fingerprint == _fingerprint(self.inputs, self.expected, xp)


def draw_cases(kernel: Kernel, problem: Problem, policy: Policy, xp: Any) -> tuple[Case, ...]:
    """Draw the inputs that ``policy`` asks for and compute their references.

    The last case is random; timing reuses its inputs. Without ``policy.verify`` there is only
    that one, and it has no reference.

    Raises:
        InvalidInput: The reference has a NaN or an infinity, or lacks an output.
    """
    return tuple(_draw_cases(kernel, problem, policy, xp))


def _draw_cases(kernel: Kernel, problem: Problem, policy: Policy, xp: Any) -> Iterator[Case]:
    if not policy.verify:
        yield _case("random 0", kernel, problem, None, seed=policy.seed, xp=xp, answered=False)
        return
    tolerance = kernel.tolerance(problem)
    if tolerance.exact_integers and _stays_exact(kernel, problem):
        yield _case("integers", kernel, problem, None, seed=policy.seed, xp=xp)
    for index in reversed(range(max(1, policy.draws))):
        yield _case(f"random {index}", kernel, problem, tolerance, seed=policy.seed, xp=xp)


def _stays_exact(kernel: Kernel, problem: Problem) -> bool:
    """Return True if every partial sum of integer products fits an fp32 accumulator."""
    outputs = sum(math.prod(op.shape) for op in kernel.operands(problem) if op.output)
    products = kernel.cost(problem).flop / (2 * max(1, outputs))
    return products * INTEGER_BOUND**2 < EXACT_BELOW


def _case(
    name: str,
    kernel: Kernel,
    problem: Problem,
    tolerance: Tolerance | None,
    *,
    seed: int,
    xp: Any,
    answered: bool = True,
) -> Case:
    operands = kernel.operands(problem)
    inputs = {
        op.name: draw(op, seed=f"{seed}/{name}", integers=name == "integers", xp=xp)
        for op in operands
        if not op.output
    }
    expected = {}
    if answered:
        values = _reference(kernel, problem, inputs, xp)
        for op in (op for op in operands if op.output):
            expected[op.name] = _answer(values, op, kernel=kernel, problem=problem, xp=xp)
            if tolerance is None:
                expected[op.name] = encode(expected[op.name], op.dtype, xp)
    return Case(
        name=name,
        inputs=inputs,
        expected=expected,
        tolerance=tolerance,
        fingerprint=_fingerprint(inputs, expected, xp),
    )


def _reference(kernel: Kernel, problem: Problem, inputs: Arrays, xp: Any) -> Arrays:
    wide = _NUMPY[kernel.tolerance(problem).reference_dtype]
    operands = {op.name: op for op in kernel.operands(problem)}
    decoded = {name: decode(array, operands[name].dtype, wide) for name, array in inputs.items()}
    return kernel.reference(problem, decoded, xp)


def _answer(values: Arrays, operand: Operand, *, kernel: Kernel, problem: Problem, xp: Any) -> Any:
    where = f"kernel {kernel.name!r}: the reference of problem {problem}"
    if operand.name not in values:
        raise InvalidInput(f"{where} has no output {operand.name!r}, only {', '.join(values)}")
    answer = values[operand.name]
    if answer.shape != operand.shape:
        raise InvalidInput(
            f"{where} gives {operand.name!r} the shape {answer.shape}, not {operand.shape}"
        )
    if bad := not_finite(answer, xp=xp):
        raise InvalidInput(
            f"{where} is NaN or infinite in {bad} of {answer.size} elements of {operand.name!r}",
            hint="nothing can be verified against it: repair Kernel.reference",
        )
    return answer


def _fingerprint(inputs: Arrays, expected: Arrays, xp: Any) -> int:
    arrays = [*inputs.values(), *expected.values()]
    return hash(tuple(fingerprint(array, xp=xp) for array in arrays))
