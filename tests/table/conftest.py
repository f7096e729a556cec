from __future__ import annotations

import dataclasses
from itertools import count
from pathlib import Path

import pytest

from autotune.records import (
    STANDARD,
    Config,
    DeviceIdentity,
    Measurement,
    Resources,
    Status,
    Target,
    Toolchain,
    Trial,
    load_kernel,
)
from autotune.store import Context, Store
from autotune.toolchain import source_digest

KERNEL_REF = f"{Path(__file__).parents[1] / 'kernels' / 'scale.py'}:WideScale"
H200 = DeviceIdentity(
    kind="cuda",
    name="NVIDIA H200",
    target=Target(
        arch="sm_90a",
        sm_count=132,
        shared_bytes_per_block=232448,
        shared_bytes_per_sm=233472,
        l2_bytes=62914560,
    ),
    memory_bytes=150754820096,
    driver="580.00",
)


class Book:
    """A result database that tests write rows into."""

    def __init__(self, store):
        self.store = store
        self._numbers = count()
        kernel = load_kernel(KERNEL_REF)
        problem = kernel.problem_type(count=1)
        config = kernel.default(problem, H200.target)
        self.context = Context(
            kernel="wide_scale",
            kernel_ref=KERNEL_REF,
            source_digest=source_digest(kernel.unit(problem, config, H200.target)),
            problem=problem,
            device=H200,
            toolchain=Toolchain(compiler="nvrtc", version="13.0"),
            policy=STANDARD,
        )

    def add(self, count, *, width, threads=128, ns=1000.0, study="s", status=Status.OK, **changes):
        """Record one trial of one study and return it as stored."""
        samples, verified = changes.pop("samples", (ns,) * 5), changes.pop("verified", True)
        shared_bytes = changes.pop("shared_bytes", None)
        problem = type(self.context.problem)(count=count, dtype=changes.pop("dtype", "fp32"))
        context = dataclasses.replace(self.context, problem=problem, **changes)
        measured = Measurement(samples_ns=samples) if status is Status.OK else None
        trial = Trial(
            number=next(self._numbers),
            problem_key=problem.key,
            config=Config(width=width, threads=threads),
            status=status,
            measurement=measured,
            verified=verified,
            resources=None if shared_bytes is None else Resources(),
            dynamic_shared_bytes=shared_bytes,
        )
        study_id = self.store.begin_study(study, spec={}, sampler="random", seed=0)
        return self.store.record(study_id, context, trial)


@pytest.fixture
def book(tmp_path):
    with Store.open(f"sqlite:///{tmp_path / 'results.db'}") as store:
        yield Book(store)
