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
        assert set(trial) == set(PARTS)
        assert all(trial[part].wall_ms >= 0 for part in PARTS)
        assert trial["store"].wall_ms > 0


def test_what_the_device_takes_is_not_the_framework_s(clock):
    for trial in clock.trials:
        parts = sum(trial[part].wall_ms for part in PARTS if part not in {"own", ELSEWHERE})
        assert trial["own"].wall_ms == pytest.approx(parts)
        assert trial[ELSEWHERE].wall_ms > 0


def test_a_row_has_both_clocks(clock):
    row = summary("recording", clock)
    assert (row["on"], row["trials"]) == ("recording", 12)
    for spreads in (row["wall"], row["cpu"]):
        assert set(spreads) == set(PARTS)
        assert spreads["own"]["median_ms"] <= spreads["own"]["p95_ms"]
