"""Trees that learn from predictions: which tables have one, and what it answers."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from autotune.dispatch import Table
from autotune.records import load_kernel
from autotune.table import build_table
from autotune.table.growing import MOST_DEPTH, MOST_ENDS, Samples, grown, led
from autotune.toolchain import source_digest

COUNTS = (1024, 11_000, 13_000, 1 << 14)


class Foreseen:
    """Rows of a kernel that predicts, as it predicts them, or the other way round."""

    def __init__(self, book, *, right=True):
        self.book, self.right = book, right
        ref = book.context.kernel_ref.replace("WideScale", "ForeseenScale")
        self.kernel = load_kernel(ref)
        problem = self.kernel.problem_type(count=1)
        unit = self.kernel.unit(problem, self.kernel.default(problem, None), None)
        book.context = dataclasses.replace(
            book.context,
            kernel="foreseen_scale",
            kernel_ref=ref,
            problem=problem,
            source_digest=source_digest(unit),
        )

    def table(self, counts=COUNTS, **options):
        for count in counts:
            for threads in (64, 256):
                few = threads == 64
                fast = (few == (count < self.kernel.least)) == self.right
                self.book.add(count, width=1, threads=threads, ns=100.0 if fast else 150.0)
        text = json.dumps(build_table(self.book.store, **options).document)
        return Table.parse(text), Table.parse(text).kernels["foreseen_scale"]


def test_a_tree_answers_where_it_loses_less_than_nearness(book):
    table, kernel = Foreseen(book).table(kernels=2)
    assert (kernel.regret.rule, kernel.regret.judged, kernel.regret.worst) == ("tree", 4, 0.0)
    for count, threads in ((2000, 64), (11_900, 64), (12_100, 256), (15_000, 256)):
        choice = table.lookup(count=count, dtype="fp32")
        assert (choice.source, choice.config["threads"]) == ("tree", threads)
    assert table.lookup(count=11_000, dtype="fp32").source == "exact"


@pytest.mark.parametrize(
    ("right", "counts", "options"),
    [
        (False, (1024, 2048, 14_000, 1 << 14), {"kernels": 2}),  # it predicts nonsense
        (True, COUNTS[1:], {"kernels": 2}),  # too few can tell
        (True, COUNTS, {}),  # nobody asked for few configs
        (True, COUNTS, {"kernels": 1}),  # there is no choice
    ],
)
def test_nearness_answers_else(book, right, counts, options):
    _, kernel = Foreseen(book, right=right).table(counts, **options)
    assert (kernel.forest, kernel.regret.rule) == (None, "nearest")


def test_a_kernel_without_predictions_has_no_tree(book):
    for count in COUNTS:
        for threads in (64, 256):
            book.add(count, width=1, threads=threads, ns=100.0 + threads * (count > 12_000))
    export = build_table(book.store, kernels=2)
    assert "forest" not in export.document["kernels"]["wide_scale"]


def test_the_same_rows_give_the_same_tree(book):
    foreseen = Foreseen(book)
    first = foreseen.table(kernels=2)[1].forest
    assert foreseen.table((), kernels=2)[1].forest == first


def samples(losses, **options):
    measures = np.arange(len(losses))[:, None] * np.array([[1, 0]])
    weights = options.get("weights", np.ones(len(losses)))
    return Samples(measures, np.array(losses, float), np.array(weights, float))


def test_a_question_is_asked_though_it_takes_two_to_gain():
    """Config 0 is right in the middle alone: no single cut changes what is best on either side."""
    losses = [[1.0, 0.0]] * 30 + [[0.0, 0.1]] * 20 + [[1.0, 0.0]] * 30
    tree = grown(samples(losses))
    assert [led(tree, np.array([at, 0])) for at in (0, 29, 30, 49, 50, 79)] == [1, 1, 0, 0, 1, 1]


def test_what_weighs_more_decides():
    losses = [[0.0, 0.1], [0.0, 0.1], [0.1, 0.0], [0.0, 0.1]]
    assert grown(samples(losses))[0].config == 0
    assert grown(samples(losses, weights=[1, 1, 8, 1]))[0].config == 1


def test_a_tree_stays_small():
    random = np.random.default_rng(1)
    many = Samples(random.integers(100, size=(4000, 3)), random.random((4000, 5)), np.ones(4000))
    tree = grown(many)
    assert len(tree) == 2 * MOST_ENDS - 1
    depths = [0] * len(tree)
    for at, step in enumerate(tree):
        for way in (step.next, step.next + 1) if step.question else ():
            depths[way] = depths[at] + 1
    assert max(depths) <= MOST_DEPTH
