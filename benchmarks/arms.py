"""A tuned kernel as an arm: launched on the stream and the arrays of torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import torch
from harness import Arm

from autotune.launcher.gpu import Program, current, target
from autotune.records import Binary, Config, Kernel, Problem

Buffers = dict[str, torch.Tensor]


def kernel_arm(
    kernel: Kernel,
    problem: Problem,
    *,
    config: Config,
    binary: Binary,
    buffers: Sequence[Buffers],
) -> Arm:
    """Return what launches ``config`` on one of the buffer sets, all with the same scratch."""
    launch = kernel.launch(problem, config, target(0))
    scratch = {
        each.name: torch.empty(each.size_bytes, dtype=torch.uint8, device="cuda")
        for each in launch.scratch
    }
    sets = [{**each, **scratch} for each in buffers]  # which hold on to the memory
    return partial(_start, Program(binary, launch), sets)


def uniform(shape: int | tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Return a new array on the GPU, uniform in [-1, 1]."""
    return torch.rand(shape, device="cuda").mul_(2).sub_(1).to(dtype)


def pointers(buffers: Mapping[str, torch.Tensor]) -> dict[str, int]:
    """Return the address of each array."""
    return {name: tensor.data_ptr() for name, tensor in buffers.items()}


def _start(program: Program, sets: Sequence[Buffers], i: int) -> None:
    with current(0, torch.cuda.current_stream().cuda_stream):
        program.start(pointers(sets[i]))
