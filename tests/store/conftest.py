from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from autotune.store import Store

sys.path.insert(0, str(Path(__file__).parent))
import store_samples as samples


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.db"


@pytest.fixture
def url(path):
    return f"sqlite:///{path}"


@pytest.fixture(scope="session")
def new_database(tmp_path_factory):
    """An empty database, made once: a copy of it is ready at once."""
    made = tmp_path_factory.mktemp("store") / "new.db"
    Store.open(str(made)).close()
    return made


@pytest.fixture
def store(new_database, path, url):
    shutil.copy(new_database, path)
    with Store.open(url) as opened:
        yield opened


@pytest.fixture
def study(store):
    return store.begin_study("first", **samples.STUDY)
