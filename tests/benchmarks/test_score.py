"""Runs of ``autotune score`` become one file, unless they are of different things."""

from __future__ import annotations

import pytest
import score


def run(sampler, *, problem=1, prior=False):
    space = {"recording": "r", "kernel": "k", "problem": {"x": problem}, "device": "d"}
    row = {**space, "configs": 9, "right": 8, "sampler": sampler, "curve": [0.5]}
    numbers = {"score": 0.123456, "interval": [0.1, 0.2], "tail": 0.0, "until": {}, "quality": {}}
    mean = {"sampler": sampler, "spaces": 1, "score": 0.1, "interval": [0.1, 0.2], "tail": 0.0}
    setting = {"seed": 0, "prior": prior, "equal_costs": False, "repeats": 5, "command": "c"}
    return {**setting, "means": [mean], "scores": [{**row, **numbers}]}


def test_samplers_of_several_runs_stand_in_one_group():
    group = {}
    for name in ("a", "b"):
        score.merge(group, run(name))
    assert list(group["samplers"]) == ["a", "b"]
    (each,) = group["samplers"]["a"]["each"]
    assert each["score"] == 0.1235
    assert "curve" not in each
    assert group["spaces"][0]["problem"] == {"x": 1}


@pytest.mark.parametrize("other", [{"problem": 2}, {"prior": True}])
def test_runs_of_different_things_are_not_put_together(other):
    group = {}
    score.merge(group, run("a"))
    with pytest.raises(SystemExit, match="other spaces, or another setting"):
        score.merge(group, run("b", **other))
