from __future__ import annotations

import subprocess
import sys

import pytest

from autotune.errors import InvalidInput
from autotune.search import SAMPLERS, make_searcher
from autotune.space import Parameter, Space

SPACE = Space((Parameter("tile", (32, 64)),))


def test_an_unknown_sampler_is_refused_with_those_that_exist():
    with pytest.raises(
        InvalidInput, match="'annealing'; allowed: auto, tpe, gp, local, random, exhaustive"
    ) as refusal:
        make_searcher("annealing", space=SPACE, valid=list(SPACE), seed=0)
    assert refusal.value.exit_code == 2


@pytest.mark.parametrize("sampler", ["gp", "auto"])
def test_more_values_than_a_model_can_compare_are_refused_with_their_parameter(sampler):
    space = Space((Parameter("tile", (32, 64)), Parameter("size", tuple(range(5_000)))))
    with pytest.raises(InvalidInput, match="size has 5,000 values") as refusal:
        make_searcher(sampler, space=space, valid=list(space), seed=0)
    assert "tpe" in refusal.value.hint


def test_every_sampler_has_one_line_of_description():
    for line in SAMPLERS.values():
        assert line
        assert "\n" not in line


def _run(program):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_naming_the_samplers_loads_neither_numpy_nor_optuna():
    program = """
import sys
from autotune.search import SAMPLERS
print(*{"numpy", "optuna", "sqlalchemy"} & sys.modules.keys())
"""
    assert _run(program) == (0, "\n", "")


def test_tpe_is_silent_and_leaves_the_root_logger_alone():
    program = """
import logging
logging.basicConfig(level=logging.INFO)
before = logging.root.handlers[:]
from autotune.records import Status
from autotune.search import make_searcher
from autotune.space import Parameter, Space
space = Space((Parameter("tile", tuple(range(30))),))
searcher = make_searcher("tpe", space=space, valid=list(space), seed=0)
while config := searcher.ask():
    searcher.tell(config, Status.OK, float(config["tile"]))
assert logging.root.handlers == before
assert logging.root.level == logging.INFO
"""
    assert _run(program) == (0, "", "")
