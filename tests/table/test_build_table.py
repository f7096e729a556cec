"""What an export takes from the database, what it refuses, and what it says about both."""

from __future__ import annotations

import dataclasses
import json
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from autotune.dispatch import Table
from autotune.errors import InvalidInput, NoValidConfig
from autotune.records import QUICK, Finalist, Status
from autotune.store import Store
from autotune.table import build_table


def table_of(export):
    return Table.parse(json.dumps(export.document))


def test_the_fastest_verified_row_answers(book):
    book.add(1024, width=4, ns=900.0)
    best = book.add(1024, width=8, ns=500.0)
    book.add(1024, width=2, ns=100.0, verified=False)
    export = build_table(book.store)
    choice = table_of(export).lookup(count=1024, dtype="fp32")
    assert (choice.source, choice.config["width"]) == ("exact", 8)
    assert choice.entry.evidence.row_id == best.row_id
    assert export.entries == 1


def test_an_entry_carries_what_an_expert_asks_for(book):
    trial = book.add(1024, width=8, samples=(500.0, 501.0, 502.0, 503.0, 510.0), study="night")
    table = table_of(build_table(book.store))
    scale = table.kernels["wide_scale"]
    evidence = scale.entries[0].evidence
    assert (evidence.time_ns, evidence.samples, evidence.study) == (502.0, 5, "night")
    assert evidence.spread == pytest.approx(trial.measurement.spread, abs=1e-4)
    context = scale.contexts[evidence.context]
    assert context.source_digest == book.context.source_digest
    assert (context.compiler, context.compiler_version) == ("nvrtc", "13.0")
    assert context.policy == dataclasses.asdict(book.context.policy)
    assert (table.device.arch, table.device.driver) == ("sm_90a", "580.00")


def test_the_conditions_of_the_kernel_travel_with_the_entry(book):
    book.add(1024, width=8, ns=500.0)
    table = table_of(build_table(book.store))
    assert table.lookup(count=2048, dtype="fp32").source == "nearest"
    choice = table.lookup(count=2049, dtype="fp32")
    assert (choice.source, choice.config["width"]) == ("default", 1)


def test_unverified_rows_are_refused_unless_asked_for(book):
    book.add(1024, width=4, verified=False)
    with pytest.raises(NoValidConfig, match="never verified"):
        build_table(book.store)
    table = table_of(build_table(book.store, unverified=True))
    assert table.kernels["wide_scale"].entries[0].evidence.verified is False


@pytest.mark.parametrize("status", [Status.INCORRECT, Status.NONDETERMINISTIC, Status.CRASHED])
def test_a_config_that_was_ever_wrong_is_not_offered(book, status):
    book.add(1024, width=8, ns=1.0, study="lucky")
    book.add(1024, width=8, status=status, study="unlucky")
    book.add(1024, width=8, ns=1.0, study="lucky again")
    book.add(1024, width=2, ns=900.0)
    assert table_of(build_table(book.store)).lookup(count=1024, dtype="fp32").config["width"] == 2


def test_a_default_that_was_wrong_is_not_the_default(book):
    book.add(1024, width=4, threads=128, status=Status.INCORRECT)
    book.add(1024, width=2, ns=900.0)
    table = table_of(build_table(book.store))
    assert [default.config["width"] for default in table.kernels["wide_scale"].defaults] == [1]


def test_a_measured_default_says_so(book):
    book.add(1024, width=8, ns=500.0)
    row = book.add(1024, width=4, threads=128, ns=800.0)
    strict, lenient = table_of(build_table(book.store)).kernels["wide_scale"].defaults
    assert (strict.config["width"], strict.evidence.row_id) == (4, row.row_id)
    assert (lenient.config["width"], lenient.evidence) == (1, None)


def test_near_ties_have_one_winner(book):
    """Two configs that are equal in truth: noise must not choose between them."""
    chance = random.Random(0)
    for n in range(1, 51):
        for threads in (64, 256):
            samples = tuple(chance.gauss(1000.0, 20.0) for _ in range(25))
            book.add(8 * n, width=8, threads=threads, samples=samples)
    entries = table_of(build_table(book.store)).kernels["wide_scale"].entries
    winners = Counter(entry.config["threads"] for entry in entries)
    assert max(winners.values()) >= 49
    assert sum(entry.evidence.tied for entry in entries) >= 49


