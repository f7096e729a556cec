"""Tables: what a program is answered where nobody tuned, and from a file that is not whole."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.device import open_device
from autotune.dispatch import Table, broken_condition
from autotune.errors import InvalidTable, NoValidConfig
from autotune.records import Config, Limits, load_kernel
from autotune.store import Store
from autotune.study import StudySpec, run_study
from autotune.table import build_table, write_table

GEMM = load_kernel("gemm")
FIELDS = {"n": 4096, "k": 7168, "dtype": "bf16", "layout": "nt"}
SIZES = st.one_of(st.integers(1, 70), st.integers(1, 1 << 16))


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The path of a table of what the shipped recording says of a few rows and of many."""
    folder = tmp_path_factory.mktemp("exported")
    shapes = ((16, 4096, 7168), (4096, 4096, 4096))
    study = StudySpec(
        name="few and many",
        kernel_ref="gemm",
        kernel=GEMM,
        problems=tuple(GEMM.problem_type(*shape) for shape in shapes),
        trials=3,
        sampler="random",
    )
    with (
        closing(open_device("recording:h200", limits=Limits())) as device,
        Store.open(f"sqlite:///{folder}/results.db") as store,
    ):
        run_study(study, device=device, store=store)
        write_table(build_table(store), folder / "table.json")
    return folder / "table.json"


@pytest.fixture(scope="module")
def table(exported):
    return Table.load(exported)


@given(m=SIZES, n=SIZES, k=SIZES)
def test_whatever_shape_is_asked_for_is_answered_by_what_is_right_there(table, m, n, k):
    problem = GEMM.problem_type(m=m, n=n, k=k)
    choice = table.lookup(**problem.as_dict())
    assert choice.source in ("exact", "nearest", "default")
    own = GEMM.conditions(problem, Config(choice.config))
    assert broken_condition(own, problem.as_dict()) is None


def test_a_dtype_that_nobody_tuned_is_no_answer_and_says_what_there_is(table):
    with pytest.raises(NoValidConfig, match="the table has dtype bf16"):
        table.lookup(m=16, **{**FIELDS, "dtype": "fp32"})


def test_a_table_without_entries_answers_nothing_and_one_that_is_missing_says_so(exported):
    empty = json.loads(exported.read_text())
    empty["kernels"]["gemm"] |= {"entries": [], "defaults": [], "contexts": {}}
    with pytest.raises(NoValidConfig, match="no entry and no default"):
        Table.parse(json.dumps(empty)).lookup(m=16, **FIELDS)
    with pytest.raises(InvalidTable, match="cannot be read: No such file"):
        Table.load(exported.with_name("other.json"))


@pytest.mark.parametrize(("m", "served_by"), [(17, 16), (2048, 4096), (100_000, 4096)])
def test_a_size_between_or_beyond_is_served_by_the_nearer(table, m, served_by):
    choice = table.lookup(m=m, n=4096, k=4096, dtype="bf16", layout="nt")
    assert choice.entry.problem["m"] == served_by


def test_half_way_is_decided_once_for_all(exported):
    """24 of 16 and 32 rows: on the log scale that tables state, and so does every program."""
    document = json.loads(exported.read_text())
    gemm = document["kernels"]["gemm"]
    low = next(entry for entry in gemm["entries"] if entry["problem"]["m"] == 16)
    gemm["entries"] = [low, low | {"problem": low["problem"] | {"m": 32}}]
    for entries in (gemm["entries"], gemm["entries"][::-1]):
        gemm["entries"] = entries
        find = Table.parse(json.dumps(document)).finder("gemm")
        chosen = [find[m, 4096, 7168, "bf16", "nt"].entry.problem["m"] for m in (22, 23, 24)]
        assert chosen == [16, 32, 32]


def test_every_entry_is_a_row_that_was_verified(exported, table):
    with closing(sqlite3.connect(exported.with_name("results.db"))) as database:
        rows = dict(database.execute("SELECT id, status FROM trial"))
    for entry in table.kernels["gemm"].entries:
        assert entry.evidence.verified
        assert rows[entry.evidence.row_id] == "ok"
