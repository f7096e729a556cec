"""Few configs for many problems: what is chosen, what it loses, and what the table then says."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random

import pytest

from autotune.dispatch import Table
from autotune.records import Finalist, Status
from autotune.store import Filter
from autotune.table import build_table
from autotune.table.answered import Answered
from autotune.table.evidence import gather
from autotune.table.portfolio import portfolios


def entries_of(export):
    return Table.parse(json.dumps(export.document)).kernels["wide_scale"].entries


def answered(book):
    evidence, _ = gather(book.store.rows(Filter()), {})
    return [Answered.of(each, unverified=False) for each in evidence]


def measured(book, times):
    """Record ``{count: {(width, threads): ns}}``."""
    for count, by_config in times.items():
        for (width, threads), ns in by_config.items():
            book.add(count, width=width, threads=threads, ns=ns)


TIMES = {
    8: {(8, 64): 100.0, (4, 64): 110.0, (2, 64): 300.0},
    16: {(8, 64): 400.0, (4, 64): 205.0, (2, 64): 200.0},
    24: {(8, 64): 300.0, (4, 64): 330.0},
}


def test_one_config_serves_all_and_each_entry_says_what_it_loses(book):
    measured(book, TIMES)
    entries = entries_of(build_table(book.store, kernels=1))
    assert {entry.config["width"] for entry in entries} == {4}
    assert [entry.evidence.loss for entry in entries] == pytest.approx([0.1, 0.025, 0.1])
    assert [entry.evidence.time_ns for entry in entries] == [110.0, 205.0, 330.0]


def test_as_many_configs_as_winners_lose_nothing(book):
    measured(book, TIMES)
    export = build_table(book.store, kernels=10)
    assert [found.mean for found in export.portfolios["wide_scale"]][-1] == 0.0
    assert {entry.evidence.loss for entry in entries_of(export)} == {0.0}
    assert len(export.portfolios["wide_scale"]) == 2


def test_a_problem_without_a_row_of_any_of_them_keeps_its_own(book):
    measured(book, TIMES | {32: {(1, 64): 50.0}})
    export = build_table(book.store, kernels=1)
    assert entries_of(export)[-1].config["width"] == 1
    assert export.remarks == (
        "wide_scale count=32,dtype=fp32: its own, since none of the 1 configs has a row here",
    )
    [found] = export.portfolios["wide_scale"]
    assert (found.served, found.problems) == (3, 4)


def test_a_config_that_was_wrong_somewhere_does_not_serve_there(book):
    measured(book, TIMES)
    book.add(16, width=4, threads=64, status=Status.INCORRECT, study="unlucky")
    entries = entries_of(build_table(book.store, kernels=1))
    assert [entry.config["width"] for entry in entries] == [8, 8, 8]


def test_what_a_portfolio_gives_is_never_below_the_default(book):
    measured(book, TIMES)
    book.add(24, width=4, threads=128, ns=310.0)  # the kernel's default
    export = build_table(book.store, kernels=1)
    assert entries_of(export)[-1].config["threads"] == 128
    assert "count=24,dtype=fp32: the default, which is faster than row" in export.remarks[0]


def test_a_winner_below_the_default_is_replaced_by_it(book):
    """A lucky final can crown what the search has seen to be slower than the default."""
    book.add(1024, width=4, threads=128, ns=400.0)
    crowned, other = book.add(1024, width=8, ns=500.0), book.add(1024, width=2, ns=510.0)
    finalists = [Finalist(config=each.config, rounds_ns=(1.0,) * 3) for each in (crowned, other)]
    study_id = book.store.begin_study("s", spec={}, sampler="random", seed=0)
    problem = type(book.context.problem)(count=1024)
    book.store.record_final(study_id, dataclasses.replace(book.context, problem=problem), finalists)
    export = build_table(book.store)
    [entry] = entries_of(export)
    assert (entry.config["width"], entry.evidence.time_ns) == (4, 400.0)
    assert "the default, which is faster than row" in export.remarks[0]


def test_no_choice_of_as_many_is_worth_more_than_the_stated_bound(book):
    chance = random.Random(3)
    configs = list(itertools.product((1, 2, 4, 8), (64, 128)))
    for at in range(1, 9):
        for width, threads in chance.sample(configs, 5):
            book.add(8 * at, width=width, threads=threads, ns=chance.uniform(100.0, 300.0))
    problems = answered(book)
    for found in portfolios(problems, 4):
        worth = max(
            sum(_speed(problem, some) for problem in problems)
            for some in itertools.combinations(
                {config for problem in problems for config in problem.rows}, len(found.configs)
            )
        )
        assert found.worth <= worth + 1e-9 <= found.bound + 2e-9
        assert found.worth >= (1 - 1 / 2.7183) * worth


def _speed(problem, configs):
    losses = [problem.loss_of(config) for config in configs if config in problem.rows]
    return 1 / (1 + min(losses)) if losses else 0.0
