from __future__ import annotations

import pytest
from cards import H200, RTX_3090
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel_space.gemm import Gemm, GemmProblem, ampere

ALIGNED = GemmProblem(4096, 4096, 4096)
COPYING = {"mechanism": ampere.MECHANISMS}
GOOD = Gemm().default(ALIGNED, RTX_3090).replace(warp_n=64, raster_group=8)
SYNC2 = {"mechanism": "sync2", "stages": 2, "barriers": 0, "cache": "l1"}
MBARRIER = {"mechanism": "mbarrier", "barriers": 0}
WS = {"mechanism": "ws_cp_async", "barriers": 0}
CG = {"mechanism": "cg_memcpy_async", "stages": 1, "barriers": 0}
BLOCK = {"mechanism": "pipeline_block", "barriers": 0}
EXTENTS = st.one_of(st.integers(0, 300), st.sampled_from([1022, 3001, 4096, 4100, 16384]))


def broken(problem=ALIGNED, target=H200, **changes):
    return Gemm().space(problem, target).broken(GOOD.replace(**changes))


def copying_space(problem=ALIGNED):
    """Return the part of the space whose mechanisms this file is about."""
    return Gemm().space(problem, H200).restricted(COPYING)


@pytest.mark.parametrize(
    ("changes", "name", "numbers"),
    [
        ({"tile_m": 32}, "warp_tile", "64 rows is taller than the block's 32"),
        ({"tile_n": 32}, "warp_tile", "64 columns is wider than the block's 32"),
        ({"tile_m": 256, "tile_n": 256, "warp_m": 32, "warp_n": 32}, "threads", "64 warps"),
        ({"tile_m": 64, "tile_n": 64}, "threads", "only warp"),
        ({**WS, "tile_m": 64, "tile_n": 64}, "threads", "only warp that multiplies"),
        ({**WS, "tile_n": 256, "warp_m": 32}, "threads", "20 warps are 640 threads"),
        ({**CG, "warp_m": 32}, "library_shapes", "128x128 by warps of 32x64 is none of them"),
        ({"tile_k": 16}, "fragments", "a tile of 16 is 1 step"),
        ({"stages": 8, "tile_k": 64}, "shared_memory", "262144, more than 232448"),
        ({"mechanism": "sync1", "cache": "l1"}, "stages", "sync1 holds 1"),
        ({"mechanism": "sync2", "cache": "l1"}, "stages", "sync2 holds 2"),
        ({"mechanism": "sync2_smem", "cache": "l1"}, "stages", "sync2_smem holds 2"),
        ({**MBARRIER, "stages": 1}, "stages", "mbarrier holds 2 to 8"),
        ({**WS, "stages": 9}, "stages", "ws_cp_async holds 2 to 8"),
        ({**CG, "stages": 2}, "stages", "cg_memcpy_async holds 1 in shared memory, not 2"),
        ({**BLOCK, "stages": 1}, "stages", "pipeline_block holds 2 to 8"),
        ({"barriers": 0}, "barriers", "cp_async has 1 or 2 here, not 0"),
        ({**MBARRIER, "barriers": 2}, "barriers", "mbarrier has 0 here, not 2"),
        ({"barriers": 1, "stages": 1}, "barriers", "that takes two"),
        ({"copy_bytes": 2, "cache": "l1"}, "copy_size", "4, 8 or 16 bytes, not 2"),
        ({**SYNC2, "copy_bytes": 2}, "copy_size", "these allow 16 bytes"),
        ({**MBARRIER, "copy_bytes": 8, "cache": "l1"}, "copy_size", "these rows allow 16"),
        ({"barriers": 1, "copy_bytes": 8, "cache": "l1"}, "copy_size", "these rows allow 16"),
        ({"barriers": 1, "cache": "l1"}, "cache", "through L1 are tried elsewhere"),
        ({**CG, "cache": "l1"}, "cache", "libraries let 16-byte copies bypass L1"),
        ({"copy_bytes": 8}, "cache", "not 8-byte ones"),
        ({**SYNC2, "cache": "bypass"}, "cache", "sync2 copies through registers"),
        (
            {"tile_m": 32, "tile_n": 256, "warp_m": 16, "warp_n": 32},
            "divisibility",
            "512 threads copy 8192 bytes at once; a tile of A is 2048",
        ),
        (
            {"tile_m": 256, "tile_n": 256},
            "registers",
            "512 threads have 128 registers each and need about",
        ),
    ],
)
def test_each_rule_removes_what_it_says_with_numbers(changes, name, numbers):
    found = broken(**changes)
    assert found is not None
    assert found[0] == name
    assert numbers in found[1]


def test_the_config_that_the_rules_are_tried_on_is_valid():
    assert broken() is None


