"""What a table says of problems that it has no entry for, and how it weighs their fields."""

from __future__ import annotations

import dataclasses
import json

import pytest

from autotune.dispatch import Table
from autotune.records import STANDARD, Config, Measurement, Status, Trial, load_kernel
from autotune.store import Store
from autotune.table import Place, build_table
from autotune.table.certified import ROLES, certified
from autotune.toolchain import source_digest


def scale_of(export):
    return Table.parse(json.dumps(export.document)).kernels["wide_scale"]


def test_one_problem_can_say_nothing_of_others(book):
    book.add(1024, width=8)
    regret = scale_of(build_table(book.store)).regret
    assert (regret.problems, regret.judged, regret.mean, regret.worst) == (1, 0, None, None)


def test_each_problem_is_answered_by_its_nearest_neighbour(book):
    book.add(1024, width=8, ns=100.0)
    book.add(1024, width=4, ns=125.0)
    book.add(2048, width=4, ns=200.0)
    book.add(2048, width=8, ns=220.0)
    regret = scale_of(build_table(book.store)).regret
    assert (regret.rule, regret.problems, regret.judged) == ("nearest", 2, 2)
    assert (regret.mean, regret.worst) == (pytest.approx(0.175), pytest.approx(0.25))


def test_what_was_not_measured_is_not_judged(book):
    book.add(1024, width=8, ns=100.0)
    book.add(2048, width=4, ns=200.0)
    book.add(2048, width=8, ns=220.0)
    regret = scale_of(build_table(book.store)).regret
    assert (regret.problems, regret.judged, regret.worst) == (2, 1, pytest.approx(0.1))


def test_what_was_given_up_costs_at_least_its_bound(book):
    book.add(1024, width=8, ns=100.0)
    book.add(2048, width=4, ns=200.0)
    trial = Trial(
        number=99,
        problem_key="",
        config=Config(width=8, threads=128),
        status=Status.STOPPED_EARLY,
        measurement=Measurement(samples_ns=(400.0,) * 5),
        verified=True,
    )
    problem = type(book.context.problem)(count=2048)
    context = dataclasses.replace(book.context, problem=problem)
    study_id = book.store.begin_study("s", spec={}, sampler="random", seed=0)
    book.store.record(study_id, context, dataclasses.replace(trial, problem_key=problem.key))
    assert scale_of(build_table(book.store)).regret.worst == pytest.approx(1.0)


def test_where_no_entry_fits_the_default_is_judged(book):
    book.add(1024, width=8, ns=100.0)
    book.add(1023, width=1, threads=64, ns=100.0)
    book.add(1023, width=1, threads=128, ns=150.0)  # the kernel's default there
    regret = scale_of(build_table(book.store)).regret
    assert (regret.judged, regret.worst) == (1, pytest.approx(0.5))


def test_a_neighbour_that_failed_here_is_passed_over(book):
    book.add(1024, width=8, ns=100.0)
    book.add(512, width=4, ns=50.0)
    book.add(2048, width=8, status=Status.RESOURCES)
    book.add(2048, width=4, ns=220.0)
    book.add(2048, width=2, ns=200.0)
    regret = scale_of(build_table(book.store)).regret
    assert (regret.judged, regret.worst) == (1, pytest.approx(0.1))


class Products:
    """Matrix products in the database whose times only ``n`` decides."""

    def __init__(self, book):
        self.book = book
        self.kernel = load_kernel("host_matmul")
        self.configs = {}

    def add(self, m, n, *, best):
        """Record every config on a problem; ``best`` is the fastest by far."""
        problem = self.kernel.problem_type(m=m, n=n, k=64)
        target = self.book.context.device.target
        default = self.kernel.default(problem, target)
        context = dataclasses.replace(
            self.book.context,
            kernel="host_matmul",
            kernel_ref="host_matmul",
            problem=problem,
            source_digest=source_digest(self.kernel.unit(problem, default, target)),
            policy=STANDARD,
        )
        study_id = self.book.store.begin_study("p", spec={}, sampler="random", seed=0)
        for at, config in enumerate(list(self.kernel.space(problem, target))[:4]):
            ns = 100.0 if at == best else 200.0
            trial = Trial(
                number=at,
                problem_key=problem.key,
                config=config,
                status=Status.OK,
                measurement=Measurement(samples_ns=(ns,) * 5),
                verified=True,
            )
            self.book.store.record(study_id, context, trial)


def test_weights_follow_the_field_that_decides(book):
    products = Products(book)
    for m in (64, 256, 1024):
        for at, n in enumerate((64, 128, 256)):  # nearer than the next m, and of another winner
            products.add(m, n, best=at)
    table = Table.parse(json.dumps(build_table(book.store).document)).kernels["host_matmul"]
    m, n, _ = table.weights
    assert n > 2 * m
    assert (table.regret.judged, table.regret.worst) == (9, 0.0)


def test_weights_stay_alike_where_nothing_is_gained(book):
    products = Products(book)
    for m in (64, 256, 1024):
        for n in (64, 128):
            products.add(m, n, best=0)
    table = Table.parse(json.dumps(build_table(book.store).document)).kernels["host_matmul"]
    assert set(table.weights) == {1}


def test_a_gain_for_one_problem_alone_moves_no_weight(book):
    """It is its own witness: the others cannot have known."""
    products = Products(book)
    products.add(64, 64, best=0)
    products.add(64, 128, best=1)
    products.add(256, 64, best=0)
    table = Table.parse(json.dumps(build_table(book.store).document)).kernels["host_matmul"]
    assert set(table.weights) == {1}


def test_what_is_judged_is_what_a_program_would_be_answered(book, tmp_path):
    """The regret is that of tables without each problem in turn: one rule, not two."""
    times = {8: (100.0, 140.0), 16: (300.0, 210.0), 24: (300.0, 310.0), 96: (900.0, 700.0)}

    def record(into, counts):
        for count in counts:
            for threads, ns in zip((64, 256), times[count], strict=True):
                into.add(count, width=8, threads=threads, ns=ns)

    record(book, times)
    losses = []
    for left_out, taken in times.items():
        with Store.open(f"sqlite:///{tmp_path}/{left_out}.db") as store:
            other = type(book)(store)
            record(other, [count for count in times if count != left_out])
            table = Table.parse(json.dumps(build_table(store).document))
        config = table.lookup(count=left_out, dtype="fp32").config
        losses.append(taken[(64, 256).index(config["threads"])] / min(taken) - 1)
    regret = scale_of(build_table(book.store)).regret
    assert (regret.judged, regret.worst) == (4, pytest.approx(max(losses), abs=1e-4))
    assert regret.mean == pytest.approx(sum(losses) / 4, abs=1e-4)


def test_a_regret_does_not_outlive_the_entries_that_it_spoke_of(book):
    for count in (1024, 2048):
        book.add(count, width=8, ns=100.0)
    document = build_table(book.store).document
    document["kernels"]["wide_scale"]["forest"] = {"measures": [], "trees": []}
    places = [
        Place("wide_scale", role, at)
        for role in ROLES
        for at in range(len(document["kernels"]["wide_scale"][role]))
    ]
    whole = certified(document, {place: {} for place in places}, {})
    assert whole["kernels"]["wide_scale"]["regret"]["problems"] == 2
    less = certified(document, {place: {} for place in places[1:]}, {})
    assert {"regret", "forest"}.isdisjoint(less["kernels"]["wide_scale"])
    assert "regret" in document["kernels"]["wide_scale"]
