"""T1: the description of a space. It has no results, but names what T4 results are of."""

from __future__ import annotations

import dataclasses
from typing import Any

from autotune.errors import InvalidInput
from autotune.interop.document import Json, as_object
from autotune.interop.expression import values_of
from autotune.interop.harvest import Harvest, Scalar, named_device, problem_of
from autotune.interop.values import Codec, completed
from autotune.records import Toolchain


def read(document: Json, where: str, *, finished: bool = True) -> Harvest:
    """Return the space that a T1 file describes, without results.

    Raises:
        InvalidInput: It is not such a file; the message says where.
    """
    space = as_object(document["ConfigurationSpace"], f"{where}: ConfigurationSpace")
    kernel = as_object(document.get("KernelSpecification"), f"{where}: KernelSpecification")
    place = f"{where}: TuningParameters"
    listed = space.get("TuningParameters")
    if not (isinstance(listed, list) and listed):
        raise InvalidInput(f"{place}: must be a list of parameters")
    described = [_parameter(each, f"{place}[{i}]") for i, each in enumerate(listed)]
    defaults = {each["Name"]: each.get("Default") for each in listed}
    size, name = kernel.get("ProblemSize"), kernel.get("KernelName")
    return Harvest(
        kernel=name if isinstance(name, str) else "",
        device=named_device(None),
        toolchain=Toolchain(compiler="t1", version=""),
        problem={} if size is None else problem_of(size, f"{where}: ProblemSize"),
        parameters=dict(described),
        default=None if None in defaults.values() else defaults,
        results=[],
        header={"t1": document},
        finished=finished,
    )


def described_by(harvest: Harvest, description: Harvest, where: str) -> Harvest:
    """Return results that say little of themselves, with what a T1 file says of their space.

    Raises:
        InvalidInput: They are of another space.
    """
    codec = Codec(description.parameters, where)
    for index, result in enumerate(harvest.results):
        codec.config(result["configuration"], f"{where}: results[{index}]")
    return dataclasses.replace(
        harvest,
        kernel=harvest.kernel or description.kernel,
        problem=harvest.problem or description.problem,
        parameters=completed(description.parameters, (), ()),
        default=harvest.default or description.default,
        header={**harvest.header, **description.header},
    )


def _parameter(told: Any, where: str) -> tuple[str, list[Scalar]]:
    as_object(told, where)
    name, values = told.get("Name"), told.get("Values")
    if not isinstance(name, str):
        raise InvalidInput(f"{where}: needs a Name")
    found = values_of(values, f"{where}: Values") if isinstance(values, str) else values
    if not (isinstance(found, list) and found):
        raise InvalidInput(f"{where}: Values must be a list, not {values!r:.40}")
    return name, found
