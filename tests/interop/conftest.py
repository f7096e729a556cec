"""A database to import into, and the made-up files of each format."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotune.interop import import_files
from autotune.store import Store

DATA = Path(__file__).parent / "data"


@pytest.fixture
def data():
    return DATA


@pytest.fixture
def database(tmp_path):
    return tmp_path / "imported.db"


@pytest.fixture
def store(database):
    with Store.open(str(database)) as opened:
        yield opened


@pytest.fixture
def imported(store):
    """Import made-up files and return the rows of the last, by number, and what was told."""

    def run(*names, known=None):
        told = [*import_files([DATA / name for name in names], store, known)][-1]
        rows = [row for row in store.rows() if row.study == told.study]
        return rows, told

    return run
