"""A tuned kernel as an arm: launched on the stream and the arrays of torch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from harness import Arm, buffer_sets
from needs import torch

from autotune.launcher.gpu import Program, current, target
from autotune.launcher.view import DTYPES
from autotune.records import Binary, Config, Kernel, Operand, Problem

Buffers = dict[str, "torch.Tensor"]
TORCH_NAMES = {dtype: name for name, dtype in DTYPES.items()}


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


def arrays(operands: Iterable[Operand]) -> Buffers:
    """Return a new array on the GPU for each operand, uniform in the interval it is drawn from."""
    return {each.name: _uniform(each) for each in operands}


def cold_arrays(operands: Iterable[Operand], bytes_each: int) -> list[Buffers]:
    """Return as many sets of arrays as keep every operand out of L2 between two uses."""
    drawn = [*operands]
    return [arrays(drawn) for _ in range(buffer_sets(bytes_each))]


def pointers(buffers: Mapping[str, torch.Tensor]) -> dict[str, int]:
    """Return the address of each array."""
    return {name: tensor.data_ptr() for name, tensor in buffers.items()}


def _uniform(operand: Operand) -> torch.Tensor:
    low, high = operand.drawn_from
    values = torch.rand(operand.shape, device="cuda").mul_(high - low).add_(low)
    return values.to(getattr(torch, TORCH_NAMES[operand.dtype]))


def _start(program: Program, sets: Sequence[Buffers], i: int) -> None:
    with current(0, torch.cuda.current_stream().cuda_stream):
        program.start(pointers(sets[i]))
