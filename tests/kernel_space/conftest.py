from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for the helpers beside the tests


@pytest.fixture(scope="module")
def hopper():
    from autotune.device import open_device
    from autotune.records import Limits

    opened = open_device("cuda:0", limits=Limits())
    if opened.identity.target.arch != "sm_90a":
        opened.close()
        pytest.skip("these mechanisms are Hopper's")
    yield opened
    opened.close()
