"""Booleans are counted alike in the way of either library; what a GPU does runs on numpy, too."""

from __future__ import annotations

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
