"""The figure by which searches of several goals are compared."""

from __future__ import annotations

from contextlib import closing

import goals
import pytest

from autotune.device import open_device
from autotune.records import Limits


def test_an_area_is_that_below_the_edge_which_some_point_dominates():
    assert goals.area([(1.0, 3.0), (2.0, 1.0), (2.5, 2.0), (9.0, 0.0)], (4.0, 5.0)) == 3 * 2 + 2 * 2
    assert goals.area([], (4.0, 5.0)) == 0


def test_searches_are_scored_on_the_recording(monkeypatch):
    monkeypatch.setattr(goals, "SHAPES", goals.SHAPES[:1])
    monkeypatch.setattr(goals, "FURTHER", goals.FURTHER[:1])
    with closing(open_device("recording:h200", limits=Limits())) as device:
        [row] = goals.searched(device, seeds=1, trials=40)

    assert row["further"] == "shared_memory"
    assert all(0 < row[sampler]["mean"] <= 1 for sampler in goals.SAMPLERS)
    assert row["random"]["mean"] == pytest.approx(row["random"]["worst"])
