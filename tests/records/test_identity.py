from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.records import (
    STANDARD,
    DeviceIdentity,
    Policy,
    Target,
    Toolchain,
    canonical_json,
    digest,
    digest_bytes,
)

TARGET = Target(
    arch="sm_90a",
    sm_count=132,
    shared_bytes_per_block=232448,
    shared_bytes_per_sm=233472,
    l2_bytes=52428800,
)
DEVICE = DeviceIdentity(
    kind="cuda",
    name="NVIDIA H200",
    target=TARGET,
    memory_bytes=150_000_000_000,
    driver="580.1",
    uuid="GPU-1",
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@settings(deadline=None)
@given(value=st.dictionaries(st.text(max_size=4), JSON, max_size=4), data=st.data())
def test_a_digest_does_not_depend_on_the_order_of_keys(value, data):
    shuffled = dict(data.draw(st.permutations(list(value.items()))))
    assert digest(shuffled) == digest(value)


def test_digests_and_canonical_json_never_change_between_versions():
    assert canonical_json({"b": [1, "é"], "a": None}) == '{"a":null,"b":[1,"\\u00e9"]}'
    assert digest({"tile": 64}) == digest_bytes(b'{"tile":64}')
    assert digest_bytes(b"") == "cae66941d9efbd404e4d88758ea67670"


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_json_cannot_say_has_no_identity(number):
    with pytest.raises(ValueError, match="JSON compliant"):
        digest({"time": number})
    with pytest.raises(TypeError):
        digest({"tile": {1, 2}})


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(Policy)])
def test_every_field_of_a_policy_is_part_of_its_identity(field):
    value = getattr(STANDARD, field)
    other = f"not {value}" if isinstance(value, str) else (not value) if value is True else 99
    assert dataclasses.replace(STANDARD, **{field: other}).key != STANDARD.key


def test_equal_cards_share_results_and_nothing_else_does():
    assert dataclasses.replace(DEVICE, uuid="GPU-2").key == DEVICE.key
    for change in (
        {"driver": "581.0"},
        {"name": "NVIDIA H100"},
        {"memory_bytes": 80_000_000_000},
        {"target": dataclasses.replace(TARGET, sm_count=114)},
    ):
        assert dataclasses.replace(DEVICE, **change).key != DEVICE.key


def test_a_toolchain_is_its_compiler_and_version():
    one = Toolchain(compiler="nvrtc", version="13.0")
    assert one.key == Toolchain(compiler="nvrtc", version="13.0").key
    assert one.key != Toolchain(compiler="nvrtc", version="13.1").key
    assert one.key != Toolchain(compiler="nvcc", version="13.0").key


@pytest.mark.parametrize(
    ("arch", "capability"), [("sm_90a", 90), ("sm_86", 86), ("sm_100a", 100), ("x86_64", 0)]
)
def test_capability_is_read_from_the_architecture(arch, capability):
    assert dataclasses.replace(TARGET, arch=arch).capability == capability
