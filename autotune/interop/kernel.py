"""Kernels that exist in a result database alone: their space is known, their source is not."""

from __future__ import annotations

import dataclasses
import keyword
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from autotune.errors import InvalidInput
from autotune.interop.importing import IMPORTED
from autotune.interop.values import Codec, completed
from autotune.records import (
    Config,
    Cost,
    Kernel,
    Launch,
    Operand,
    Problem,
    SourceUnit,
    Target,
    Tolerance,
)
from autotune.space import Parameter, Space
from autotune.store import Store, StudySummary

LANGUAGE = "recorded"


class RecordedKernel(Kernel):
    """Base of what another tuner measured. A recording answers for it; nothing can build it.

    Attributes:
        home: The database that it is in.
        parameters: Its space, without the restrictions, which its tuner kept for itself: a
            recording offers only the configs that it has.
        first: Config to start with.
    """

    language: ClassVar[str] = LANGUAGE
    home: ClassVar[Path]
    parameters: ClassVar[tuple[Parameter, ...]]
    first: ClassVar[Config]

    def space(self, problem: Problem, target: Target) -> Space:
        """Return every combination of the values that its tuner listed."""
        del problem, target
        return Space(self.parameters)

    def default(self, problem: Problem, target: Target) -> Config:
        """Return the first config that was right."""
        del problem, target
        return self.first

    def unit(self, problem: Problem, config: Config, target: Target) -> SourceUnit:
        """Return the database in place of a source."""
        del problem, config, target
        return SourceUnit(language=LANGUAGE, main=self.home, header="", entry=self.name)

    def launch(self, problem: Problem, config: Config, target: Target) -> Launch:
        """Return a launch of one thread: how it was started is not known."""
        del problem, config, target
        return Launch(grid=(1, 1, 1), block=(1, 1, 1), shared_bytes=0, arguments=())

    def operands(self, problem: Problem) -> tuple[Operand, ...]:
        """Return no array: none is known."""
        del problem
        return ()

    def reference(self, problem: Problem, inputs: Mapping[str, Any], xp: Any) -> dict[str, Any]:
        """Return no output: none is known."""
        del problem, inputs, xp
        return {}

    def tolerance(self, problem: Problem) -> Tolerance:
        """Return none: nothing is compared."""
        del problem
        return Tolerance(relative=0.0, absolute=0.0)

    def cost(self, problem: Problem) -> Cost:
        """Return no work: how much there is is not known."""
        del problem
        return Cost(flop=0, bytes=0)


def kernel_in(path: Path, name: str) -> type[Kernel]:
    """Return the kernel called ``name`` that was imported into the database at ``path``.

    Raises:
        InvalidInput: There is none.
        StoreError: The database cannot be read.
    """
    with Store.open(str(path), read_only=True) as store:
        studies = [each for each in store.studies() if IMPORTED in each.spec]
    own = [each for each in studies if each.spec[IMPORTED]["kernel"] == name]
    if not own:
        names = dict.fromkeys(each.spec[IMPORTED]["kernel"] for each in studies)
        raise InvalidInput(
            f"{path} has no imported kernel {name!r}; it has {', '.join(names) or 'none'}"
        )
    return _made(path, name, own)


def _made(path: Path, name: str, studies: Sequence[StudySummary]) -> type[Kernel]:
    told = [study.spec[IMPORTED] for study in studies]
    names = list(told[0]["parameters"])
    if any(sorted(each["parameters"]) != sorted(names) for each in told):
        raise InvalidInput(
            f"{path}: studies of {name!r} differ in their parameters",
            hint="import them under names of their own: --kernel NAME",
        )
    every = {key: [value for each in told for value in each["parameters"][key]] for key in names}
    parameters = Codec(completed(every, names, ()), str(path)).parameters()
    problem = _problem_type([study.spec["problems"][0] for study in studies], f"{path}: {name!r}")
    firsts = (each["default"] for each in told if each["default"] is not None)
    first = next(firsts, {each.name: each.values[0] for each in parameters})
    sizes = [f.name for f in dataclasses.fields(problem) if f.type is int]
    fields = {
        "name": name,
        "problem_type": problem,
        "scaled_fields": tuple(sizes),
        "home": path,
        "parameters": parameters,
        "first": Config(first),
        "__doc__": f"What another tuner recorded of {name}.",
    }
    return type("ImportedKernel", (RecordedKernel,), fields)


def _problem_type(problems: Sequence[Mapping[str, int | str]], where: str) -> type[Problem]:
    fields = {name: type(value) for name, value in problems[0].items()}
    for problem in problems:
        if {name: type(value) for name, value in problem.items()} != fields:
            raise InvalidInput(
                f"{where}: its studies differ in the fields of their problems",
                hint="import them under names of their own: --kernel NAME",
            )
    for name in fields:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise InvalidInput(f"{where}: {name!r} cannot be a field of a problem")
    made = dataclasses.make_dataclass(
        "ImportedProblem", list(fields.items()), bases=(Problem,), frozen=True
    )
    assert issubclass(made, Problem)
    return made
