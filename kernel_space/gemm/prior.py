"""How long a config takes, predicted from the problem and the device, before anything is built.

The prediction joins three demands that overlap: what the multiprocessors need, wave by wave
(``ampere/prior.py``, ``hopper/prior.py``), what device memory needs, and what the power limit
allows. A pass that repacks rows comes on top. It is there to rank configs: a search may try the
promising ones first.

Products of 8-bit elements have not been recorded: they are taken to be held back by the same
things, at twice the products a clock and half the bytes an element.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from operator import itemgetter
from typing import Any

from autotune.records import Config, Target, Value
from kernel_space.gemm.ampere import prior as ampere
from kernel_space.gemm.hopper import prior as hopper
from kernel_space.gemm.hopper.plan import MECHANISMS
from kernel_space.gemm.hopper.repack import moved_elements
from kernel_space.gemm.problem import GemmProblem
from kernel_space.gemm.waves import Front, Waves, memory_bytes
from kernel_space.rates import LAUNCH_CLK, Rates, rates_of, together

SUSTAINED = 0.74  # of the highest clock's FLOP/s: cuBLAS on an H200, 790 of 1070 TFLOP/s
REPACK_LAUNCH_CLK = 3000  # beside the product's own launch, with which it overlaps; not measured
WORK = (  # what the multiprocessors do follows from these; from others, in what order
    "mechanism",
    "tile_m",
    "tile_n",
    "warp_m",
    "warp_n",
    "tile_k",
    "stages",
    "barriers",
    "copy_bytes",
    "cache",
    "cluster_m",
    "cluster_n",
    "in_flight",
    "operands",
    "split_k",
    "epilogue",
    "repack",
    "l2_promotion",
)
_work = itemgetter(*WORK)


class Prior:
    """Predicts how long configs take for one problem on one device.

    Configs by the thousand share what the multiprocessors do, or what memory does: each such
    part is worked out once.

    Args:
        problem: What is computed.
        target: The device.
        rates: Its speed.
    """

    def __init__(self, problem: GemmProblem, target: Target, rates: Rates) -> None:
        self._problem, self._target, self._rates = problem, target, rates
        flop_per_clk = SUSTAINED * target.sm_count * rates.tensor_flop_per_clk
        flop = 2 * problem.m * problem.n * problem.k
        self._power_clk = flop / (flop_per_clk * problem.tensor_speed)
        self._repack_clk = _repack_clk(problem, rates)
        self._waves = cache(self._work_out)
        self._memory_clk = cache(self._stream)

    def predict(self, config: Config) -> float | None:
        """Return the time in ns, or None where the device cannot run the mechanism."""
        knobs: dict[str, Any] = config.as_dict()
        waves = self._waves(_work(knobs))
        if waves is None:
            return None
        memory_clk = self._memory_clk(waves.front, knobs["raster"], knobs["raster_group"])
        clk = together(waves.clk, memory_clk, self._power_clk) + LAUNCH_CLK
        if knobs["repack"] == "rows":
            clk += self._repack_clk
        return clk / self._rates.clock_ghz

    def _work_out(self, work: tuple[Value, ...]) -> Waves | None:
        knobs = dict(zip(WORK, work, strict=True))
        on_hopper = knobs["mechanism"] in MECHANISMS
        if on_hopper and not self._rates.wgmma_flop_per_clk:
            return None
        family = hopper if on_hopper else ampere
        waves: Waves = family.waves(self._problem, knobs, self._target, self._rates)
        return waves

    def _stream(self, front: Front, raster: str, group: int) -> float:
        along_m, l2_bytes = raster == "along_m", self._target.l2_bytes
        moved = memory_bytes(self._problem, front, l2_bytes, along_m=along_m, group=group)
        return moved / self._rates.memory_bytes_per_clk


def estimates(
    problem: GemmProblem, configs: Iterable[Config], target: Target
) -> Iterator[tuple[Config, float]]:
    """Yield each config of which a time can be predicted, with the time in ns."""
    rates = rates_of(target)
    if rates is None:
        return
    prior = Prior(problem, target, rates)
    for config in configs:
        ns = prior.predict(config)
        if ns is not None:
            yield config, ns


def _repack_clk(problem: GemmProblem, rates: Rates) -> float:
    """Return what the pass before the product takes: a launch that memory limits."""
    elements = moved_elements(problem.matrices)
    if not elements:
        return 0
    return REPACK_LAUNCH_CLK + elements * problem.element_bytes / rates.memory_bytes_per_clk
