"""How long a config takes, predicted from the problem and the device, before anything is built.

The prediction joins three demands that overlap: what the multiprocessors need, wave by wave
(``ampere/prior.py``, ``hopper/prior.py``), what device memory needs, and what the power limit
allows. A pass that repacks rows comes on top. It is there to rank configs: a search may try the
promising ones first.

Products of 8-bit elements have not been recorded: they are taken to be held back by the same
things, at twice the products a clock and half the bytes an element.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.records import Config, Target
from kernel_space.gemm.ampere import prior as ampere
from kernel_space.gemm.hopper import prior as hopper
from kernel_space.gemm.hopper.plan import MECHANISMS
from kernel_space.gemm.hopper.repack import moved_elements
from kernel_space.gemm.problem import GemmProblem
from kernel_space.gemm.waves import memory_bytes
from kernel_space.rates import LAUNCH_CLK, Rates, rates_of, together

SUSTAINED = 0.74  # of the highest clock's FLOP/s: cuBLAS on an H200, 790 of 1070 TFLOP/s
REPACK_LAUNCH_CLK = 3000  # beside the product's own launch, with which it overlaps; not measured


def estimate(problem: GemmProblem, config: Config, target: Target) -> float | None:
    """Return the predicted time in ns, or None where the device's rates are not known."""
    rates = rates_of(target)
    knobs: dict[str, Any] = config.as_dict()
    on_hopper = knobs["mechanism"] in MECHANISMS
    if rates is None or (on_hopper and not rates.wgmma_flop_per_clk):
        return None
    waves = (hopper if on_hopper else ampere).waves(problem, knobs, target, rates)
    raster = {"along_m": knobs["raster"] == "along_m", "group": knobs["raster_group"]}
    moved = memory_bytes(problem, waves, target.l2_bytes, **raster)
    flop_per_clk = SUSTAINED * target.sm_count * rates.tensor_flop_per_clk
    power = 2 * problem.m * problem.n * problem.k / (flop_per_clk * problem.tensor_speed)
    clk = together(waves.clk, moved / rates.memory_bytes_per_clk, power)
    return (clk + LAUNCH_CLK + _repack_clk(problem, knobs, rates)) / rates.clock_ghz


def _repack_clk(problem: GemmProblem, knobs: Mapping[str, Any], rates: Rates) -> float:
    """Return what the pass before the product takes: a launch that memory limits."""
    elements = moved_elements(problem.matrices) if knobs["repack"] == "rows" else 0
    if not elements:
        return 0
    return REPACK_LAUNCH_CLK + elements * problem.element_bytes / rates.memory_bytes_per_clk
