"""How long a config takes, by the waves that it needs: three numbers for each config, measured.

A config cuts C into tiles, and the device holds ``room`` of them at a time. Whatever is left over
takes a whole turn, which no distance between problems knows of. A launch is taken to last

    start + turns · (begin + steps · step)

where ``turns`` is how often the device is filled and ``steps`` how many slices of K a tile goes
through. ``start``, ``begin`` and ``step`` are fitted to what the config took where it was measured,
so that errors count as shares of the time; none is below 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from autotune.records import Config, Target
from kernel_space.gemm import GemmProblem
from kernel_space.gemm.hopper import MECHANISMS, HopperPlan
from kernel_space.gemm.hopper.plan import resident_clusters, tile_k

FEWEST = 5  # measurements that a fit of three numbers takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Waves:
    """What was fitted, in ns."""

    start_ns: float
    begin_ns: float
    step_ns: float

    def time_ns(self, problem: GemmProblem, config: Config, target: Target) -> float:
        """Return how long ``config`` is expected to take."""
        slices, turns, once = work(problem, config, target)
        return slices * self.step_ns + turns * self.begin_ns + once * self.start_ns


def work(problem: GemmProblem, config: Config, target: Target) -> tuple[float, float, float]:
    """Return the slices of K that follow each other, the turns, and 1 for the launch."""
    plan = HopperPlan.of(config, problem)
    turns = -(-plan.tiles // resident_clusters(plan.blocks_in_cluster, target))
    steps = -(-problem.k // (tile_k(problem) * plan.split_k))
    return float(turns * steps), float(turns), 1.0


def fitted(config: Config, times_ns: Mapping[GemmProblem, float], target: Target) -> Waves | None:
    """Return the fit to what a config took, or None if that says too little of it."""
    if config["mechanism"] not in MECHANISMS or len(times_ns) < FEWEST:
        return None
    rows = np.array([work(problem, config, target) for problem in times_ns])
    shares = rows / np.array([*times_ns.values()])[:, None]
    scale = shares.max(axis=0)
    step, begin, start = nnls(shares / scale, np.ones(len(shares)))[0] / scale
    return Waves(start_ns=float(start), begin_ns=float(begin), step_ns=float(step))
