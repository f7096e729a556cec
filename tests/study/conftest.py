from __future__ import annotations

import pytest

from autotune.store import Store


@pytest.fixture
def store(tmp_path):
    with Store.open(f"sqlite:///{tmp_path}/study.db") as store:
        yield store