@pytest.mark.parametrize(
    ("k", "layout", "widest"), [(4096, "nt", 16), (4100, "nt", 8), (1022, "nt", 4), (4100, "nn", 8)]
)
def test_alignment_of_this_problem_limits_the_copy(k, layout, widest):
    problem = GemmProblem(4096, 4096, k, "bf16", layout)
    for size in (4, 8, 16):
        found = broken(problem, copy_bytes=size, cache="l1")
        if size <= widest:
            assert found is None
        else:
            assert found == (
                "alignment",
                f"rows along k are {2 * k} bytes, not a multiple of {size}",
            )


def test_odd_rows_leave_two_byte_loads_through_registers():
    space = copying_space(GemmProblem(4096, 4096, 3001))
    kinds = {(config["mechanism"], config["copy_bytes"]) for config in space}
    assert kinds == {("sync1", 2), ("sync2_smem", 2), ("sync2", 2)}
    assert set(space.census().removed) >= {"alignment", "copy_size"}


def test_fp32_never_needs_copies_smaller_than_an_element():
    space = copying_space(GemmProblem(999, 999, 999, "fp32"))
    assert {config["copy_bytes"] for config in space} == {4}
    assert {config["mechanism"] for config in space} == set(ampere.MECHANISMS)


def test_a_band_is_never_wider_than_the_grid():
    problem = GemmProblem(16, 4096, 4096)
    found = broken(problem, raster="along_n")
    assert found == ("raster", "a band of 8 tiles is wider than the grid of 1")
    assert broken(problem, raster="along_m") is None


def test_a_smaller_device_removes_what_does_not_fit():
    assert broken(stages=6) is None
    assert broken(target=RTX_3090, stages=7, tile_k=32) == (
        "shared_memory",
        "7 stages of 16384 bytes are 114688, more than 101376",
    )


def test_an_aligned_problem_has_thousands_of_configs_of_every_kind():
    configs = list(copying_space())
    assert 5_000 < len(configs) < 50_000
    assert len(set(configs)) == len(configs)
    assert {config["mechanism"] for config in configs} == set(COPYING["mechanism"])
    assert {config["stages"] for config in configs} == set(range(1, 9))
    assert {config["copy_bytes"] for config in configs} == {4, 8, 16}


def test_the_census_adds_up_and_names_every_rule():
    census = copying_space(GemmProblem(64, 4096, 4100)).census()
    assert census.valid + sum(census.removed.values()) == census.total
    assert set(census.removed) >= {
        "warp_tile",
        "threads",
        "stages",
        "shared_memory",
        "alignment",
        "copy_size",
        "cache",
        "divisibility",
        "registers",
        "raster",
    }


def test_a_library_is_tried_with_few_shapes_and_every_copy_that_its_types_allow():
    space = copying_space().restricted({"mechanism": ["cg_memcpy_async"]})
    assert {(config["copy_bytes"], config["cache"]) for config in space} == {
        (4, "l1"),
        (8, "l1"),
        (16, "bypass"),
    }
    assert {(config["tile_m"], config["tile_n"]) for config in space} == {
        (64, 64),
        (128, 128),
        (128, 256),
    }


def test_parameters_that_a_mechanism_ignores_are_pinned():
    for config in copying_space():
        if config["mechanism"].startswith("sync"):
            assert config["cache"] == "l1"
            assert config["stages"] == (1 if config["mechanism"] == "sync1" else 2)
        if config["mechanism"] not in {"cp_async", "pipeline_thread"}:
            assert config["barriers"] == 0
        if config["copy_bytes"] != 16:
            assert config["cache"] == "l1"
        assert config["repack"] == "none"


@settings(max_examples=200, deadline=None)
@given(
    m=EXTENTS,
    n=EXTENTS,
    k=EXTENTS,
    dtype=st.sampled_from(["bf16", "fp16", "fp32"]),
    layout=st.sampled_from(["nn", "nt", "tn", "tt"]),
    target=st.sampled_from([H200, RTX_3090]),
)
def test_the_default_is_valid_for_every_problem(m, n, k, dtype, layout, target):
    kernel = Gemm()
    problem = GemmProblem(m, n, k, dtype, layout)
    assert kernel.space(problem, target).broken(kernel.default(problem, target)) is None


def test_a_config_fits_every_problem_that_meets_its_conditions():
    kernel = Gemm()
    conditions = kernel.conditions(ALIGNED, GOOD)
    other = GemmProblem(1000, 3001, 4104)
    assert all(getattr(other, c.field) % c.multiple_of == 0 for c in conditions)
    assert kernel.space(other, H200).broken(GOOD.replace(raster_group=1)) is None
