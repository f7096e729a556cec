from __future__ import annotations

from collections import Counter

import pytest

from autotune.records import Measurement, Status, Trial, load_kernel
from autotune.records.targets import TARGETS
from autotune.report.sheet import show
from autotune.report.summary import summary_sheet
from autotune.study import ProblemReport, Reason, StudyReport, StudySpec


def summary(capsys, *, tied, layout="table"):
    kernel = load_kernel("host_matmul")
    problem = kernel.problem_type.parse({"m": 64, "n": 64, "k": 64})
    best = Trial(
        number=0,
        problem_key=problem.key,
        config=kernel.default(problem, TARGETS["sm_90a"]),
        status=Status.OK,
        measurement=Measurement(samples_ns=(1000.0,) * 5),
    )
    found = ProblemReport(
        problem=problem,
        reason=Reason.BUDGET,
        ran=1,
        total=1,
        valid=1,
        best=best,
        tied=tied,
        default=best,
        statuses=Counter({Status.OK: 1}),
    )
    spec = StudySpec(name="study", kernel_ref="host_matmul", kernel=kernel, problems=(problem,))
    report = StudyReport(study="study", device="host", problems=(found,), seconds=1.0)
    show(summary_sheet(spec, report), layout)
    return capsys.readouterr().out


@pytest.mark.parametrize("layout", ["table", "json"])
def test_a_winner_that_cannot_be_told_from_others_says_so(capsys, layout):
    told = {"table": "tied with 2", "json": '"tied": 2'}[layout]
    assert told in summary(capsys, tied=2, layout=layout)


def test_a_clear_winner_says_nothing_of_ties(capsys):
    assert "tied" not in summary(capsys, tied=0)
