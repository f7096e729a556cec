from __future__ import annotations

import sys
from pathlib import Path

import pytest

from autotune.device import open_device
from autotune.records import Limits
from autotune.store import Store

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def host():
    device = open_device("host", limits=Limits(compile_s=60.0, run_s=1.0))
    yield device
    device.close()


@pytest.fixture(scope="module")
def gpu():
    device = open_device("cuda:0", limits=Limits(run_s=2.0))
    yield device
    device.close()


@pytest.fixture
def store(tmp_path):
    with Store.open(f"sqlite:///{tmp_path}/cases.db") as opened:
        yield opened
