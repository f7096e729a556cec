from __future__ import annotations

import pytest

from autotune.report.losses import regret_line

UNKNOWN = {"mean": None, "worst": None, "judged": 0}


@pytest.mark.parametrize(
    ("regret", "told"),
    [
        ({**UNKNOWN, "problems": 1}, "is not known: there is only one problem"),
        ({**UNKNOWN, "problems": 2}, "autotune tune --cross 1"),
        (
            {"mean": 0.125, "worst": 0.25, "judged": 2, "problems": 3},
            "untuned problems are 12.5% slower than tuned ones on average, 25.0% at worst",
        ),
    ],
)
def test_a_table_says_how_much_slower_untuned_problems_are_or_why_nobody_knows(regret, told):
    line = regret_line({"weights": {"m": 1}, "regret": {**regret, "rule": "nearest"}})
    assert told in line
