"""Products of 8-bit floats: what may be chosen for them, how they are launched and compiled."""

from __future__ import annotations

import pytest
from cards import A100, H200
from disassembly import compiled_by_nvrtc, instructions, opcode
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.records import Scalar
from kernel_space.gemm import Gemm, GemmProblem, ampere, hopper

GEMM = Gemm()
SQUARE = GemmProblem(4096, 4096, 4096, "e4m3-bf16")
SKINNY = GemmProblem(16, 4096, 4096, "e4m3-bf16")
EXTENTS = st.one_of(st.integers(0, 300), st.sampled_from([1022, 4096, 16384]))
RESULTS = ("bf16", "fp16", "fp32")


def broken(problem=SQUARE, target=H200, **changes):
    return GEMM.space(problem, target).broken(GEMM.default(problem, target).replace(**changes))


@settings(max_examples=100, deadline=None)
@given(m=EXTENTS, n=EXTENTS, k=st.integers(1, 300), result=st.sampled_from(RESULTS))
def test_the_default_is_valid_for_every_problem(m, n, k, result):
    assert broken(GemmProblem(m, n, 16 * k, f"e4m3-{result}")) is None


def test_the_space_has_every_mechanism_of_hopper_and_no_other():
    space = GEMM.space(SQUARE, H200)
    found = {(config["mechanism"], config["tile_k"]) for config in space}
    assert found == {(mechanism, 128) for mechanism in hopper.MECHANISMS}
    said = "warps multiply bf16, fp16 and fp32; e4m3 is left to warp groups"
    assert space.census().example["elements"] == said
    for mechanism in ampere.MECHANISMS:
        assert broken(mechanism=mechanism) == ("elements", said)


def test_other_devices_have_no_config_and_say_why():
    assert broken(target=A100) == (
        "tensor_copies",
        "warp-group products exist on sm_90a, not on sm_80",
    )


@pytest.mark.parametrize(
    ("changes", "name", "said"),
    [
        ({"tile_k": 64}, "no_choice", "tile_k can only be 128 here, not 64"),
        ({"repack": "rows"}, "repack", "rows of A and B are multiples of 16 bytes"),
        ({"epilogue": "direct"}, "epilogue", "with 1024 tiles a store by the copy engine hides"),
        ({"stages": 8}, "shared_memory", "8 stages of 32768 bytes do not fit; 5 do"),
    ],
)
def test_rules_count_in_eight_bit_elements(changes, name, said):
    found = broken(**changes)
    assert found is not None
    assert found[0] == name
    assert said in found[1]


def test_k_is_split_in_lines_of_eight_bit_elements():
    split = {"mechanism": "ws_basic", "tile_m": 64, "tile_n": 64, "stages": 10, "split_k": 8}
    split |= {"epilogue": "direct"}
    assert broken(GemmProblem(64, 64, 2048, "e4m3-bf16"), **split) is None
    assert broken(GemmProblem(64, 64, 1920, "e4m3-bf16"), **split) == (
        "split_k",
        "15 steps of K are too few for 8 blocks",
    )


def test_a_config_serves_what_tensor_maps_can_describe():
    config = GEMM.default(SQUARE, H200).replace(split_k=4)
    needed = {
        each.field: (each.multiple_of, each.at_least) for each in GEMM.conditions(SQUARE, config)
    }
    assert needed == {"m": (1, 1), "n": (1, 1), "k": (16, 3 * 128 + 1)}


def test_tiles_are_described_in_elements_and_the_scale_comes_last():
    launch = GEMM.launch(SQUARE, GEMM.default(SQUARE, H200), H200)
    a, b, c, *_, scale = launch.arguments
    assert (a.box, b.box, c.box) == ((128, 128), (128, 128), (128, 64))
    assert [each.operand.dtype for each in (a, b, c)] == ["e4m3", "e4m3", "bf16"]
    assert scale == "scale"
    assert launch.misnamed(GEMM.operands(SQUARE)) is None


