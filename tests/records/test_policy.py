from __future__ import annotations

import pytest

from autotune.records import PRESETS, Policy

# As a database of version 0.1 holds it, with the key that it was stored under.
STORED = {
    "warmup_ms": 2.0,
    "min_samples": 3,
    "max_samples": 11,
    "budget_ms": 12.0,
    "sample_us": 300.0,
    "cache": "cold",
    "verify": True,
    "draws": 1,
    "repeats": 2,
    "seed": 0,
}
STORED_KEY = "f5ace6549ba6b679f720f9fba34f1cb7"


def test_a_policy_stored_before_precision_and_stops_keeps_its_key_and_does_as_it_did():
    policy = Policy(**STORED)
    assert policy.key == STORED_KEY
    assert (policy.precision, policy.stop_factor) == (0.0, 0.0)


@pytest.mark.parametrize("field", ["precision", "stop_factor"])
def test_to_ask_for_what_came_later_is_another_policy(field):
    policy = Policy(**STORED)
    assert policy.replace(**{field: 0.01}).key != policy.key
    assert policy.replace(**{field: 0.01}).replace(**{field: 0.0}).key == policy.key


def test_each_preset_is_more_precise_than_the_one_before():
    precisions = [PRESETS[name].precision for name in ("quick", "standard", "careful")]
    assert 0 < precisions[2] < precisions[1] < precisions[0]
