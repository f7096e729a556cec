"""What the compiler made of the GEMM sources: one cubin for each kind, disassembled."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from cards import A100, H200
from disassembly import (
    SCOREBOARDS,
    compiled_by_nvrtc,
    instructions,
    named,
    opcode,
    places,
    scheduled,
)

from autotune.records import Config
from autotune.toolchain.compiler import Compiled
from kernel_space.gemm import Gemm, GemmProblem
from kernel_space.gemm.ampere.mechanisms import TRAITS

HEADER_FREE = [name for name, traits in TRAITS.items() if not traits.includes]
SMALL = {"tile_m": 32, "tile_n": 64, "tile_k": 32, "warp_m": 16, "warp_n": 32}
SYNC1 = {"mechanism": "sync1", "stages": 1, "barriers": 0, "cache": "l1"}
SYNC2_SMEM = {"mechanism": "sync2_smem", "stages": 2, "barriers": 0, "cache": "l1"}
SYNC2 = SYNC2_SMEM | {"mechanism": "sync2"}
ONE_BARRIER = {"barriers": 1}
MBARRIER = {"mechanism": "mbarrier", "barriers": 0}
WS = {"mechanism": "ws_cp_async", "barriers": 0}


def config(problem: GemmProblem, **changes) -> Config:
    return Gemm().default(problem, A100).replace(**changes)


def compiled(problem: GemmProblem, chosen: Config, arch: str) -> Compiled:
    return compiled_by_nvrtc(Gemm().unit(problem, chosen, A100), arch)


@pytest.fixture
def sass(tmp_path: Path):
    """Return the instructions of a config's kernel, in order, each with its operands."""

    def of(problem: GemmProblem, arch: str = "sm_80", **changes) -> list[str]:
        return instructions(compiled(problem, config(problem, **changes), arch).image, tmp_path)

    return of


def opcodes(found: list[str]) -> set[str]:
    return set(map(opcode, found))


def family(found: list[str], *names: str) -> set[str]:
    return {name for name in opcodes(found) if name.startswith(names)}


NT = GemmProblem(4096, 4096, 4096)


@pytest.mark.parametrize(
    ("copy_bytes", "cache", "wanted"),
    [
        (4, "l1", "LDGSTS.E.LTC128B"),
        (8, "l1", "LDGSTS.E.LTC128B.64"),
        (16, "l1", "LDGSTS.E.LTC128B.128"),
        (16, "bypass", "LDGSTS.E.BYPASS.LTC128B.128"),
    ],
)
def test_asynchronous_copies_have_the_width_and_cache_of_the_config(
    sass, copy_bytes, cache, wanted
):
    found = opcodes(sass(NT, **SMALL, copy_bytes=copy_bytes, cache=cache))
    assert {name for name in found if name.startswith("LDGSTS")} == {wanted}
    assert not {name for name in found if name.startswith(("LDG.", "STS"))}


@pytest.mark.parametrize("ring", [ONE_BARRIER, MBARRIER, WS])
@pytest.mark.parametrize(
    ("k", "copy_bytes", "cache", "wanted"),
    [
        (4098, 4, "l1", "LDGSTS.E.LTC128B"),
        (4100, 8, "l1", "LDGSTS.E.LTC128B.64"),
        (4096, 16, "bypass", "LDGSTS.E.BYPASS.LTC128B.128"),
    ],
)
def test_every_ring_copies_as_much_at_a_time_as_rows_allow(
    sass, ring, k, copy_bytes, cache, wanted
):
    problem = GemmProblem(4096, 4096, k)
    found = sass(problem, "sm_90a", **SMALL, **ring, copy_bytes=copy_bytes, cache=cache)
    assert family(found, "LDGSTS") == {wanted}
    assert not family(found, "LDG.", "STS")


