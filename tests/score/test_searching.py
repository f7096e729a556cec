"""What is searched, and what is left out."""

from __future__ import annotations

import pytest

from autotune.errors import InvalidInput
from autotune.score import ScoreSpec, score

SPEC = ScoreSpec(samplers=("random",), repeats=3, seed=0)


def test_what_cannot_be_scored_is_left_out_and_named(landscape, caplog):
    wide, narrow = landscape([5, 4, 3, 2, 1]), landscape([1, 1, 1])
    [found] = score(SPEC, [narrow, wide])
    assert found.landscape is wide
    [record] = caplog.records
    assert "left out 1 of 2 spaces, such as " in record.getMessage()
    assert "no two configurations differ" in record.getMessage()


def test_nothing_that_can_be_scored_is_an_error(landscape):
    with pytest.raises(InvalidInput, match="no two configurations differ"):
        list(score(SPEC, [landscape([1, 1, 1])]))