def test_products_of_other_elements_have_a_null_pointer_for_a_scale():
    problem = GemmProblem(4096, 4096, 4096)
    launch = GEMM.launch(problem, GEMM.default(problem, H200), H200)
    assert launch.arguments[-1] == Scalar(dtype="int64", value=0)


def test_people_see_no_tile_k_since_it_is_no_choice():
    for problem in (SQUARE, GemmProblem(4096, 4096, 4096)):
        assert GEMM.shown(GEMM.default(problem, H200)) == (
            *("mechanism", "l2_promotion", "raster", "raster_group", "stages"),
            *("tile_m", "tile_n"),
        )


def test_twice_as_many_products_are_predicted_to_take_about_half_the_time():
    wide = GemmProblem(8192, 8192, 8192)
    narrow = GemmProblem(8192, 8192, 8192, "e4m3-bf16")
    times = [GEMM.estimate(each, GEMM.default(each, H200), H200) for each in (wide, narrow)]
    assert 1.6 < times[0] / times[1] < 2.1


def compiled(problem, **changes):
    config = GEMM.default(problem, H200).replace(**changes)
    assert GEMM.space(problem, H200).broken(config) is None
    return compiled_by_nvrtc(GEMM.unit(problem, config, H200), H200.arch)


SPLIT = {"mechanism": "ws_cooperative", "split_k": 4, "epilogue": "direct"}
TMA = {"mechanism": "tma", "tile_m": 256, "tile_n": 176, "stages": 3, "in_flight": 1}
SWAPPED = {"mechanism": "ws_basic", "operands": "swapped", "tile_m": 64, "tile_n": 16}
KINDS = {
    "tma": (SQUARE, TMA),
    "ws_basic": (SQUARE, {"mechanism": "ws_basic", "tile_n": 192, "stages": 4}),
    "ws_cooperative": (SQUARE, {"mechanism": "ws_cooperative", "tile_n": 256, "stages": 4}),
    "three consumers": (SQUARE, {"mechanism": "ws_cooperative", "tile_m": 192, "stages": 4}),
    "ws_pingpong": (SQUARE, {}),
    "cluster": (SQUARE, {"cluster_m": 2}),
    "direct": (SKINNY, {"tile_m": 64, "stages": 8, "epilogue": "direct"}),
    "split": (GemmProblem(128, 512, 4096, "e4m3-fp16"), SPLIT),
    "swapped": (SKINNY, {**SWAPPED, "stages": 12}),
    "split and swapped": (
        SKINNY,
        {**SWAPPED, "tile_n": 32, "stages": 12, "split_k": 2, "epilogue": "direct"},
    ),
    "odd rows": (GemmProblem(4096, 4095, 4096, "e4m3-bf16"), {}),
    "fp32": (GemmProblem(4096, 4096, 4096, "e4m3-fp32"), {"stages": 6}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_warp_groups_multiply_eight_bit_elements_and_nothing_spills(kind, tmp_path):
    problem, changes = KINDS[kind]
    made = compiled(problem, **changes)
    found = [opcode(each) for each in instructions(made.image, tmp_path)]
    tile_n = GEMM.default(problem, H200).replace(**changes)["tile_n"]
    products = {name for name in found if "GMMA" in name and not name.startswith("WARP")}
    assert products == {f"QGMMA.64x{tile_n}x32.F32.E4M3.E4M3"}
    assert any(name.startswith("UTMALDG") for name in found)
    assert (made.resources.spill_bytes, made.resources.warnings) == (0, ())


def test_the_scale_is_read_past_l1_and_multiplies_each_sum_once(tmp_path):
    narrow = {"mechanism": "ws_basic", "tile_n": 64, "stages": 8}
    found = list(map(opcode, instructions(compiled(SQUARE, **narrow).image, tmp_path)))
    loads = [name for name in found if name.startswith("LDG")]
    assert loads == ["LDG.E.STRONG.GPU"]
    assert found.count("FMUL") == 128 * 64 // 128


def test_products_of_other_elements_read_no_scale(tmp_path):
    found = set(map(opcode, instructions(compiled(GemmProblem(512, 512, 512)).image, tmp_path)))
    assert not {name for name in found if name.startswith(("LDG", "FMUL"))}
