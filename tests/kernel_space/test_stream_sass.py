"""What the compiler made of the stream: each mechanism by the instructions that name it."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest
from cards import H200
from disassembly import compiled_by_nvrtc, instructions, opcode

from autotune.toolchain.compiler import Compiled
from kernel_space.stream import Stream, StreamProblem

SCALE = StreamProblem(1 << 20, "bf16", "scale")
RING = {"stages": 4, "blocks_per_sm": 2, "readers": "any"}


def compiled(problem: StreamProblem, arch: str, **changes) -> Compiled:
    kernel = Stream()
    config = kernel.default(problem, H200).replace(**changes)
    assert kernel.space(problem, H200).broken(config) is None
    return compiled_by_nvrtc(kernel.unit(problem, config, H200), arch)


@pytest.fixture
def sass(tmp_path: Path):
    """Return the instructions of a config's kernel, in order, each with its operands."""

    def of(problem: StreamProblem, arch: str, **changes) -> list[str]:
        return instructions(compiled(problem, arch, **changes).image, tmp_path)

    return of


def opcodes(found: list[str]) -> Counter[str]:
    return Counter(map(opcode, found))


def family(found: Counter[str], *names: str) -> set[str]:
    return {name for name in found if name.startswith(names)}


def shared_accesses(found: Counter[str]) -> set[str]:
    """Names of what touches shared memory; "LDS" is the compiler's own guard of copies."""
    return family(found, "LDS", "STS", "LDGSTS", "BAR", "SYNCS", "UBLKCP") - {"LDS"}


@pytest.mark.parametrize(("copy_bytes", "width"), [(4, ""), (8, ".64"), (16, ".128")])
def test_direct_loads_and_stores_have_the_width_of_the_config(sass, copy_bytes, width):
    found = opcodes(sass(SCALE, "sm_80", copy_bytes=copy_bytes))
    pieces = 32 // copy_bytes
    assert found[f"LDG.E.NA{width}"] == found[f"STG.E.NA{width}"] == pieces
    assert shared_accesses(found) == set()


@pytest.mark.parametrize(("copy_bytes", "store"), [(4, "STS"), (8, "STS.64"), (16, "STS.128")])
def test_sync1_goes_through_registers_with_two_barriers(sass, copy_bytes, store):
    found = opcodes(sass(SCALE, "sm_80", mechanism="sync1", readers="any", copy_bytes=copy_bytes))
    assert shared_accesses(found) == {store, "LDS.128", "BAR.SYNC.DEFER_BLOCKING"}
    assert found["BAR.SYNC.DEFER_BLOCKING"] == 2


@pytest.mark.parametrize(
    ("arch", "copy_bytes", "copy"),
    [
        ("sm_80", 4, "LDGSTS.E"),
        ("sm_80", 8, "LDGSTS.E.64"),
        ("sm_80", 16, "LDGSTS.E.BYPASS.128"),
        ("sm_90a", 16, "LDGSTS.E.BYPASS.128"),
    ],
)
@pytest.mark.parametrize("mechanism", ["cp_async", "pipeline_mbarrier"])
def test_asynchronous_copies_have_the_width_of_the_config(sass, arch, mechanism, copy_bytes, copy):
    found = opcodes(sass(SCALE, arch, **RING, mechanism=mechanism, copy_bytes=copy_bytes))
    assert family(found, "LDGSTS") == {copy}
    assert family(found, "STS") <= {"STS.64"}  # barriers are initialised by such stores on sm_80
    assert not family(found, "LDG.E.NA")


@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("mechanism", ["cp_async", "pipeline_mbarrier"])
def test_no_copy_has_a_descriptor_that_the_hardware_cannot_name(sass, mechanism, stages):
    """Descriptors are pairs that start at an even register; a GPU stops at any other."""
    changes = RING | {"stages": stages, "mechanism": mechanism, "eviction": "first"}
    copies = [text for text in sass(SCALE, "sm_90a", **changes) if "LDGSTS" in text]
    pairs = [int(found) for text in copies for found in re.findall(r"desc\[UR(\d+)\]", text)]
    assert pairs
    assert not [pair for pair in pairs if pair % 2]


