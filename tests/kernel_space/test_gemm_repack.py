"""Rows that no tensor map can describe: what is copied first, and where that is a choice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cards import A100, H200
from disassembly import compiled_by_nvrtc

from autotune.records import Candidate, Scalar, TensorMap
from autotune.toolchain.ptxas import entries
from kernel_space import gemm
from kernel_space.gemm import Gemm, GemmProblem

ODD = GemmProblem(300, 200, 1001)
SOURCES = Path(gemm.__file__).parent


def launch(problem, config=None):
    config = config or Gemm().default(problem, H200)
    return Candidate("gemm", problem, config, H200, Gemm()).launch()


def test_odd_rows_are_repacked_by_default_where_there_are_tensor_copies():
    assert Gemm().default(ODD, H200)["repack"] == "rows"
    assert Gemm().default(ODD, A100)["repack"] == "none"
    assert Gemm().default(GemmProblem(300, 200, 1000), H200)["repack"] == "none"


@pytest.mark.parametrize(
    ("layout", "m", "n", "k", "packed"),
    [
        ("nt", 8, 8, 1001, {"a": (8, 1024), "b": (8, 1024)}),
        ("nn", 8, 8, 1001, {"a": (8, 1024)}),
        ("nn", 8, 9, 64, {"b": (64, 64)}),
        ("tn", 65, 8, 64, {"a": (64, 128)}),
        ("tt", 1, 8, 1, {"a": (1, 64), "b": (8, 64)}),
        ("nt", 8, 8, 1000, {}),
    ],
)
def test_only_what_no_map_can_describe_is_copied_to_whole_lines(layout, m, n, k, packed):
    problem = GemmProblem(m, n, k, "bf16", layout)
    repacking = Gemm().default(problem, H200).replace(repack="rows")
    made = launch(problem, repacking)
    assert {each.name: each.shape for each in made.scratch} == {
        f"packed_{name}": shape for name, shape in packed.items()
    }
    mapped = [each.operand for each in made.arguments if isinstance(each, TensorMap)][:2]
    assert [each.name for each in mapped] == [
        f"packed_{name}" if name in packed else name for name in "ab"
    ]
    assert [step.entry for step in made.before] == (["pack"] if packed else [])


def test_swapped_operands_are_repacked_too():
    config = Gemm().default(ODD, H200).replace(operands="swapped")
    first, second = [a for a in launch(ODD, config).arguments if isinstance(a, TensorMap)][:2]
    assert (first.operand.name, second.operand.name) == ("packed_b", "packed_a")


def test_both_copies_are_one_launch_with_a_row_of_blocks_for_each():
    (both,) = launch(ODD).before
    assert both.grid == (-(-300 * 2 // 8), 2, 1)
    (one,) = launch(GemmProblem(64, 33, 64, "bf16", "nn")).before
    assert one.grid == (-(-64 // 8), 1, 1)
    (large,) = launch(GemmProblem(9001, 9001, 9001)).before
    assert large.grid == (6 * H200.sm_count, 2, 1)


def test_arguments_match_the_packing_kernel_parameter_by_parameter():
    source = (SOURCES / "hopper" / "pack.cuh").read_text()
    signature = re.search(r"\spack\((.*?)\)\s*{", source, re.DOTALL)
    declared = [" ".join(text.split()) for text in signature[1].split(",")]
    (step,) = launch(ODD).before
    values = {"rows_a": 300, "rows_b": 200, "columns_a": 1001, "columns_b": 1001}
    values |= {"pitch_a": 1024, "pitch_b": 1024}
    for argument, parameter in zip(step.arguments, declared, strict=True):
        kind, name = parameter.replace("*", "* ").rsplit(maxsplit=1)
        if isinstance(argument, Scalar):
            assert (kind, argument.dtype) == ("int", "int32")
            assert argument.value == values[name]
        else:
            assert kind.endswith("*")
            assert argument == name
    assert f"PACK_THREADS = {step.block[0]};" in source


@pytest.mark.parametrize(
    ("problem", "repack", "reason"),
    [
        (ODD, "none", "rows along k are 2002 bytes, not a multiple of 16"),
        (
            GemmProblem(64, 64, 64),
            "rows",
            "rows of A and B are multiples of 16 bytes: a map takes them as is",
        ),
    ],
)
def test_whether_to_repack_follows_from_the_rows(problem, repack, reason):
    config = Gemm().default(problem, H200).replace(repack=repack)
    assert Gemm().space(problem, H200).broken(config) == ("repack", reason)


def test_the_other_mechanisms_never_repack():
    config = Gemm().default(ODD, A100).replace(repack="rows")
    assert Gemm().space(ODD, H200).broken(config)[0] == "no_choice"


def test_a_config_that_repacks_may_serve_rows_of_any_length():
    config = Gemm().default(ODD, H200)
    assert {c.multiple_of for c in Gemm().conditions(ODD, config)} == {1}
    aligned = GemmProblem(64, 64, 64)
    assert launch(aligned, config).before == ()
    assert launch(aligned, config).scratch == ()


def test_the_copy_counts_in_the_predicted_time():
    kernel, alike = Gemm(), GemmProblem(4100, 4100, 4160)  # as many steps, whole lines
    odd = GemmProblem(4100, 4100, 4100)
    without, with_copy = (
        kernel.estimate(each, kernel.default(each, H200), H200) for each in (alike, odd)
    )
    copied = 2 * 2 * 4100 * (4100 + 4160)
    assert with_copy - without > copied / 4800


def test_what_repacks_is_shown():
    kernel = Gemm()
    assert "repack" in kernel.shown(kernel.default(ODD, H200))
    assert "repack" not in kernel.shown(kernel.default(GemmProblem(64, 64, 64), H200))


def test_one_binary_holds_the_product_and_the_copy():
    kernel = Gemm()
    made = compiled_by_nvrtc(kernel.unit(ODD, kernel.default(ODD, H200), H200), H200.arch)
    assert entries(made.log) == {"gemm", "pack"}
    assert (made.resources.spill_bytes, made.resources.warnings) == (0, ())
