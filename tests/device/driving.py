"""Drive a device as a study does, without a study."""

from __future__ import annotations

from pathlib import Path

from autotune.records import Candidate, Config, Failure, Outcome, Policy, load_kernel

KERNELS = Path(__file__).parents[1] / "kernels"
BRISK = Policy(
    warmup_ms=0.1, min_samples=3, max_samples=5, budget_ms=1.0, sample_us=100.0, cache="hot"
)
FAULTY = f"{KERNELS / 'faulty_matmul.py'}:FaultyMatmul"
COPIED = f"{KERNELS / 'copied.py'}:Copied"
SCALE = f"{KERNELS / 'scale.py'}:Scale"


def candidate(device, *, ref=FAULTY, problem=None, **values):
    kernel = load_kernel(ref)
    return Candidate(
        kernel_ref=ref,
        problem=kernel.problem_type.parse(problem or {"m": 17, "n": 19, "k": 23}),
        config=Config(values),
        target=device.identity.target,
        kernel=kernel,
    )


def outcome(device, made, policy=BRISK, best_ns=None):
    built = device.build(made).result(60)
    if isinstance(built, Failure):
        return Outcome.of(built)
    return device.measure(made, built, policy, best_ns=best_ns)
