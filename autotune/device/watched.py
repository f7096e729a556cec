"""What compute-sanitizer watches: launches of candidates, and nothing else on the GPU."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from autotune.device.cuda import CudaBackend
from autotune.device.sanitizer import DONE
from autotune.records import Binary, Config, Launch, Policy, Resources, Target, load_kernel
from autotune.verify import Verifier, stored_dtype

UNCHECKED = Policy(verify=False)  # whether it is right was asked before: here its accesses count


def launch_all(request: str) -> None:
    """Launch each candidate of ``request`` once, on random inputs that numpy has drawn.

    Args:
        request: What ``Sanitizer`` wrote.
    """
    asked = json.loads(request)
    signal.alarm(int(asked["limit_s"]) + 1)  # its owner may be gone before it is done
    backend = CudaBackend(asked["index"])
    backend.xp.cuda.set_allocator(None)  # memory that ends where its array ends
    for each in asked["launches"]:
        _launch(backend, each)
    sys.stdout.write(f"{DONE}\n")


def _launch(backend: CudaBackend, asked: Mapping[str, Any]) -> None:
    kernel = load_kernel(asked["kernel_ref"])
    problem = kernel.problem_type.parse(asked["problem"])
    launch: Launch = kernel.launch(problem, Config(asked["config"]), Target(**asked["target"]))
    binary = Binary(**asked["binary"], resources=Resources(), compile_ns=0)
    arrays = {
        name: backend.xp.asarray(array)
        for name, array in Verifier(kernel, problem, UNCHECKED, np).inputs.items()
    }
    written = (*(op for op in kernel.operands(problem) if op.output), *launch.scratch)
    arrays |= {op.name: backend.xp.empty(op.shape, stored_dtype(op.dtype)) for op in written}
    backend.program(binary, launch).run(arrays)