def test_a_clear_difference_is_no_tie(book):
    for threads, ns in ((64, 1000.0), (256, 900.0)):
        book.add(8, width=8, threads=threads, samples=tuple(ns + i for i in range(11)))
    evidence = table_of(build_table(book.store)).kernels["wide_scale"].entries[0].evidence
    assert (evidence.time_ns, evidence.tied) == (905.0, 0)


def test_scatter_does_not_make_a_slow_config_a_tie(book):
    """The slower one comes first in the order that decides ties."""
    scattered = (600.0, 800.0, 1060.0, 1300.0, 1500.0)
    book.add(8, width=8, threads=64, samples=tuple(ns - 60.0 for ns in scattered))
    book.add(8, width=8, threads=256, samples=scattered)
    entry = table_of(build_table(book.store)).kernels["wide_scale"].entries[0]
    assert (entry.config["threads"], entry.evidence.tied) == (64, 0)


def test_rows_of_another_source_are_left_out_and_named(book):
    book.add(1024, width=8, source_digest="0" * 32)
    book.add(2048, width=8)
    export = build_table(book.store)
    assert export.entries == 1
    assert "count=1024,dtype=fp32: measured with another source" in export.left_out[0]


def test_rows_that_differ_in_policy_are_not_compared(book):
    book.add(1024, width=8, ns=900.0)
    book.add(1024, width=2, ns=1.0, policy=QUICK, study="older")
    book.add(1024, width=4, ns=950.0, study="newest")
    export = build_table(book.store)
    assert table_of(export).lookup(count=1024, dtype="fp32").config["width"] == 8
    assert "under another policy" in export.left_out[0]


def test_what_was_measured_goes_before_what_was_replayed(book):
    book.add(1024, width=8, ns=900.0)
    book.add(1024, width=4, ns=1.0, replayed_from="h200")
    book.add(2048, width=4, ns=1.0, replayed_from="h200", source_digest="0" * 32)
    entries = table_of(build_table(book.store)).kernels["wide_scale"].entries
    assert [(e.problem["count"], e.evidence.origin) for e in entries] == [
        (1024, "measured"),
        (2048, "replayed"),
    ]


def test_two_devices_do_not_go_into_one_table(book):
    other = dataclasses.replace(book.context.device, name="NVIDIA A100")
    book.add(1024, width=8)
    book.add(1024, width=4, device=other)
    with pytest.raises(InvalidInput, match=r"NVIDIA A100.*NVIDIA H200|NVIDIA H200.*NVIDIA A100"):
        build_table(book.store)
    assert table_of(build_table(book.store, device="a100")).device.name == "NVIDIA A100"
    assert table_of(build_table(book.store, device=other.key[:8])).device.name == "NVIDIA A100"


def test_studies_can_be_chosen(book):
    book.add(1024, width=8, ns=1.0, study="a")
    book.add(1024, width=4, ns=2.0, study="b")
    export = build_table(book.store, ["b"])
    assert table_of(export).lookup(count=1024, dtype="fp32").config["width"] == 4
    with pytest.raises(InvalidInput, match="no study named 'c'; the database has: a, b"):
        build_table(book.store, ["c"])


def test_a_config_that_the_space_no_longer_has_is_not_offered(book):
    book.add(1024, width=16, ns=1.0)
    book.add(1024, width=8, ns=900.0)
    assert table_of(build_table(book.store)).lookup(count=1024, dtype="fp32").config["width"] == 8


def test_nothing_to_export_says_why(book):
    with pytest.raises(NoValidConfig, match="the database has no rows"):
        build_table(book.store)
    book.add(1024, width=8, status=Status.COMPILE_ERROR)
    with pytest.raises(NoValidConfig, match="fp32: no config of it ran and was right"):
        build_table(book.store)