@pytest.mark.parametrize("stages", [1, 3, 8])
def test_the_ring_waits_until_only_the_oldest_batch_has_arrived(sass, stages):
    changes = RING | {"stages": stages, "mechanism": "cp_async", "thread_bytes": 16}
    instructions = sass(SCALE, "sm_90a", **changes)
    waits = [text for text in instructions if re.search(r"\bDEPBAR\.LE\b", text)]
    assert len(waits) == 1
    assert waits[0].endswith(f"SB0, {hex(stages - 1)}")
    commits = [text for text in instructions if "LDGDEPBAR" in text]
    assert len(commits) == 2  # one in the prologue, one a round
    assert not any(text.startswith("@") for text in commits)  # empty batches too


def test_a_thread_that_reads_its_own_copies_needs_no_barrier(sass):
    own = opcodes(sass(SCALE, "sm_80", **(RING | {"readers": "own"}), mechanism="cp_async"))
    both = opcodes(sass(SCALE, "sm_80", **RING, mechanism="cp_async"))
    assert own["BAR.SYNC.DEFER_BLOCKING"] == 0
    assert both["BAR.SYNC.DEFER_BLOCKING"] == 2


@pytest.mark.parametrize(
    ("arch", "arrivals"),
    [
        ("sm_80", {"ARRIVES.LDGSTSBAR.64", "ATOMS.ARRIVE.64"}),
        ("sm_90a", {"ARRIVES.LDGSTSBAR.64.ARVCNT", "SYNCS.ARRIVE.TRANS64.A1T0"}),
    ],
)
def test_mbarriers_hand_stages_over(sass, arch, arrivals):
    found = opcodes(sass(SCALE, arch, **RING, mechanism="pipeline_mbarrier"))
    assert family(found, "ARRIVES", "ATOMS", "SYNCS.ARRIVE") == arrivals
    assert found["BAR.SYNC.DEFER_BLOCKING"] == 1  # the barriers are initialised


@pytest.mark.parametrize(("operation", "copies"), [("copy", 1), ("scale", 1), ("triad", 2)])
def test_the_copy_engine_loads_each_input_with_one_instruction(sass, operation, copies):
    problem = StreamProblem(1 << 20, "fp32", operation)
    found = opcodes(sass(problem, "sm_90a", **RING, mechanism="bulk"))
    assert found["UBLKCP.S.G"] == copies
    assert not family(found, "LDGSTS", "LDG.E.NA", "STS", "UBLKCP.G.S")


def test_a_stage_is_given_back_to_the_copy_engine_once_its_pieces_are_stored(sass):
    found = sass(SCALE, "sm_90a", **RING, mechanism="bulk")
    last_store = max(i for i, text in enumerate(found) if "STG.E.NA" in text)
    releases = [i for i, text in enumerate(found) if "SYNCS.ARRIVE.TRANS64.A1T0" in text]
    assert releases
    assert last_store < releases[0]


def test_the_copy_engine_stores_what_threads_have_fenced(sass):
    instructions = sass(SCALE, "sm_90a", **RING, mechanism="bulk", store="bulk")
    order = [
        next(i for i, text in enumerate(instructions) if re.search(pattern, text))
        for pattern in (r"\bSTS\.128", r"\bUBLKCP\.G\.S")
    ]
    between = opcodes(instructions[order[0] : order[1]])
    assert {"FENCE.VIEW.ASYNC.S", "BAR.SYNC.DEFER_BLOCKING"} <= set(between)
    assert not family(opcodes(instructions), "STG.E.NA")


def test_a_copy_by_the_engine_alone_never_passes_registers(sass):
    copy = StreamProblem(1 << 20)
    found = opcodes(sass(copy, "sm_90a", **RING, mechanism="bulk", store="bulk"))
    assert {"UBLKCP.S.G", "UBLKCP.G.S"} <= set(found)
    assert not family(found, "LDS", "STS", "LDG.E.NA", "STG.E.NA")


@pytest.mark.parametrize("operation", ["copy", "triad"])
@pytest.mark.parametrize("mechanism", ["direct", "sync1", "cp_async", "pipeline_mbarrier", "bulk"])
def test_nothing_that_the_rules_allow_spills(mechanism, operation):
    problem = StreamProblem(1 << 20, "bf16", operation)
    space = Stream().space(problem, H200).restricted({"mechanism": [mechanism]})
    configs = list(space)
    heaviest = max(configs, key=lambda c: (c["thread_bytes"] * c["threads"], -c["copy_bytes"]))
    for config in [heaviest, *random.Random(0).sample(configs, 1)]:
        resources = compiled(problem, "sm_90a", **config).resources
        assert (resources.spill_bytes, resources.warnings) == (0, ()), config
