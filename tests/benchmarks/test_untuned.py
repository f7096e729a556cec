"""What is judged of untuned problems is what the recording knows."""

from __future__ import annotations

import pytest
import untuned

from autotune.device import recordings


@pytest.fixture(scope="module")
def problems():
    return untuned.answered(recordings()["h200"])


def test_each_rule_is_held_against_the_nearest_on_the_same_problems(problems):
    rows = {row["rule"]: row for row in untuned.judge(problems)}
    nearest = rows["nearest"]
    assert nearest["mean_on_both"] == nearest["against"] == nearest["mean"]
    assert 0 < nearest["judged"] <= len(problems)
    for row in rows.values():
        assert row["on_both"] <= min(row["judged"], nearest["judged"])
    assert rows["best weights"]["mean_on_both"] <= rows["best weights"]["against"]


def test_more_configs_never_lose_more_once_all_are_served(problems):
    rows = [row for row in untuned.losses(problems) if row["served"] == len(problems)]
    assert rows[-1]["mean"] == 0.0
    assert [row["mean"] for row in rows] == sorted((row["mean"] for row in rows), reverse=True)
