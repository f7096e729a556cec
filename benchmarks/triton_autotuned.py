"""Triton's own autotuner on the kernel of ``triton_kernels.py``, in one process.

It is told one JSON object, and answers with one: ``live_peers.py`` starts it.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import torch
import triton
from arms import arrays
from triton.testing import do_bench
from triton.tools.tensor_descriptor import TensorDescriptor
from triton_gemm import SHARED_BYTES, Blocks, Buffers, boxes, candidates, warm
from triton_kernels import by_tma

from kernel_space.gemm import GemmProblem

USUAL = 40  # configs


def main() -> None:
    """Tune for one problem, or only compile what that would compile."""
    asked = json.loads(sys.argv[1])
    problem = GemmProblem.parse(asked["problem"])
    buffers = arrays(problem.operands)
    if asked["only_compile"]:
        warm([problem], buffers, ways=usual)
        return
    chosen, tried, failed = autotuned(problem, buffers)
    answer = {"blocks": dataclasses.asdict(chosen), "configs": tried, "failed": failed}
    print(json.dumps(answer))


def usual(problem: GemmProblem) -> list[Blocks]:
    """Return the ways of ``triton_gemm.py``, and as many of a plain grid as make ``USUAL``."""
    grid = (
        Blocks(128, bn, bk, stages, warps, halves=halves)
        for bn, bk, stages, warps, halves in product(
            (128, 256), (64, 128), (2, 3, 4), (8, 4), (False, True)
        )
        if bn < 256 or warps == 8  # else sums do not fit the registers
    )
    fitting = [each for each in grid if each.shared_bytes <= SHARED_BYTES]
    return list(dict.fromkeys([*candidates(problem), *fitting]))[:USUAL]


def autotuned(problem: GemmProblem, buffers: Buffers) -> tuple[Blocks, int, int]:
    """Return what the autotuner chooses, how many it tried, and how many of these failed."""
    launch = _Launch(problem)
    of = {launch.config(blocks): blocks for blocks in usual(problem)}
    tuner: Any = triton.autotune(list(of), key=["m", "n", "k"], do_bench=_forgiving)(by_tma)
    first = next(iter(of.values()))
    matrices = [
        TensorDescriptor.from_tensor(buffers[name], list(box))
        for name, box in zip("abc", boxes(problem, first), strict=True)
    ]
    transposed = {"a_t": problem.a_transposed, "b_t": problem.b_transposed}
    tuner[launch.grid](*matrices, problem.m, problem.n, problem.k, **transposed)
    torch.cuda.synchronize()
    timings = tuner.configs_timings.values()
    return of[tuner.best_config], len(of), sum(math.isinf(min(each)) for each in timings)


class _Launch:
    """How each config is launched: the tuner calls a hook of it before."""

    def __init__(self, problem: GemmProblem) -> None:
        self._problem = problem
        self._most = torch.cuda.get_device_properties().multi_processor_count
        self._programs = self._most

    def config(self, blocks: Blocks) -> triton.Config:
        def before(arguments: Mapping[str, Any]) -> None:
            for name, box in zip("abc", boxes(self._problem, blocks), strict=True):
                arguments[name].block_shape = list(box)
            self._programs = blocks.programs(self._most)

        named = dataclasses.asdict(blocks)
        warps, stages = named.pop("warps"), named.pop("stages")
        return triton.Config(named, num_warps=warps, num_stages=stages, pre_hook=before)

    def grid(self, chosen: Mapping[str, Any]) -> tuple[int]:
        rows, columns = (
            math.ceil(self._problem.m / chosen["bm"]),
            math.ceil(self._problem.n / chosen["bn"]),
        )
        return (min(rows * columns, self._programs),)


def _forgiving(call: Callable[[], Any], quantiles: Sequence[float]) -> Any:
    """Time as the tuner does by default; whatever stops a config, the others go on."""
    try:
        return do_bench(call, quantiles=quantiles)
    except Exception as error:  # noqa: BLE001 - compilers fail in many ways
        print(f"left out: {error!r:.200}", file=sys.stderr)
        return [math.inf] * len(quantiles)


if __name__ == "__main__":
    main()
