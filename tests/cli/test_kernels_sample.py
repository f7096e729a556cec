from __future__ import annotations

import csv
import io
import json

import pytest

from autotune.records import Config, load_kernel
from autotune.records.targets import TARGETS

GEMM = ("kernels", "gemm", "--problem", "m=512,n=512,k=512", "--sample", "20")


def test_a_sample_holds_distinct_valid_configurations(autotune):
    told = json.loads(autotune(*GEMM, "--format", "json").out)
    kernel = load_kernel("gemm")
    problem = kernel.problem_type.parse(told["problem"])
    space = kernel.space(problem, TARGETS[told["target"]])
    configs = {Config(row) for row in told["configs"]}
    assert len(configs) == 20
    assert all(config in space for config in configs)
    assert told["valid"] == space.count()


def test_a_sample_follows_from_its_seed(autotune):
    first, same, other = (
        list(csv.DictReader(io.StringIO(autotune(*GEMM, "--seed", seed, "--format", "csv").out)))
        for seed in (1, 1, 2)
    )
    assert first == same != other
    assert len(first) == 20


def test_people_see_how_many_there_are(autotune):
    words = ("kernels", "host_matmul", "--problem", "m=64,n=64,k=64", "--sample", 3)
    ended = autotune(*words)
    assert "3 of " in ended.out
    assert "drawn uniformly" in ended.out
    assert "tile_m" in ended.out


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("kernels", "gemm", "--sample", "3"), "--sample and --target need --problem"),
        ((*GEMM[:4], "--sample", "0"), "must be a whole number from 1"),
        ((*GEMM, "--explain"), "ask one at a time"),
    ],
    ids=["no problem", "none", "two questions"],
)
def test_a_sample_that_cannot_be_drawn_is_refused_in_words(autotune, words, reason):
    ended = autotune(*words)
    assert ended.code == 2
    assert reason in ended.err
