"""Booleans are counted alike in the way of either library; what a GPU does runs on numpy, too."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from autotune.verify.compare import any_of, first_of, how_many


@pytest.mark.parametrize("places", [[], [0], [299], [7, 8, 200], list(range(300))])
def test_what_is_true_is_counted_and_found_first(places):
    some = np.zeros(300, dtype=bool)
    some[places] = True
    assert how_many(some, xp=np) == how_many(some, xp="cupy") == len(places)
    assert any_of(some) == any_of(some[::-1]) == bool(places)
    assert first_of(some) == min(places, default=0)
    assert first_of(some[::-1]) == (299 - max(places) if places else 0)


VERIFIES = """
from cupy.cuda import compiler

compiled, sources = compiler._compile_module_with_cache, []

def noted(source, *further, **how):
    sources.append(source)
    return compiled(source, *further, **how)

compiler._compile_module_with_cache = noted

import cupy

from autotune.records import STANDARD, load_kernel
from autotune.verify import Verifier

kernel = load_kernel("gemm")
Verifier(kernel, kernel.problem_type(64, 64, 64), STANDARD, cupy)
print(len(sources), sum("cub/" in source for source in sources))
"""


@pytest.mark.gpu
def test_no_reduction_is_compiled_before_the_first_candidate():
    done = subprocess.run([sys.executable, "-c", VERIFIES], check=True, stdout=subprocess.PIPE)
    every, reductions = map(int, done.stdout.split())
    assert every > 0
    assert reductions == 0