@pytest.mark.parametrize(
    ("mechanism", "copy_bytes", "load", "store"),
    [
        (SYNC1, 2, "LDG.E.U16.CONSTANT", "STS.U16"),
        (SYNC1, 8, "LDG.E.64.CONSTANT", "STS.64"),
        (SYNC2_SMEM, 16, "LDG.E.128.CONSTANT", "STS.128"),
        (SYNC2, 4, "LDG.E.CONSTANT", "STS"),
        (SYNC2, 16, "LDG.E.128.CONSTANT", "STS.128"),
    ],
)
def test_synchronous_copies_go_through_registers(sass, mechanism, copy_bytes, load, store):
    found = opcodes(sass(NT, **SMALL, **mechanism, copy_bytes=copy_bytes))
    assert {name for name in found if name.startswith("LDG")} == {load}
    assert {name for name in found if name.startswith("STS")} == {store}


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [("bf16", "HMMA.16816.F32.BF16"), ("fp16", "HMMA.16816.F32"), ("fp32", "FFMA")],
)
def test_each_dtype_uses_its_units(sass, dtype, wanted):
    found = opcodes(sass(GemmProblem(64, 64, 64, dtype), **SMALL))
    units = {name for name in found if name.startswith("HMMA")} | (found & {"FFMA"})
    assert units == {wanted}


@pytest.mark.parametrize(
    ("layout", "plain", "transposed"),
    [("nt", True, False), ("tn", False, True), ("nn", True, True), ("tt", True, True)],
)
def test_fragments_are_transposed_on_their_way_out_of_shared_memory(
    sass, layout, plain, transposed
):
    found = opcodes(sass(GemmProblem(64, 64, 64, "bf16", layout), **SMALL))
    assert ("LDSM.16.M88.4" in found) is plain
    assert ("LDSM.16.MT88.4" in found) is transposed


@pytest.mark.parametrize(
    ("stages", "barriers", "left"), [(2, 2, 1), (5, 2, 4), (3, 1, 1), (5, 1, 3)]
)
def test_the_ring_waits_until_only_the_oldest_stage_has_arrived(sass, stages, barriers, left):
    instructions = sass(NT, **SMALL, stages=stages, barriers=barriers)
    waits = {text.removeprefix("DEPBAR.LE ") for text in named(instructions, "DEPBAR.LE")}
    assert waits == {f"SB0, {hex(left)}"}
    commits = named(instructions, "LDGDEPBAR")
    assert len(commits) == 2  # one in the prologue, one a round
    assert not any(text.startswith("@") for text in commits)  # empty batches, too


def test_a_round_has_the_barriers_that_its_mechanism_needs(sass):
    def barriers(**changes) -> int:
        return len(named(sass(NT, **SMALL, **changes), "BAR.SYNC.DEFER_BLOCKING"))

    assert barriers(**SYNC1) == 2  # complete, read
    assert barriers(**SYNC2_SMEM) == 1 + 1  # the first tile; then both at once
    assert barriers(**SYNC2) == 1 + 1
    assert barriers(stages=3) == 1 + 2  # the first stage; then read, and arrived
    assert barriers(**ONE_BARRIER, stages=3) == 1 + 1  # the first stage; then both at once
    assert barriers(**MBARRIER, stages=3) == 1  # the mbarriers are initialised
    assert barriers(**WS, stages=3) == 1


