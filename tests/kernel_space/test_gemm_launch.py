from __future__ import annotations

import re

import pytest
from cards import A100

from autotune.records import Scalar, TensorMap
from autotune.records.targets import TARGETS
from kernel_space.gemm import Gemm, GemmProblem
from kernel_space.gemm.ampere import AmperePlan

CONFIG = (
    Gemm()
    .default(GemmProblem(64, 64, 64), A100)
    .replace(tile_n=256, warp_n=64, stages=4, raster="along_m", raster_group=8)
)


def test_one_block_for_each_tile_of_c():
    launch = Gemm().launch(GemmProblem(129, 512, 64), CONFIG, A100)
    assert launch.grid == (2 * 2, 1, 1)
    assert launch.block == (8 * 32, 1, 1)
    assert launch.shared_bytes == 4 * (128 + 256) * 32 * 2


@pytest.mark.parametrize(
    ("mechanism", "producers", "barrier_bytes"), [("mbarrier", 0, 16), ("ws_cp_async", 128, 16)]
)
def test_warps_that_only_copy_and_mbarriers_come_on_top(mechanism, producers, barrier_bytes):
    config = CONFIG.replace(mechanism=mechanism, barriers=0)
    launch = Gemm().launch(GemmProblem(129, 512, 64), config, A100)
    assert launch.block == (8 * 32 + producers, 1, 1)
    assert launch.shared_bytes == 4 * ((128 + 256) * 32 * 2 + barrier_bytes)


@pytest.mark.parametrize("problem", [GemmProblem(0, 64, 64), GemmProblem(64, 0, 64)])
def test_an_empty_output_launches_nothing(problem):
    assert Gemm().launch(problem, CONFIG, A100).empty


def test_zero_k_still_launches_to_write_zeros():
    assert not Gemm().launch(GemmProblem(64, 64, 0), CONFIG, A100).empty


@pytest.mark.parametrize(
    ("family", "dtype", "layout"),
    [("ampere", "bf16", "tn"), ("hopper", "bf16", "tn"), ("hopper", "e4m3-bf16", "nt")],
)
def test_arguments_match_the_kernel_parameter_by_parameter(family, dtype, layout):
    kernel = Gemm()
    problem = GemmProblem(32, 56, 80, dtype, layout)
    target = {"ampere": A100, "hopper": TARGETS["sm_90a"]}[family]
    config = CONFIG if family == "ampere" else kernel.default(problem, target)
    source = kernel.unit(problem, config, target).main.parent / family / f"gemm_{family}.cuh"
    signature = re.search(r"\sgemm\((.*?)\)\s*{", source.read_text(), re.DOTALL)
    assert signature is not None
    declared = [" ".join(text.split()) for text in signature[1].split(",")]
    values = {"m": 32, "n": 56, "k": 80, "pitch_a": 32, "pitch_b": 56, "pitch_c": 56}
    values |= {"raster_along_m": 1, "raster_group": config["raster_group"]}
    values |= {"scale": "scale" if problem.scaled else 0}

    arguments = kernel.launch(problem, config, target).arguments

    assert len(arguments) == len(declared)
    for argument, parameter in zip(arguments, declared, strict=True):
        kind, name = parameter.replace("*", "* ").rsplit(maxsplit=1)
        if isinstance(argument, Scalar):
            kinds = {"int32": ["int"], "int64": ["long long", "const float*"]}
            assert kind in kinds[argument.dtype]
            assert argument.value == values[name]
        elif isinstance(argument, TensorMap):
            assert kind == "const __grid_constant__ TensorMap"
            assert name == f"{argument.operand.name}_map"
        else:
            assert kind.endswith("*")
            assert argument == name


def test_one_binary_serves_every_shape_and_raster():
    kernel = Gemm()
    units = {
        kernel.unit(GemmProblem(m, 64, 64), CONFIG.replace(raster=raster), A100)
        for m in (1, 4096)
        for raster in ("along_m", "along_n")
    }
    assert len(units) == 1


@pytest.mark.parametrize("other", [{"dtype": "fp16"}, {"layout": "nn"}])
def test_dtype_and_layout_have_binaries_of_their_own(other):
    kernel = Gemm()
    first = kernel.unit(GemmProblem(64, 64, 64), CONFIG, A100)
    assert first != kernel.unit(GemmProblem(64, 64, 64, **other), CONFIG, A100)


def test_config_reads_as_groups():
    grouped = AmperePlan.of(CONFIG, GemmProblem(4097, 1, 1))
    assert (grouped.tile.m, grouped.tile.n, grouped.tile.k) == (128, 256, 32)
    assert (grouped.warp.m, grouped.pipeline.stages, grouped.copy.bytes) == (64, 4, 16)
    assert (grouped.raster.order, grouped.raster.group) == ("along_m", 8)
    assert grouped.tiles == (33, 1)


@pytest.mark.parametrize(
    ("layout", "dtype", "copy_bytes", "wanted"),
    [
        ("nt", "bf16", 16, {"k": 8}),
        ("nn", "bf16", 8, {"k": 4, "n": 4}),
        ("tn", "fp32", 16, {"m": 4, "n": 4}),
        ("tt", "bf16", 2, {}),
        ("nt", "fp32", 4, {}),
    ],
)
def test_conditions_are_the_row_lengths_that_the_copy_needs(layout, dtype, copy_bytes, wanted):
    problem = GemmProblem(4096, 4096, 4096, dtype, layout)
    conditions = Gemm().conditions(problem, CONFIG.replace(copy_bytes=copy_bytes))
    assert {c.field: c.multiple_of for c in conditions} == wanted
