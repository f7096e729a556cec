"""Multiply through a table: every suite shape and 50 odd ones, checked and timed beside cuBLAS.

    python benchmarks/table.py table.json --json results/table_h200.json

Each product is compared with cuBLAS's on the same random matrices: both round the same sum once,
so they may differ by one rounding of bf16 and by what the order of summation leaves.
"""

from __future__ import annotations

import argparse
import math
import random
from pathlib import Path
from typing import Any

from arms import arrays, cold_arrays
from harness import interleave, median_us, write_json
from needs import require, torch
from ratios import geometric_mean
from suite import shipped

from autotune.launcher import Dispatcher
from kernel_space.gemm import Gemm, GemmProblem

ODD_SHAPES = 50
LARGEST_ODD = 2000


def main() -> None:
    """Run the comparison and print a line for each shape."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=11)
    arguments = parser.parse_args()
    require()
    # cuBLAS must not round partial sums: then both sides round once
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    dispatcher = Dispatcher(arguments.table)
    print(f"{'m':>6} {'n':>6} {'k':>6}  {'source':8} {'wrong':>5} {'µs':>9} {'cuBLAS':>9} ratio")
    rows = [_row(dispatcher, problem, arguments.rounds) for problem in shipped()]
    odd = [_checked(dispatcher, problem) for problem in odd_problems()]
    _summary(rows, odd)
    if arguments.json is not None:
        write_json(arguments.json, [*rows, *odd], kernel=Gemm(), problem=shipped()[0])


def odd_problems(seed: int = 0) -> list[GemmProblem]:
    """Return random shapes, most of them no multiple of anything."""
    draw = random.Random(seed)  # noqa: S311 - reproducible shapes
    sizes = [[draw.randint(1, LARGEST_ODD) for _ in range(3)] for _ in range(ODD_SHAPES)]
    return [GemmProblem(*size) for size in sizes]


def _checked(dispatcher: Dispatcher, problem: GemmProblem) -> dict[str, Any]:
    buffers = arrays(problem.operands)
    out = buffers["c"].fill_(math.nan)
    choice = dispatcher.run(problem, buffers)
    expected = torch.matmul(buffers["a"], buffers["b"].T)
    return {
        **problem.as_dict(),
        "source": choice.source,
        "config": dict(choice.config),
        "wrong": wrong_elements(out, expected, problem),
    }


def wrong_elements(out: torch.Tensor, expected: torch.Tensor, problem: GemmProblem) -> int:
    """Count elements that are further apart than two right results can be."""
    tolerance = Gemm().tolerance(problem)
    allowed = 2 * (tolerance.absolute + tolerance.relative * expected.float().abs())
    apart = (out.float() - expected.float()).abs()
    return int((~(apart <= allowed)).sum())


def _row(dispatcher: Dispatcher, problem: GemmProblem, rounds: int) -> dict[str, Any]:
    row = _checked(dispatcher, problem)
    buffers = cold_arrays(problem.operands, problem.moved_bytes)
    times = interleave(
        {
            "autotune": lambda i: dispatcher.run(problem, buffers[i]),
            "cublas": lambda i: _multiply(**buffers[i]),
        },
        len(buffers),
        rounds=rounds,
    )
    row |= {"us": median_us(times), "samples_us": times}
    ratio = row["us"]["cublas"] / row["us"]["autotune"]
    print(
        f"{problem.m:6} {problem.n:6} {problem.k:6}  {row['source']:8} {row['wrong']:5}"
        f" {row['us']['autotune']:9.2f} {row['us']['cublas']:9.2f} {ratio:5.3f}",
        flush=True,
    )
    return row


def _multiply(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    torch.matmul(a, b.T, out=c)


def _summary(rows: list[dict[str, Any]], odd: list[dict[str, Any]]) -> None:
    ratios = [row["us"]["cublas"] / row["us"]["autotune"] for row in rows]
    mean = geometric_mean(ratios)
    wrong = sum(row["wrong"] for row in [*rows, *odd])
    print(f"{len(rows)} suite shapes and {len(odd)} odd ones: {wrong} wrong elements")
    print(f"geometric mean of cuBLAS time / our time over the suite: {mean:.3f}")


if __name__ == "__main__":
    main()
