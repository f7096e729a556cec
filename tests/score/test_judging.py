from __future__ import annotations

import math

import numpy as np

from autotune.score.judging import judged
from autotune.score.searching import ScoreSpec, score

NINE = [9, 1, 8, 2, 7, 3, 6, 4, 5]
ROW = {value: row for row, value in enumerate(NINE)}


def rows(*values):
    return [ROW[value] for value in values]


def scored(space, *samplers, repeats=200, **how):
    spec = ScoreSpec(samplers=samplers, repeats=repeats, seed=3, **how)
    return list(score(spec, [space]))


def test_who_knows_the_best_scores_one(rugged):
    best = int(rugged.value_ns.argmin())
    found = judged("oracle", rugged, [[best]] * 5, seed=0)
    assert found.score == 1
    assert found.interval == (1, 1)
    assert found.tail == 1
    assert all((counts == 1).all() for counts in found.until.values())
    assert all((shares == 1).all() for shares in found.quality.values())


def test_random_search_scores_nothing(landscape):
    even = landscape(np.linspace(10, 200, 2000).tolist(), [1000] * 2000)
    (found,) = scored(even, "random")
    low, high = found.interval
    assert abs(found.score) < 0.1
    assert low < 0 < high


def test_repeats_are_put_together_by_their_mean_rank(landscape):
    # At once one has the best (rank 8), the other 5 (rank 4): rank 6 is a 3, (2 - 3) / (2 - 1).
    found = judged("two", landscape(NINE), [rows(1), rows(5)], seed=0)
    assert np.nanmin(found.curve) == np.nanmax(found.curve) == -1
    assert found.score == -1
    assert found.each.tolist() == [1, -3]


def test_what_ends_later_counts_later(landscape):
    # The window goes from 2 to 4; until 2.5 random search is expected to have 2, then the best.
    early, late = landscape(NINE), landscape(NINE, [1] + [3] + [1] * 7)
    assert judged("a", early, [rows(9, 1)], seed=0).score == 1
    assert judged("a", late, [rows(9, 1)], seed=0).score == -7  # still 9: (2 - 9) / (2 - 1)


def test_a_search_that_has_found_nothing_yet_counts_as_the_worst(landscape):
    space = landscape([*NINE, None])
    assert judged("a", space, [[9, 9, 9, 9, 9]], seed=0).score == -7


def test_measurements_until_near_the_best_count_failures_and_those_who_never_get_there(landscape):
    space = landscape([100, 104, 101, None, 200, 300])
    found = judged("a", space, [[3, 4, 1, 2], [5, 4]], seed=0)
    assert found.until[0.05].tolist() == [3, math.inf]
    assert found.until[0.02].tolist() == [4, math.inf]
    assert found.quality[50].tolist() == [100 / 101, 0.5]


def test_scores_follow_from_the_seed_alone_whatever_the_jobs(rugged):
    one, two, other = (
        list(
            score(
                ScoreSpec(samplers=("random", "local"), repeats=5, seed=seed, jobs=jobs), [rugged]
            )
        )
        for seed, jobs in ((3, 1), (3, 2), (4, 1))
    )
    told = [
        [(each.sampler, each.each.tolist(), each.interval) for each in found]
        for found in (one, two)
    ]
    assert told[0] == told[1]
    assert one[0].each.tolist() != other[0].each.tolist()


def test_the_tail_is_what_nine_of_ten_repeats_reach(rugged):
    (found,) = scored(rugged, "random", repeats=50)
    assert np.mean(found.each >= found.tail) == 0.9
    assert found.tail < found.score
