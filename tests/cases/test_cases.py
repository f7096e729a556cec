"""The list of cases says the truth: each is there, and so is each test that it names."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
from cases import read_cases

CASES = read_cases()
TESTS = Path(__file__).parents[1]
NUMBERS = {
    "A": [1, 2, 4, 6, 7, 9],
    "B": [11, 12, 14, 15, 16, 17, 18],
    "C": [20, 21, 23, 24, 25],
    "D": [26, 28, 29, 30, 31],
    "E": [33, 35, 36, 38],
    "F": [40, 42, 43, 45, 46],
    "G": [48, 49, 51, 52],
}


@cache
def collected(file):
    """Return the names of the test functions that pytest collects from a file."""
    body = ast.parse((TESTS / file).read_text()).body
    names = [each.name for each in body if isinstance(each, ast.FunctionDef)]
    return [name for name in names if name.startswith("test_")]


def test_every_case_is_listed_once_and_in_order():
    assert [(case.group, case.number) for case in CASES] == [
        (group, number) for group, numbers in NUMBERS.items() for number in numbers
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.group}{case.number}")
def test_every_test_that_a_case_names_is_there(case):
    assert case.never
    assert case.tests
    assert len(set(case.tests)) == len(case.tests)
    for test in case.tests:
        file, _, name = test.partition("::")
        assert name in collected(file), test


def test_every_test_of_a_group_belongs_to_a_case():
    named = {test for case in CASES for test in case.tests}
    here = Path(__file__).parent
    found = {
        f"{here.name}/{file.name}::{name}"
        for file in here.glob("test_group_*.py")
        for name in collected(f"{here.name}/{file.name}")
    }
    assert found
    assert found <= named
