"""The shapes that benchmarks run on: those of the shipped studies."""

from __future__ import annotations

from pathlib import Path

from autotune.study import load_study
from kernel_space.gemm import GemmProblem

STUDIES = Path(__file__).parents[1] / "studies"


def suite() -> list[GemmProblem]:
    """Return every problem of the studies of squares and of language models."""
    specs = [load_study(STUDIES / f"{name}.toml") for name in ("gemm_square", "gemm_llm")]
    return [problem for spec in specs for problem in spec.problems]  # type: ignore[misc]