@pytest.mark.parametrize("ring", [MBARRIER, WS])
@pytest.mark.parametrize(
    ("arch", "wanted"),
    [
        ("sm_80", {"ARRIVES.LDGSTSBAR.64", "ATOMS.ARRIVE.64"}),
        (
            "sm_90a",
            {
                "ARRIVES.LDGSTSBAR.64.ARVCNT",
                "SYNCS.ARRIVE.TRANS64.A1T0",
                "SYNCS.EXCH.64",
                "SYNCS.PHASECHK.TRANS64.TRYWAIT",
            },
        ),
    ],
)
def test_mbarriers_hand_stages_over(sass, ring, arch, wanted):
    found = sass(NT, arch, **SMALL, **ring)
    assert family(found, "ARRIVES", "ATOMS", "SYNCS") == wanted
    assert not named(found, "LDGDEPBAR")
    releases = places(found, "SYNCS.ARRIVE", "ATOMS.ARRIVE")
    assert len(releases) == 1  # one thread of each warp


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_specialized_warps_either_copy_or_multiply(sass, arch):
    found = sass(NT, arch, **SMALL, **WS)
    copies, products = places(found, "LDGSTS"), places(found, "LDSM", "HMMA")
    assert len(copies) == (32 + 64) * 32 * 2 // (128 * 16)  # one round's, of 128 threads
    assert max(copies) < min(products) or min(copies) > max(products)
    assert named(found, "DEPBAR.LE") == ["DEPBAR.LE SB0, 0x0"]  # none is left behind


@pytest.mark.parametrize("ring", [MBARRIER, WS])
@pytest.mark.parametrize("dtype", ["bf16", "fp32"])
def test_a_stage_is_released_when_its_fragments_have_come(tmp_path, dtype, ring):
    problem = GemmProblem(4096, 4096, 4096, dtype)
    image = compiled(problem, config(problem, **SMALL, **ring), "sm_90a").image
    coming: dict[int, int] = {}  # loads from shared memory: where they stand, and their scoreboard
    latest_wait = releases = 0
    for place, (text, scoreboard, waits) in enumerate(scheduled(image, tmp_path)):
        coming = {load: each for load, each in coming.items() if each not in waits}
        if opcode(text).startswith("LDS") and scoreboard in SCOREBOARDS:
            coming[place] = scoreboard
        if opcode(text).startswith("SYNCS.PHASECHK"):
            latest_wait = place
        if opcode(text).startswith("SYNCS.ARRIVE"):
            releases += 1
            assert not [load for load in coming if load < latest_wait]  # the next stage's may be
    assert releases == 1


@pytest.mark.parametrize(("dtype", "tile_k"), [("bf16", 32), ("fp32", 16)])
@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_89", "sm_100a"])
def test_every_target_gets_a_cubin_without_spills(arch, dtype, tile_k):
    problem = GemmProblem(64, 64, 64, dtype)
    chosen = config(problem, **(SMALL | {"tile_k": tile_k}))
    assert compiled(problem, chosen, arch).resources.spill_bytes == 0


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize(
    ("dtype", "mechanism"),
    [("bf16", SYNC1), ("fp16", SYNC2), ("fp16", {}), ("fp32", SYNC2), ("fp32", {})],
)
def test_every_layout_compiles_without_spills_or_warnings(dtype, layout, mechanism):
    problem = GemmProblem(64, 64, 64, dtype, layout)
    resources = compiled(problem, config(problem, **SMALL, **mechanism), "sm_90a").resources
    assert resources.spill_bytes == 0
    assert resources.warnings == ()


@pytest.mark.parametrize("dtype", ["bf16", "fp32"])
@pytest.mark.parametrize("mechanism", HEADER_FREE)
def test_nothing_that_the_rules_allow_spills(mechanism, dtype):
    problem = GemmProblem(4096, 4096, 4096, dtype)
    kernel = Gemm()
    configs = list(kernel.space(problem, H200).restricted({"mechanism": [mechanism]}))
    heaviest = max(configs, key=lambda c: (c["warp_m"] * c["warp_n"], c["tile_m"] * c["tile_n"]))
    for chosen in [heaviest, *random.Random(mechanism).sample(configs, 1)]:
        resources = compiled(problem, chosen, "sm_90a").resources
        assert (resources.spill_bytes, resources.warnings) == (0, ()), chosen


@pytest.mark.parametrize("k", [4096, 4100, 3001])
def test_the_default_touches_no_local_memory(sass, k):
    found = opcodes(sass(GemmProblem(4096, 4096, k), "sm_90a"))
    assert not {name for name in found if name.startswith(("LDL", "STL"))}
