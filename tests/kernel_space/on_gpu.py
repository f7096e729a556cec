"""Configs of a GEMM, built and verified on a GPU."""

from __future__ import annotations

import random

from autotune.records import Binary, Candidate, Policy, Status
from kernel_space.gemm import Gemm
from kernel_space.gemm.hopper import MECHANISMS

VERIFY = Policy(warmup_ms=0.0, min_samples=1, max_samples=1, budget_ms=0.1, sample_us=10.0)
HOPPER_KINDS = ("mechanism", "cluster_m", "cluster_n", "operands", "split_k")


def assert_right(device, problem, configs, *, repeats=VERIFY.repeats):
    """Verify each config, of which there is at least one. A few may spill and be refused."""
    target, policy = device.identity.target, VERIFY.replace(repeats=repeats)
    candidates = [Candidate("gemm", problem, config, target, Gemm()) for config in configs]
    statuses = set()
    for candidate, built in [(each, device.build(each)) for each in candidates]:
        binary = built.result()
        assert isinstance(binary, Binary), (candidate, binary)
        outcome = device.measure(candidate, binary, policy)
        statuses.add(outcome.status)
        if outcome.status is not Status.RESOURCES:
            assert (outcome.status, outcome.message) == (Status.OK, ""), candidate
    assert Status.OK in statuses


def one_of_each_hopper_kind(problem, target, seed):
    """Return a config of each mechanism, cluster, operand order and split that the problem has."""
    kinds = {}
    for config in Gemm().space(problem, target).restricted({"mechanism": list(MECHANISMS)}):
        kinds.setdefault(tuple(config[name] for name in HOPPER_KINDS), []).append(config)
    draw = random.Random(seed)
    return [draw.choice(configs) for _, configs in sorted(kinds.items(), key=str)]
