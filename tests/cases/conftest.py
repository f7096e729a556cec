from __future__ import annotations

import sys
from pathlib import Path

import pytest

from autotune.device import open_device
from autotune.device.host import HostBackend
from autotune.device.lane import Lane
from autotune.device.live import LiveDevice
from autotune.records import Limits
from autotune.store import Store
from autotune.toolchain import HostCompiler

sys.path.insert(0, str(Path(__file__).parent))
from doublings import hangs

HANGS_S, LIMITS = 1.0, Limits(compile_s=120.0, run_s=120.0)


class LaneOfDoublings(Lane):
    """Gives up soon what hangs, and it alone: a busy machine may hold up what does not."""

    def measure(self, job, *, config, binary, best_ns=None):
        self._run_limit_s = HANGS_S if hangs(job.problem["count"], config) else LIMITS.run_s
        return super().measure(job, config=config, binary=binary, best_ns=best_ns)


@pytest.fixture(scope="session")
def host():
    lane = LaneOfDoublings(HostBackend, run_limit_s=LIMITS.run_s)
    device = LiveDevice("host", compiler=HostCompiler(), lane=lane, limits=LIMITS)
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
