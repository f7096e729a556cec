"""A GEMM source with one fault, the product that should show it, and how both are measured."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune.records import Config, Launch, Operand, SourceUnit, TensorMap, Tolerance, Value
from kernel_space import gemm
from kernel_space.gemm import Gemm, GemmProblem, ampere, hopper

KERNEL_SPACE = Path(gemm.__file__).parents[1]
SOURCES = ("gemm", "ptx")

Edits = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The CUDA sources with a few texts changed.

    Attributes:
        file: The source to change, below ``kernel_space``, or a pattern of several.
        edits: Texts that stand there once, each with what takes its place.
    """

    file: str
    edits: Edits

    def places(self) -> list[int]:
        """Return how often each text that is edited stands in today's source."""
        sources = [path.read_text() for path in KERNEL_SPACE.glob(self.file)]
        return [sum(source.count(old) for source in sources) for old, _ in self.edits]

    def write(self, folder: Path) -> Path:
        """Copy the sources to ``folder``, make the edits there, and return it."""
        copy_sources(folder)
        for source in folder.glob(self.file):
            text = source.read_text()
            for old, new in self.edits:
                text = text.replace(old, new)
            source.write_text(text)
        return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant(Variant):
    """One fault.

    Attributes:
        name: What is wrong.
        problem: What is computed to show it.
        knobs: Parameters that differ from the default of their family.
        chained: True if it takes a second launch, which reads what the first wrote.
        seen: False if verification may well find nothing.
    """

    name: str
    problem: GemmProblem
    knobs: Mapping[str, Value]
    chained: bool = False
    seen: bool = True

    @property
    def config(self) -> Config:
        """The config that shows it."""
        mechanism = self.knobs.get("mechanism")
        family = ampere if mechanism in ampere.MECHANISMS else hopper
        return family.default(self.problem).replace(**self.knobs)

    @property
    def kernel_ref(self) -> str:
        """How a lane loads the kernel that launches it."""
        return f"{Path(__file__).resolve()}:Chained" if self.chained else "gemm"


def copy_sources(folder: Path) -> Path:
    """Copy every CUDA source of the kernel to ``folder``, and return it."""
    for name in SOURCES:
        ignored = shutil.ignore_patterns("*.py", "__pycache__")
        shutil.copytree(KERNEL_SPACE / name, folder / name, ignore=ignored)
    return folder


def changed(old: str, new: str) -> Edits:
    """Return the edit that puts ``new`` in the place of ``old``."""
    return ((old, new),)


def dropped(statement: str, before: str = "") -> Edits:
    """Return the edit that leaves out a statement; what stands ``before`` the next one stays."""
    return ((statement + before, before),)


class Elsewhere(Gemm):
    """The kernel with its CUDA sources in another folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def unit(self, problem: Any, config: Config, target: Any) -> SourceUnit:
        unit = super().unit(problem, config, target)
        main = self._folder / unit.main.relative_to(KERNEL_SPACE)
        return dataclasses.replace(unit, main=main, include_dirs=(main.parent, self._folder))


class Chained(Gemm):
    """C = (A·B)·B for squares: the second launch reads what the first has written."""

    name = "chained_gemm"

    def launch(self, problem: Any, config: Config, target: Any) -> Launch:
        launch = super().launch(problem, config, target)
        a, _, c = problem.operands
        between = dataclasses.replace(a, name="between")
        first = _renamed(launch, c, between)
        second = _renamed(launch, a, between)
        return dataclasses.replace(second, before=(first,), scratch=(between,))

    def reference(self, problem: Any, inputs: Mapping[str, Any], xp: Any) -> dict[str, Any]:
        between = super().reference(problem, inputs, xp)["c"]
        return super().reference(problem, {**inputs, "a": between}, xp)

    def tolerance(self, problem: Any) -> Tolerance:
        """Allow for the rounding of what is between: NaN is there before it is written."""
        return Tolerance(relative=2.0**-6, absolute=2.0**-7 * problem.k, exact_integers=False)


def _renamed(launch: Launch, old: Operand, new: Operand) -> Launch:
    """Return ``launch`` with one array in the place of another of its shape and dtype."""
    arguments = []
    for each in launch.arguments:
        if isinstance(each, TensorMap) and each.operand == old:
            arguments.append(dataclasses.replace(each, operand=new))
        else:
            arguments.append(new.name if each == old.name else each)
    return dataclasses.replace(launch, arguments=tuple(arguments))
