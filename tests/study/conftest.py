from __future__ import annotations

import sys
from pathlib import Path

import pytest

from autotune.device import open_device
from autotune.store import Store

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "kernels")]
from patience import PATIENT, limited  # noqa: E402 - found by the line above


@pytest.fixture(scope="module")
def host():
    device = limited(open_device("host", limits=PATIENT))
    yield device
    device.close()


@pytest.fixture
def store(tmp_path):
    with Store.open(f"sqlite:///{tmp_path}/study.db") as store:
        yield store
