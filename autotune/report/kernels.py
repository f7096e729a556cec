"""Kernels and their spaces, for people and for scripts."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable
from typing import Any, get_type_hints

from autotune.errors import AutotuneError
from autotune.records import Kernel, Problem, Target, one_line
from autotune.report.sheet import Column, Row, Sheet
from autotune.report.units import share_text
from autotune.space import Census, Space


def kernels_sheet(kernels: Iterable[tuple[str, Kernel]]) -> Sheet:
    """Return one row for each kernel, given as reference and instance."""
    return Sheet(
        kind="kernels",
        rows=[kernel_row(reference, kernel) for reference, kernel in kernels],
        columns=(
            Column("kernel", lambda row: row["reference"]),
            Column("language", lambda row: row["language"]),
            Column("problem", lambda row: _fields(row["problem_fields"])),
            Column("about", lambda row: row["about"], folds=True),
        ),
        empty="no kernel is installed",
    )


def kernel_row(reference: str, kernel: Kernel) -> dict[str, Any]:
    """Return what a kernel says about itself."""
    return {
        "reference": reference,
        "name": kernel.name,
        "language": kernel.language,
        "about": one_line(inspect.getdoc(type(kernel)) or "", 100),
        "problem_fields": _problem_fields(kernel.problem_type),
        "scaled_fields": list(kernel.scaled_fields),
    }


def example_problem(kernel: Kernel) -> Problem | None:
    """Return a problem of a middling size, or None if its fields cannot be guessed."""
    sizes = dict.fromkeys(kernel.scaled_fields, 1024)
    try:
        return kernel.problem_type.parse(sizes)
    except AutotuneError:
        return None


def parameters_sheet(kernel: Kernel, problem: Problem, target: Target) -> Sheet:
    """Return one row for each parameter of a kernel's space."""
    space = kernel.space(problem, target)
    return Sheet(
        kind="parameters",
        title=_title(kernel, problem, target),
        rows=[
            {
                "name": parameter.name,
                "values": list(parameter.values),
                "ordered": parameter.ordered,
                "about": parameter.about,
                "default": kernel.default(problem, target).get(parameter.name),
            }
            for parameter in space.parameters
        ],
        columns=(
            Column("parameter", lambda row: row["name"]),
            Column("default", lambda row: str(row["default"]), right=True),
            Column("values", lambda row: " ".join(map(str, row["values"])), moves=True),
            Column("about", lambda row: row["about"], folds=True),
        ),
        extra=_about(kernel, problem, target, space),
    )


def census_sheet(kernel: Kernel, problem: Problem, target: Target) -> Sheet:
    """Return one row for each constraint: how many configs it removed, and one reason.

    People see those that removed something, and the total.
    """
    space = kernel.space(problem, target)
    census = space.census()
    rows = _census_rows(space, census)
    left = f"{census.valid:,} of {census.total:,} configurations keep every constraint"
    removed = sum(row["removed"] for row in rows)
    total = {"name": "all together", "removed": removed, "example": ""}
    return Sheet(
        kind="constraints",
        title=f"{_title(kernel, problem, target)}: {left}",
        rows=rows,
        shown=[*(row for row in rows if row["removed"]), total] if rows else [],
        columns=(
            Column("constraint", lambda row: row["name"]),
            Column("removed", lambda row: f"{row['removed']:,}", right=True),
            Column("share", lambda row: share_text(row["removed"], census.total), right=True),
            Column("for example", lambda row: row["example"], folds=True),
        ),
        empty="this space has no constraint",
        extra={**_about(kernel, problem, target, space), "valid": census.valid},
    )


def sample_sheet(
    kernel: Kernel, problem: Problem, target: Target, *, count: int, seed: int
) -> Sheet:
    """Return one row for each of ``count`` valid configs: uniformly drawn, none twice."""
    space = kernel.space(problem, target)
    drawn = space.sample(count, seed)
    valid = space.count()
    return Sheet(
        kind="configs",
        title=f"{_title(kernel, problem, target)}: {len(drawn):,} of {valid:,} valid "
        "configurations, drawn uniformly",
        rows=[{name: config[name] for name in _parameter_names(space)} for config in drawn],
        columns=[_column(name) for name in _parameter_names(space)],
        empty="no configuration keeps every constraint",
        extra={**_about(kernel, problem, target, space), "valid": valid, "seed": seed},
    )


def _parameter_names(space: Space) -> list[str]:
    return [parameter.name for parameter in space.parameters]


def _column(name: str) -> Column:
    return Column(name, lambda row: str(row[name]), right=True)


def _census_rows(space: Space, census: Census) -> list[Row]:
    """Return a row for each name: several rules may share one."""
    uses: dict[str, list[str]] = {}
    for constraint in space.constraints:
        uses.setdefault(constraint.name, []).extend(constraint.uses)
    return [
        {
            "name": name,
            "uses": list(dict.fromkeys(used)),
            "removed": census.removed.get(name, 0),
            "example": census.example.get(name, ""),
        }
        for name, used in uses.items()
    ]


def _about(kernel: Kernel, problem: Problem, target: Target, space: Space) -> dict[str, Any]:
    return {
        "kernel": kernel.name,
        "problem": problem.as_dict(),
        "target": target.arch,
        "total": space.size,
    }


def _title(kernel: Kernel, problem: Problem, target: Target) -> str:
    return f"{kernel.name} {problem} on {target.arch}"


def _problem_fields(problem_type: type[Problem]) -> dict[str, str]:
    """Return each field's type, and its default if it has one."""
    kinds = get_type_hints(problem_type)
    return {
        field.name: kinds[field.name].__name__
        + ("" if field.default is dataclasses.MISSING else f" = {field.default}")
        for field in dataclasses.fields(problem_type)
    }


def _fields(fields: dict[str, str]) -> str:
    return ", ".join(fields)
