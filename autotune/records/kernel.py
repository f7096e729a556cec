"""A kernel: a thing that can be tuned. This is the one class that users write."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from autotune.errors import InvalidInput
from autotune.records.asking import ask
from autotune.records.config import Config
from autotune.records.device import Target
from autotune.records.launch import Launch, Operand
from autotune.records.problem import Problem
from autotune.records.rung import Rung

if TYPE_CHECKING:
    from autotune.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceUnit:
    """What a compiler is given.

    Attributes:
        language: ``cuda`` or ``c++``.
        main: The source file.
        header: Text of a generated header of ``constexpr`` values.
        header_name: The name by which ``main`` includes that header.
        entry: The ``extern "C"`` symbol to launch.
        include_dirs: Folders searched for further headers.
        options: Further compiler options.
    """

    language: str
    main: Path
    header: str
    header_name: str = "config.h"
    entry: str
    include_dirs: tuple[Path, ...] = ()
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no compiler could be given."""
        for path in (self.main, *self.include_dirs):
            if not isinstance(path, Path):
                raise TypeError(f"a source unit names files by pathlib.Path, not {path!r}")
        for word in (self.language, self.header_name, self.entry, *self.options):
            if not (isinstance(word, str) and word.isprintable()):
                raise TypeError(f"a source unit is made of printable text, not {word!r}")
        self.header.encode()  # raises where it is not Unicode


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How far an output may lie from the reference: ``absolute + relative * |reference|``.

    Attributes:
        relative: Bound relative to each reference element.
        absolute: Bound for each element for inputs that are drawn as the operands say.
        reference_dtype: ``fp32`` or ``fp64``: what the reference is computed in.
        exact_integers: True if inputs that are small integers must give the rounded exact
            result, as sums of products do. False for a kernel that divides or exponentiates.
        passes_nonfinite: True if NaN and infinities among the inputs come out where the reference
            has them, as in sums of products. False for a kernel that clamps with ``fmaxf``, say.
    """

    relative: float
    absolute: float
    reference_dtype: str = "fp64"
    exact_integers: bool = True
    passes_nonfinite: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The least work that a problem needs: FLOP and bytes to and from device memory."""

    flop: int
    bytes: int

    def __post_init__(self) -> None:
        """Refuse what no work could be."""
        if not (0 <= self.flop < math.inf and 0 <= self.bytes < math.inf):
            raise ValueError(f"a cost is made of finite numbers from 0, not {self}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """When a config may serve another problem, as data that a lookup can check.

    Attributes:
        field: A problem field.
        multiple_of: The field must be divisible by this.
        at_least: Smallest value allowed, or None.
        at_most: Largest value allowed, or None.
    """

    field: str
    multiple_of: int = 1
    at_least: int | None = None
    at_most: int | None = None


class Kernel(ABC):
    """Base of everything that can be tuned.

    A subclass names itself and its problem type and answers the questions below. It holds no
    state: the lane process that runs its code builds its own instance.

    Attributes:
        name: Short name, unique among installed kernels.
        problem_type: The frozen record that says what is computed.
        language: ``cuda`` or ``c++``: which devices can run it. ``library`` for a call of one.
        scaled_fields: Integer problem fields on which "nearest" is measured; every other field
            must match exactly.
        peer: Name of an installed kernel that computes the same by other means, as a library
            does; it is what a ladder is measured against. Empty for none.
    """

    name: ClassVar[str]
    problem_type: ClassVar[type[Problem]]
    language: ClassVar[str] = "cuda"
    scaled_fields: ClassVar[tuple[str, ...]] = ()
    peer: ClassVar[str] = ""

    @abstractmethod
    def space(self, problem: Any, target: Target) -> Space:
        """Return the parameters and the named constraints for ``problem`` on ``target``."""

    @abstractmethod
    def default(self, problem: Any, target: Target) -> Config:
        """Return a config that is valid for ``problem`` on ``target`` without tuning."""

    @abstractmethod
    def unit(self, problem: Any, config: Config, target: Target) -> SourceUnit:
        """Return what to compile. Equal units share one binary across problems."""

    @abstractmethod
    def launch(self, problem: Any, config: Config, target: Target) -> Launch:
        """Return grid, block, dynamic shared memory and arguments."""

    @abstractmethod
    def operands(self, problem: Any) -> tuple[Operand, ...]:
        """Return every array that the kernel reads or writes."""

    @abstractmethod
    def reference(self, problem: Any, inputs: Mapping[str, Any], xp: Any) -> dict[str, Any]:
        """Compute every output, by name, from ``inputs`` in the reference dtype.

        ``xp`` is numpy or cupy; ``inputs`` are its arrays, shaped as in ``operands``.
        """

    @abstractmethod
    def tolerance(self, problem: Any) -> Tolerance:
        """Return how far an output may lie from the reference."""

    @abstractmethod
    def cost(self, problem: Any) -> Cost:
        """Return the least FLOP and bytes that ``problem`` needs."""

    def estimate(self, problem: Any, config: Config, target: Target) -> float | None:
        """Predict the time of ``config`` on ``target`` in ns, or return None without a model.

        Nothing is built or measured. A search tries first what promises to be fast: what counts
        is the order of the predictions.
        """
        del problem, config, target
        return None

    def estimates(
        self, problem: Any, configs: Iterable[Config], target: Target
    ) -> dict[Config, float]:
        """Return the estimate of each config that has a finite one, in ns."""
        asked = ((config, self.estimate(problem, config, target)) for config in configs)
        return {config: ns for config, ns in asked if ns is not None and math.isfinite(ns)}

    def conditions(self, problem: Any, config: Config) -> tuple[Condition, ...]:
        """Return when ``config`` may also serve other problems (none: any problem)."""
        del problem, config
        return ()

    def ladder(self, problem: Any, target: Target) -> tuple[Rung, ...]:
        """Return the ways to compute, each a small step from the one before (none: no ladder)."""
        del problem, target
        return ()

    def shown(self, config: Config) -> tuple[str, ...]:
        """Return the parameters of ``config`` that people see, in order; scripts get them all.

        Leave out those in which the others leave no choice, and those that are switched off.
        """
        return tuple(config)


@dataclass(frozen=True, slots=True)
class Candidate:
    """What is compiled and measured: a kernel, a problem, a config and a target.

    Attributes:
        kernel_ref: How a process loads the kernel (see ``autotune.records.load_kernel``).
        kernel: The loaded kernel; not compared.
    """

    kernel_ref: str
    problem: Problem
    config: Config
    target: Target
    kernel: Kernel = field(compare=False, repr=False)

    def unit(self) -> SourceUnit:
        """Return what to compile.

        Raises:
            InvalidInput: The kernel's code raised.
        """
        asked = self.problem, self.config, self.target
        return ask(self.kernel, "unit", *asked, gives=SourceUnit)

    def launch(self) -> Launch:
        """Return how to start it.

        Raises:
            InvalidInput: The kernel's code raised, or an argument names no array.
        """
        asked = self.problem, self.config, self.target
        launch = ask(self.kernel, "launch", *asked, gives=Launch)
        operands = ask(self.kernel, "operands", self.problem, gives=tuple)
        if not all(isinstance(operand, Operand) for operand in operands):
            raise InvalidInput(f"kernel {self.kernel.name!r}: operands() gives {operands!r:.60}")
        reason = launch.misnamed(operands)
        if reason is not None:
            raise InvalidInput(
                f"kernel {self.kernel.name!r}: launch() for {self.problem}: {reason}"
            )
        return launch
