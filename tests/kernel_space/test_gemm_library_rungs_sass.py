"""What the compiler made of the mechanisms that are written with NVIDIA's C++ libraries."""

from __future__ import annotations

from pathlib import Path

import pytest
from cards import A100
from disassembly import compiled_by_nvrtc, instructions, named, opcode, places

from autotune.records import SourceUnit
from autotune.toolchain import source_digest
from autotune.toolchain.sources import scan
from kernel_space.gemm import Gemm, GemmProblem, ampere

NT = GemmProblem(4096, 4096, 4096)
CG = {"mechanism": "cg_memcpy_async", "stages": 1, "barriers": 0}
THREAD = {"mechanism": "pipeline_thread", "stages": 3, "barriers": 2}
BLOCK = {"mechanism": "pipeline_block", "stages": 3, "barriers": 0}
SMALL = {"tile_m": 64, "tile_n": 64, "warp_m": 32, "warp_n": 32}


def unit_of(problem: GemmProblem = NT, **changes) -> SourceUnit:
    config = Gemm().default(problem, A100).replace(**SMALL, **changes)
    assert Gemm().space(problem, A100).broken(config) is None
    return Gemm().unit(problem, config, A100)


@pytest.fixture
def sass(tmp_path: Path):
    """Return the instructions of a config's kernel, in order, each with its operands."""

    def of(arch: str = "sm_80", **changes) -> list[str]:
        return instructions(compiled_by_nvrtc(unit_of(**changes), arch).image, tmp_path)

    return of


def opcodes(found: list[str], name: str) -> set[str]:
    """Return the opcodes of a family; whether L2 fetches a whole line is the compiler's affair."""
    return {opcode(text).replace(".LTC128B", "") for text in named(found, name)}


@pytest.mark.parametrize(
    ("copy_bytes", "cache", "wanted"),
    [
        (4, "l1", "LDGSTS.E"),
        (8, "l1", "LDGSTS.E.64"),
        (16, "bypass", "LDGSTS.E.BYPASS.128"),
    ],
)
def test_the_type_of_a_pointer_decides_how_wide_a_group_copies(sass, copy_bytes, cache, wanted):
    found = sass(**CG, copy_bytes=copy_bytes, cache=cache)
    assert opcodes(found, "LDGSTS") == {wanted}
    assert not named(found, "LDG.")


def test_a_group_waits_for_all_of_its_copies_before_it_multiplies(sass):
    found = sass(**CG)
    assert [text.split(maxsplit=1)[1] for text in named(found, "DEPBAR.LE")] == ["SB0, 0x0"]
    assert len(named(found, "BAR.SYNC")) == 2  # complete, read
    copies, waits, products = (places(found, name) for name in ("LDGSTS", "DEPBAR.LE", "HMMA"))
    assert max(copies) < waits[0] < min(products)


@pytest.mark.parametrize(("barriers", "pending"), [(2, 2), (1, 1)])
def test_a_pipeline_of_a_thread_is_a_count_of_batches(sass, barriers, pending):
    found = sass(**(THREAD | {"barriers": barriers}))
    waits = {text.split(maxsplit=1)[1] for text in named(found, "DEPBAR.LE")}
    assert waits == {f"SB0, {hex(pending)}"}
    commits = named(found, "LDGDEPBAR")
    assert len(commits) == 2  # in the prologue, and one a round
    assert not [text for text in commits if text.startswith("@")]  # an empty batch counts, too
    assert len(named(found, "BAR.SYNC")) == 1 + barriers  # the first stage; then each round
    assert opcodes(found, "LDGSTS") == {"LDGSTS.E.BYPASS.128"}


@pytest.mark.parametrize(
    ("arch", "filled", "freed"),
    [
        ("sm_80", "ARRIVES.LDGSTSBAR.64", "ATOMS.ARRIVE.64"),
        ("sm_90a", "ARRIVES.LDGSTSBAR.64.TRANSCNT", "SYNCS.ARRIVE.TRANS64.A1T0"),
    ],
)
def test_a_pipeline_of_a_block_hands_stages_over_by_mbarriers(sass, arch, filled, freed):
    found = sass(arch, **BLOCK)
    assert len([text for text in found if opcode(text) == filled]) == 1
    assert opcodes(found, "LDGSTS") == {"LDGSTS.E.BYPASS.128"}
    copies, reads, products, releases = (
        places(found, name) for name in ("LDGSTS", "LDSM", "HMMA", freed)
    )
    assert max(reads) < max(releases)
    assert not named(found[min(copies) : max(products)], "BAR")  # nobody waits for the block


@pytest.mark.parametrize("how", [CG, THREAD, BLOCK], ids=lambda how: how["mechanism"])
def test_libraries_keep_no_slow_way_for_other_memory(sass, how):
    found = sass(**how)
    through_registers = [text for text in named(found, "STS.128") if "RZ" not in text]
    assert not through_registers  # what is stored is zeros, behind the ends of an operand
    assert not named(found, "LDG.")
    assert not named(found, "LD.E.128")


@pytest.mark.parametrize(
    ("dtype", "layout", "how"),
    [("fp32", "nn", CG), ("fp32", "tn", THREAD), ("fp16", "tt", BLOCK)],
)
def test_other_dtypes_and_layouts_compile_without_spills_or_warnings(dtype, layout, how):
    problem = GemmProblem(64, 64, 64, dtype, layout)
    resources = compiled_by_nvrtc(unit_of(problem, **how), "sm_90a").resources
    assert resources.spill_bytes == 0
    assert resources.warnings == ()


def test_only_what_is_written_with_a_library_waits_for_it():
    system = {}
    for config in Gemm().space(NT, A100).restricted({"mechanism": ampere.MECHANISMS}):
        mechanism = str(config["mechanism"])
        if mechanism not in system:
            system[mechanism] = scan(Gemm().unit(NT, config, A100)).system
    libraries = {mechanism: names for mechanism, names in system.items() if names}
    assert libraries == {
        "cg_memcpy_async": ("cooperative_groups/memcpy_async.h",),
        "pipeline_thread": ("cuda/pipeline",),
        "pipeline_block": ("cooperative_groups.h", "cuda/pipeline"),
    }


def test_the_source_is_one_with_and_without_a_library():
    plain = Gemm().unit(NT, Gemm().default(NT, A100), A100)
    assert source_digest(unit_of(**BLOCK)) == source_digest(plain)
