from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.records import headline, one_line


def test_one_line_is_the_first_that_says_something():
    assert one_line("\n\n  error: no\n more\n") == "error: no"
    assert one_line("\x1b[31mred\x07") == " [31mred "
    assert one_line("") == ""


@given(st.text(), st.integers(1, 200))
def test_one_line_always_fits_and_prints(text, width):
    line = one_line(text, width)
    assert len(line) <= width
    assert line.isprintable()


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (
            "In file of /me/kernel.cu:3:\n/me/tile.cuh(12): error: no such tile\n  12 | x",
            "tile.cuh(12): error: no such tile",
        ),
        ("warning: /a/error.h is old\nfatal ERROR: it ends", "fatal ERROR: it ends"),
        ("\n7 of 9 elements/s are wrong; 3/4 of them", "7 of 9 elements/s are wrong; 3/4 of them"),
        ("", ""),
    ],
)
def test_the_headline_is_what_went_wrong_without_folders(message, line):
    assert headline(message) == line
