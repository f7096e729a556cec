"""What a study takes for itself is told from what its device takes."""

from __future__ import annotations

from contextlib import closing

import pytest
from overhead import ELSEWHERE, PARTS, summary, timed

from autotune.device import open_device
from autotune.records import QUICK, Limits, load_kernel
from autotune.study import DriftSpec, FinalSpec, StudySpec


@pytest.fixture(scope="module")
def clock():
    kernel = load_kernel("gemm")
    spec = StudySpec(
        name="overhead",
        kernel_ref="gemm",
        kernel=kernel,
        problems=(kernel.problem_type.parse({"m": 4096, "n": 4096, "k": 4096}),),
        sampler="random",
        trials=12,
        policy=QUICK,
        final=FinalSpec(candidates=0),
        drift=DriftSpec(every=0),
    )
    with closing(open_device("recording:h200", limits=Limits())) as device:
        return timed(spec, device)


def test_every_trial_is_split_into_all_parts(clock):
    assert len(clock.trials) == 12
    for trial in clock.trials:
        assert all(trial[part] >= 0 for part in PARTS)
        assert trial["store"] > 0
        assert trial[ELSEWHERE] > 0


def test_what_the_device_takes_is_not_the_framework_s(clock):
    row = summary("recording", clock)
    assert row["own"]["median_ms"] <= row["own"]["p95_ms"]
    parts = [sum(trial[part] for part in PARTS) for trial in clock.trials]
    assert row["own"]["p95_ms"] <= max(parts) + 1e-3
