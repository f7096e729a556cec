"""The shapes that benchmarks run on: those of the shipped studies, or of a suite file."""

from __future__ import annotations

import dataclasses
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from autotune.errors import InvalidProblem
from autotune.study import load_study
from kernel_space.gemm import GemmProblem

STUDIES = Path(__file__).parents[1] / "studies"
WHOLE_TILE = 64  # a multiple of it leaves no tail in any tile
COPY_BYTES = 16  # the widest copy, and what TMA needs of a row
SKINNY_M, SMALL_K = 128, 1536
Groups = dict[str, list[GemmProblem]]


def shipped() -> list[GemmProblem]:
    """Return every problem of the studies of squares and of language models."""
    specs = [load_study(STUDIES / f"{name}.toml") for name in ("gemm_square", "gemm_llm")]
    return [problem for spec in specs for problem in spec.problems]  # type: ignore[misc]


def grouped(problems: Iterable[GemmProblem]) -> Groups:
    """Return problems by what makes them hard."""
    groups: Groups = {}
    for problem in problems:
        groups.setdefault(_group(problem), []).append(problem)
    return groups


def read_suite(path: Path) -> Groups:
    """Return the groups of a suite file: ``dtype``, ``layout`` and a table ``groups`` of shapes.

    Raises:
        SystemExit: It is no such file; the message says where.
    """
    try:
        text: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        rest = {name: text[name] for name in ("dtype", "layout") if name in text}
        return {
            name: [GemmProblem(*shape, **rest) for shape in shapes]
            for name, shapes in text["groups"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, InvalidProblem) as error:
        raise SystemExit(f"{path}: no suite of shapes by group: {error}") from error


def asked(
    *,
    suite: Path | None = None,
    shapes: Sequence[Sequence[int]] | None = None,
    names: Sequence[str] | None = None,
    dtype: str | None = None,
    layout: str | None = None,
) -> Groups:
    """Return the problems that somebody asks for, by group.

    Args:
        suite: A suite file; None means the shapes of the shipped studies.
        shapes: These (m, n, k) in place of a suite's.
        names: Only these groups; None means all.
        dtype: In place of the suite's. Shapes that it does not take are left out, which a line on
            stderr says.
        layout: In place of the suite's; likewise.

    Raises:
        SystemExit: There is no such group, no problem is left, or the file is no suite.
    """
    if shapes:
        groups = grouped(GemmProblem(*shape) for shape in shapes)
    else:
        groups = read_suite(suite) if suite else grouped(shipped())
    unknown = set(names or ()) - set(groups)
    if unknown:
        raise SystemExit(f"--group: no {min(unknown)!r}; there are {', '.join(groups)}")
    chosen = {name: some for name, some in groups.items() if not names or name in names}
    other = {name: value for name, value in (("dtype", dtype), ("layout", layout)) if value}
    return _changed(chosen, other)


def _changed(groups: Groups, other: Mapping[str, Any]) -> Groups:
    """Return the problems with ``other`` fields, without those that cannot have them."""
    tried = {name: [_with(problem, other) for problem in some] for name, some in groups.items()}
    every = [each for some in tried.values() for each in some]
    refused = [each for each in every if isinstance(each, InvalidProblem)]
    if refused:
        left_out = f"left out: {len(refused)} of {len(every)} shapes: {refused[0].message}"
        if refused == every:
            raise SystemExit(left_out)
        print(left_out, file=sys.stderr)
    kept = {
        name: [each for each in some if isinstance(each, GemmProblem)]
        for name, some in tried.items()
    }
    return {name: some for name, some in kept.items() if some}


def _with(problem: GemmProblem, other: Mapping[str, Any]) -> GemmProblem | InvalidProblem:
    try:
        return dataclasses.replace(problem, **other)
    except InvalidProblem as error:
        return error


def _group(problem: GemmProblem) -> str:
    m, n, k = problem.m, problem.n, problem.k
    rules = {
        "unaligned": any(problem.row_bytes(field) % COPY_BYTES for field in problem.row_fields),
        "decode": m <= SKINNY_M,
        "tails": any(extent % WHOLE_TILE for extent in (m, n, k)),
        "square": m == n == k,
        "small_k": k <= SMALL_K,
    }
    return next((name for name, holds in rules.items() if holds), "prefill")
