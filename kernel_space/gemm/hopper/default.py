"""A middling config that fits every Hopper device."""

from __future__ import annotations

from autotune.records import Config
from kernel_space.gemm.hopper.rules import fixed, unmappable
from kernel_space.gemm.problem import GemmProblem


def default(problem: GemmProblem) -> Config:
    """Return a config that is valid wherever tensor copies are."""
    return Config(
        {
            **fixed(problem),
            "mechanism": "ws_pingpong",
            "tile_m": 128,
            "tile_n": 128,
            "stages": 5,
            "cluster_m": 1,
            "cluster_n": 1,
            "in_flight": 2,
            "operands": "given",
            "split_k": 1,
            "l2_promotion": 256,
            "keep": "neither",
            "epilogue": "direct" if problem.output_dtype == "fp32" else "staged",
            "repack": "none" if unmappable(problem) is None else "rows",
            "raster": "along_m",
            "raster_group": 1,
        }
    )
