"""Whose recorded configs serve a problem that was not recorded itself."""

from __future__ import annotations

import pytest
from sources import kin

from kernel_space.gemm import GemmProblem
from kernel_space.gemm.problem import DTYPES


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_problem_comes_first_and_nothing_comes_twice(dtype):
    problem = GemmProblem(64, 64, 64, dtype)
    found = list(kin(problem))
    assert found[0] == problem
    assert len(set(found)) == len(found)


def test_other_elements_of_16_bits_come_before_other_layouts():
    found = [(each.dtype, each.layout) for each in kin(GemmProblem(8, 8, 8, "fp16", "tn"))]
    assert found[1] == ("bf16", "tn")
    layouts = [layout for _, layout in found]
    assert layouts == sorted(layouts, key=layouts.index)
    assert set(layouts) == {"nn", "nt", "tn", "tt"}


def test_elements_of_8_bits_have_kin_of_8_bits_alone():
    found = {(each.dtype, each.layout) for each in kin(GemmProblem(8, 8, 16, "e4m3-fp16"))}
    assert found == {("e4m3-bf16", "nt"), ("e4m3-fp16", "nt"), ("e4m3-fp32", "nt")}


def test_fp32_is_alone_in_its_width():
    assert {each.dtype for each in kin(GemmProblem(8, 8, 8, "fp32"))} == {"fp32"}
