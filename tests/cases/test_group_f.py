"""The database: what an upgrade keeps, what an edit makes invalid, and whose rows are whose."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from doublings import HOST, POLICY, kernel, run

from autotune.dispatch import Table
from autotune.errors import InvalidInput, NoValidConfig
from autotune.records import (
    Config,
    DeviceIdentity,
    Measurement,
    Status,
    Target,
    Toolchain,
    Trial,
    load_kernel,
)
from autotune.store import Context, Filter, Store, check, downgrade, head, migrate, upgrade
from autotune.table import build_table
from autotune.toolchain import source_digest

REVISIONS = Path(__file__).parent / "revisions"  # dumps of databases that older versions wrote
PAST = sorted(each.stem for each in REVISIONS.glob("*.sql"))


def columns_of(path):
    """Return the columns of each table of results."""
    with closing(sqlite3.connect(path)) as raw:
        found = raw.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%version'"
        ).fetchall()
        return {
            name: [column[1] for column in raw.execute(f"PRAGMA table_info({name})")]
            for (name,) in found
        }


def contents(path, columns):
    """Return the rows of these tables, as far as ``columns`` go."""
    with closing(sqlite3.connect(path)) as raw:
        return {
            name: raw.execute(f"SELECT {', '.join(some)} FROM {name} ORDER BY id").fetchall()
            for name, some in columns.items()
        }


@pytest.fixture
def old(request, tmp_path):
    """A database as an older version left it, with rows in every table."""
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as raw:
        raw.executescript((REVISIONS / f"{request.param}.sql").read_text())
    assert all(contents(path, columns_of(path)).values())
    return path


def test_every_past_revision_has_a_database_to_try():
    revisions = migrate.scripts_folder() / "versions"
    known = sorted(each.name.partition("_")[0] for each in revisions.glob("*.py"))
    assert sorted({*PAST, head()}) == known


@pytest.mark.parametrize("old", PAST, indirect=True)
def test_an_older_database_keeps_every_row_there_and_back_again(old):
    url, columns = f"sqlite:///{old}", columns_of(old)
    before = contents(old, columns)
    revision = upgrade(url).before
    assert contents(old, columns) == before
    check(url)
    with Store.open(url) as store:
        assert len(store.rows()) == len(before["trial"])
        assert store.best()
    downgrade(url, revision)
    assert contents(old, columns) == before
    upgrade(url)
    assert contents(old, columns) == before


@pytest.fixture
def edited(tmp_path):
    """A kernel whose source includes a header, and the header."""
    home = tmp_path / "kernel"
    shutil.copytree(Path(HOST.partition(":")[0]).parent, home)
    source, header = home / "doubling.cpp", home / "factor.h"
    source.write_text('#include "factor.h"\n' + source.read_text().replace("2.0f *", "FACTOR *"))
    header.write_text("constexpr float FACTOR = 2.0f;\n")
    return f"{home / 'doubling.py'}:Doubling", header


def test_an_edit_in_a_header_makes_old_times_void_and_undoing_it_brings_them_back(
    host, store, edited
):
    reference, header = edited
    of = kernel(("right", "right:1"), made=type(load_kernel(reference)))
    text = header.read_text()
    ran = []
    for now in (text, text, text.replace("2.0", "3.0"), text):
        header.write_text(now)
        [report] = run(host, store, kernel=of, reference=reference)
        ran.append((report.ran, report.statuses[Status.OK]))
    assert ran == [(2, 2), (0, 2), (2, 0), (0, 2)]
    assert len({row.context.source_digest for row in store.rows()}) == 2
    header.write_text(text + "// another comment\n")
    with pytest.raises(NoValidConfig, match="measured with another source of the kernel"):
        build_table(store)


@pytest.mark.parametrize("change", [{"verify": False}, {"cache": "hot"}, {"draws": 2}], ids=str)
def test_another_way_to_measure_or_to_verify_reuses_nothing(host, store, change):
    names = ("right", "right:1")
    assert run(host, store, *names)[0].ran == 2
    for ran in (2, 0):
        assert run(host, store, *names, policy=POLICY.replace(**change))[0].ran == ran
    assert run(host, store, *names)[0].ran == 0


def target(arch):
    return Target(
        arch=arch,
        sm_count=132,
        shared_bytes_per_block=232_448,
        shared_bytes_per_sm=233_472,
        l2_bytes=60 << 20,
    )


H200, A100, NAMELESS = (
    DeviceIdentity(kind="cuda", name=name, target=target(arch), memory_bytes=1 << 37, driver="580")
    for name, arch in (("NVIDIA H200", "sm_90a"), ("NVIDIA A100", "sm_80"), ("", "sm_90a"))
)


def brought(store, device, ns):
    """Keep a row that another machine measured."""
    of = kernel(("right", "right:1"))
    problem = of.problem_type(count=1024)
    config = Config(candidate="right" if device is H200 else "right:1")
    context = Context(
        kernel=of.name,
        kernel_ref=HOST,
        source_digest=source_digest(of.unit(problem, config, device.target)),
        problem=problem,
        device=device,
        toolchain=Toolchain(compiler="c++", version="1"),
        policy=POLICY,
    )
    trial = Trial(
        number=0,
        problem_key=problem.key,
        config=config,
        status=Status.OK,
        measurement=Measurement(samples_ns=(ns,) * 5),
        verified=True,
    )
    study = store.begin_study(f"on {device.name}", spec={}, sampler="random", seed=0)
    store.record(study, context, trial)


def test_rows_of_other_machines_are_kept_and_never_chosen(store):
    for device, ns in ((H200, 900.0), (A100, 100.0), (NAMELESS, 1.0)):
        brought(store, device, ns)
    assert {row.context.device for row in store.rows()} == {H200, A100, NAMELESS}
    assert len(store.best()) == 3
    with pytest.raises(InvalidInput, match="a table is of one device, and these results are of 3"):
        build_table(store)
    table = Table.parse(json.dumps(build_table(store, device="H200").document))
    assert table.device.name == "NVIDIA H200"
    assert table.lookup(count=1024).config["candidate"] == "right"
    assert [row.trial.median_ns for row in store.rows(Filter(device="H200"))] == [900.0]
