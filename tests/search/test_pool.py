from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.records import Config
from autotune.search.pool import Pool
from autotune.space import Constraint, Parameter, Space

SPACE = Space(
    (
        Parameter("tile", (16, 32, 64, 128, 256)),
        Parameter("fixed", (7,)),
        Parameter("loads", ("sync", "async", "bulk"), ordered=False),
        Parameter("stages", (1, 2, 4)),
    ),
    (Constraint("fits", lambda tile, stages: "too big" if tile * stages > 256 else None),),
)
VALID = list(SPACE)


def _pool(seed=0):
    return Pool(SPACE, VALID, seed=seed)


def _steps(pool, row, point):
    apart = np.abs(pool.codes[:, row] - point)
    return sum(
        int(step) if axis.ordered else int(step > 0)
        for axis, step in zip(pool.axes, apart, strict=True)
    )


def test_axes_are_the_parameters_that_vary_and_codes_are_positions_of_values():
    pool = _pool()
    assert [axis.name for axis in pool.axes] == ["tile", "loads", "stages"]
    row = pool.row(Config(tile=64, fixed=7, loads="bulk", stages=4))
    assert pool.codes[:, row].tolist() == [2, 2, 2]


def test_values_that_no_valid_config_has_make_no_distance():
    valid = [config for config in VALID if config["tile"] in (16, 256)]
    pool = Pool(SPACE, valid, seed=0)
    assert pool.axes[0].levels == (16, 256)


@settings(max_examples=100, deadline=None)
@given(
    point=st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2)),
    taken=st.sets(st.integers(0, len(VALID) - 1), max_size=len(VALID) - 1),
    seed=st.integers(0, 3),
)
def test_nearest_is_the_least_distance_over_every_free_row(point, taken, seed):
    pool = _pool(seed)
    for row in taken:
        pool.take(row)
    row, steps = pool.nearest(point)
    free = [other for other in range(len(VALID)) if other not in taken]
    assert row in free
    assert steps == _steps(pool, row, point) == min(_steps(pool, r, point) for r in free)


def test_among_equally_near_rows_the_seed_decides():
    chosen = [_pool(seed).nearest([2, 0, 2]) for seed in range(20)]
    assert chosen == [_pool(seed).nearest([2, 0, 2]) for seed in range(20)]
    assert {steps for _, steps in chosen} == {0}
    pools = [_pool(seed) for seed in range(20)]
    for pool in pools:
        pool.take(chosen[0][0])
    assert len({pool.nearest([2, 0, 2]) for pool in pools}) > 1


def test_a_row_is_counted_once_however_often_it_is_taken():
    pool = _pool()
    assert pool.take(4) == pool.take(4) == VALID[4]
    assert pool.taken_count == 1
    assert not pool.is_free(4)
    assert pool.is_free(5)


def test_rows_are_told_apart_at_both_ends_of_a_very_long_axis():
    space = Space((Parameter("size", tuple(range(80_000))), Parameter("loads", (1, 2))))
    valid = list(space)
    pool = Pool(space, valid, seed=0)
    last = pool.row(Config(size=79_999, loads=2))
    assert pool.steps([0, 0])[last] == 80_000
    assert pool.nearest([79_999, 1]) == (last, 0)
    pool.take(last)
    assert pool.nearest([79_999, 1])[1] == 1
