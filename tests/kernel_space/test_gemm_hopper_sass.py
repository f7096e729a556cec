"""What the compiler made of Hopper's mechanisms: each cubin holds what its knobs name."""

from __future__ import annotations

import pytest
from cards import H200
from disassembly import compiled_by_nvrtc, instructions, opcode

from kernel_space.gemm import Gemm, GemmProblem

NT = GemmProblem(4096, 4096, 4096)


def compiled(problem, **changes):
    config = Gemm().default(problem, H200).replace(**changes)
    return compiled_by_nvrtc(Gemm().unit(problem, config, H200), H200.arch)


@pytest.fixture
def opcodes(tmp_path):
    """Return the opcodes in the kernel of the default config with some knobs turned."""

    def of(problem=NT, **changes):
        return set(map(opcode, instructions(compiled(problem, **changes).image, tmp_path)))

    return of


def starting(found, name):
    return {opcode for opcode in found if opcode.startswith(name)}


@pytest.mark.parametrize("mechanism", ["tma", "ws_basic", "ws_cooperative", "ws_pingpong"])
def test_tensor_copies_fill_the_ring_and_warp_groups_multiply(opcodes, mechanism):
    found = opcodes(mechanism=mechanism, stages=4)
    assert "HGMMA.64x128x16.F32.BF16" in found
    assert starting(found, "UTMALDG.2D")
    assert starting(found, "UTMASTG.2D")
    assert starting(found, "SYNCS")
    assert not starting(found, "HMMA")
    assert not starting(found, "LDGSTS")


def test_only_specialized_warps_trade_registers(opcodes):
    assert starting(opcodes(), "USETMAXREG")
    assert not starting(opcodes(mechanism="tma", stages=4), "USETMAXREG")


@pytest.mark.parametrize("cluster", [{"cluster_m": 2}, {"cluster_n": 4}])
def test_blocks_of_a_cluster_send_each_other_what_they_share(opcodes, cluster):
    assert starting(opcodes(**cluster), "UTMALDG.2D.MULTICAST")
    assert not starting(opcodes(), "UTMALDG.2D.MULTICAST")


def test_rows_that_no_tensor_copy_can_store_leave_by_plain_stores(opcodes):
    found = opcodes(GemmProblem(512, 4095, 512))
    assert starting(found, "UTMALDG")
    assert not starting(found, "UTMASTG")
    assert starting(found, "STG.E.U16")


def test_parts_of_a_split_product_are_read_from_other_blocks(opcodes):
    found = opcodes(GemmProblem(128, 512, 4096), mechanism="ws_cooperative", split_k=4)
    assert starting(found, "UCGABAR")
    assert not starting(found, "RED")
    assert not starting(found, "ATOM")


@pytest.mark.parametrize(
    ("keep", "high_words"), [("neither", {"0x10000000"}), ("a", {"0x120", "0x140"})]
)
def test_copies_have_no_policy_unless_an_operand_is_to_be_kept(tmp_path, keep, high_words):
    """createpolicy's evict_normal would be 0x160: slower than no policy, and meant for no copy."""
    image = compiled(GemmProblem(16, 4096, 7168), keep=keep).image
    found = {text.split()[-1] for text in instructions(image, tmp_path) if "UMOV" in text}
    assert found & {"0x10000000", "0x120", "0x140", "0x160"} == high_words


@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_no_default_spills_or_serializes(dtype, layout):
    resources = compiled(GemmProblem(512, 512, 512, dtype, layout)).resources
    assert resources.spill_bytes == 0
    assert resources.warnings == ()


@pytest.mark.parametrize(
    ("tile", "stages", "cluster"),
    [
        ((192, 192), 4, (1, 2)),
        ((192, 128), 4, (2, 2)),
        ((128, 256), 4, (2, 2)),
        ((192, 128), 4, (4, 2)),
        ((256, 128), 4, (1, 4)),
        ((128, 256), 4, (4, 2)),
    ],
    ids=str,
)
@pytest.mark.parametrize("in_flight", [1, 2])
def test_registers_are_parted_so_that_no_role_of_a_cluster_spills(tile, stages, cluster, in_flight):
    changes = {"tile_m": tile[0], "tile_n": tile[1], "stages": stages, "in_flight": in_flight}
    shared = {"cluster_m": cluster[0], "cluster_n": cluster[1]}
    made = compiled(NT, mechanism="ws_cooperative", **changes, **shared)
    assert made.resources.spill_bytes == 0


@pytest.mark.parametrize("split", [(4, 1, 2), (1, 4, 2), (2, 1, 4)], ids=str)
def test_no_role_of_a_cluster_that_splits_k_spills(split):
    shared = dict(zip(("cluster_m", "cluster_n", "split_k"), split, strict=True))
    problem = GemmProblem(128, 512, 4096)
    made = compiled(problem, mechanism="ws_cooperative", epilogue="direct", **shared)
    assert made.resources.spill_bytes == 0


@pytest.mark.parametrize("mechanism", ["ws_basic", "ws_cooperative", "ws_pingpong"])
@pytest.mark.parametrize("in_flight", [1, 2])
def test_all_products_but_those_in_flight_are_waited_for(tmp_path, mechanism, in_flight):
    image = compiled(NT, mechanism=mechanism, in_flight=in_flight).image
    waits = [text for text in instructions(image, tmp_path) if "WARPGROUP.DEPBAR" in text]
    assert [text.split()[-1] for text in waits] == [f"0x{in_flight - 1}", "0x0"]