def test_a_kernel_from_two_places_is_refused(book, tmp_path):
    here = Path(book.context.kernel_ref.partition(":")[0])
    home = Path(shutil.copy(here, tmp_path))
    shutil.copy(here.with_name("scale.cu"), tmp_path)
    book.add(1024, width=8)
    book.add(2048, width=8, kernel_ref=f"{home}:WideScale")
    with pytest.raises(InvalidInput, match="kernel 'wide_scale' comes from"):
        build_table(book.store)


def test_the_same_rows_give_the_same_document(book, monkeypatch, tmp_path):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    for n in (4096, 8, 1024):
        book.add(n, width=8)
    first = build_table(book.store)
    with Store.open(f"sqlite:///{tmp_path / 'results.db'}", read_only=True) as again:
        assert build_table(again) == first
    assert first.document["created"] == "2023-11-14T22:13:20Z"
    sizes = [
        entry["problem"]["count"] for entry in first.document["kernels"]["wide_scale"]["entries"]
    ]
    assert sizes == [8, 1024, 4096]


def test_a_bad_source_date_epoch_is_named(book, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    book.add(8, width=8)
    with pytest.raises(InvalidInput, match="SOURCE_DATE_EPOCH must be seconds, not 'yesterday'"):
        build_table(book.store)


def met(book, *rounds, study="s"):
    """Hold a final between trials that were recorded before it."""
    study_id = book.store.begin_study(study, spec={}, sampler="random", seed=0)
    context = dataclasses.replace(book.context, problem=type(book.context.problem)(count=1024))
    finalists = [Finalist(config=trial.config, rounds_ns=ns) for trial, ns in rounds]
    book.store.record_final(study_id, context, finalists)


def winners_width(book, *studies):
    table = table_of(build_table(book.store, studies))
    return table.lookup(count=1024, dtype="fp32").config["width"]


def test_a_final_decides_against_the_luck_of_the_search(book):
    lucky, steady = book.add(1024, width=8, ns=500.0), book.add(1024, width=4, ns=510.0)
    assert winners_width(book) == 8
    met(book, (lucky, (530.0, 531.0, 529.0)), (steady, (510.0, 511.0, 509.0)))
    assert winners_width(book) == 4


def test_a_final_of_a_study_that_was_not_chosen_decides_nothing(book):
    lucky, steady = book.add(1024, width=8, ns=500.0), book.add(1024, width=4, ns=510.0)
    met(book, (lucky, (530.0, 531.0, 529.0)), (steady, (510.0, 511.0, 509.0)))
    book.add(1024, width=8, ns=500.0, study="other")
    met(book, (lucky, (500.0, 501.0, 499.0)), (steady, (510.0, 511.0, 509.0)), study="other")
    assert winners_width(book, "s") == 4
    assert winners_width(book, "other") == winners_width(book) == 8


def test_a_faster_trial_after_the_final_overrules_it(book):
    one, two = book.add(1024, width=8, ns=500.0), book.add(1024, width=4, ns=510.0)
    met(book, (one, (530.0, 531.0, 529.0)), (two, (510.0, 511.0, 509.0)))
    book.add(1024, width=2, ns=505.0)
    assert winners_width(book) == 2


def test_a_leader_that_was_measured_again_ties_with_others_once(book):
    scattered = tuple(500.0 + 10 * i for i in range(5))
    one = book.add(1024, width=8, samples=tuple(ns + 1 for ns in scattered))
    two = book.add(1024, width=4, samples=scattered)
    met(book, (one, (510.0, 511.0, 509.0)), (two, (511.0, 510.0, 510.0)))
    book.add(1024, width=4, samples=scattered, study="later")
    [entry] = table_of(build_table(book.store)).kernels["wide_scale"].entries
    assert entry.evidence.tied == 1


def test_what_failed_in_the_final_is_not_offered(book):
    fast, slow = book.add(1024, width=8, ns=500.0), book.add(1024, width=4, ns=900.0)
    met(book, (fast, ()), (slow, (900.0, 900.0, 900.0)))
    assert winners_width(book) == 4
