"""The source that Kernel Tuner gets is the one that ours is compiled from."""

from __future__ import annotations

import pytest
from beside_kernel_tuner import SHARED_LIMIT_BYTES, chosen_configs, flat_source

from autotune.records import SourceUnit
from autotune.records.targets import TARGETS
from autotune.toolchain import Compiled, Nvrtc
from kernel_space.gemm import Gemm, GemmProblem

TARGET = TARGETS["sm_90a"]
CASES = [  # mechanism, dtype and layout
    ("sync1", "bf16", "nt"),
    ("sync2", "fp16", "nn"),
    ("cp_async", "fp32", "tn"),
    ("mbarrier", "bf16-fp32", "tt"),
    ("ws_cp_async", "fp16-fp32", "nt"),
    ("tma", "bf16", "nt"),
]


def image(unit):
    compiled = Nvrtc().compile(unit, TARGET.arch)
    assert isinstance(compiled, Compiled), compiled.message
    return compiled.image


def flat(unit, folder):
    file = folder / unit.main.name  # which the binary tells
    file.write_text(flat_source(unit))
    return SourceUnit(language="cuda", main=file, header="", entry=unit.entry)


@pytest.mark.parametrize(("mechanism", "dtype", "layout"), CASES)
def test_a_flat_source_compiles_to_the_same_code(mechanism, dtype, layout, tmp_path):
    problem = GemmProblem(256, 256, 256, dtype, layout)
    config = next(iter(Gemm().space(problem, TARGET).restricted({"mechanism": [mechanism]})))
    unit = Gemm().unit(problem, config, TARGET)
    assert image(flat(unit, tmp_path)) == image(unit)


def test_it_is_asked_for_all_that_it_can_launch_and_no_more():
    problem = GemmProblem(16, 512, 512)
    some = chosen_configs(problem, TARGET, 10**6)
    shared = [Gemm().launch(problem, config, TARGET).shared_bytes for config in some]
    assert 0 < len(set(some)) == len(some) < 10**6
    assert max(shared) <= SHARED_LIMIT_BYTES
