from __future__ import annotations

from dataclasses import dataclass

import pytest

from autotune.errors import InvalidProblem
from autotune.records import Problem


@dataclass(frozen=True)
class Product(Problem):
    m: int
    n: int
    dtype: str = "bf16"

    def validate(self) -> None:
        if self.m < 0:
            raise InvalidProblem(f"problem: m must be at least 0, not {self.m}")


def test_a_problem_is_parsed_from_what_a_person_types():
    assert Product.parse({"m": "4096", "n": 128}) == Product(4096, 128, "bf16")


def test_a_problem_survives_its_own_dict():
    problem = Product(m=3, n=5, dtype="fp32")
    assert Product.parse(problem.as_dict()) == problem
    assert Product.parse(problem.as_dict()).key == problem.key
    assert str(problem) == "m=3,n=5,dtype=fp32"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"m": 1, "n": 1, "q": 1}, "unknown field 'q'; allowed: m, n, dtype"),
        ({"m": 1}, "missing field n; a problem has m, n, dtype"),
        ({"m": "big", "n": 1}, "m must be a whole number, not 'big'"),
        ({"m": 1.5, "n": 1}, "m must be a whole number, not 1.5"),
        ({"m": True, "n": 1}, "m must be a whole number, not True"),
        ({"m": None, "n": 1}, "m must be a whole number, not None"),
        ({"m": 1, "n": 1, "dtype": 16}, "dtype must be text, not 16"),
        ({"m": -1, "n": 1}, "m must be at least 0, not -1"),
    ],
)
def test_bad_fields_get_one_line_that_says_what_is_allowed(fields, words):
    with pytest.raises(InvalidProblem, match=words) as refusal:
        Product.parse(fields)
    assert "\n" not in refusal.value.message


def test_each_field_is_part_of_the_key():
    keys = {Product(1, 2).key, Product(2, 1).key, Product(1, 2, "fp16").key}
    assert len(keys) == 3
