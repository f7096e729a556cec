"""Keep tests off the user's folders, and GPU tests off machines without a GPU."""

from __future__ import annotations

import ctypes
import functools
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# As the command line sets it, before numpy is loaded: a search solves small systems, which threads
# that wait for each other make twenty times slower on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A busy machine may pause any process for seconds: how long an example takes says nothing.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

# What a script runs in the background ignores Ctrl-C, and so would the programs that tests
# interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@functools.cache
def _visible_gpus() -> int:
    """Ask the driver itself: it honours CUDA_VISIBLE_DEVICES and needs no package."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep GPU tests in one worker: one process at a time measures on a GPU."""
    for item in items:
        if item.get_closest_marker("gpu") is not None:
            item.add_marker(pytest.mark.xdist_group("gpu"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") is not None and not _visible_gpus():
        pytest.skip("no GPU is visible")


@pytest.fixture(scope="session", autouse=True)
def _shared_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Point every default folder below the run's own; binaries are shared by its workers."""
    base = tmp_path_factory.getbasetemp()
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOTUNE_CACHE", str(run / "cache"))
        patch.delenv("COLUMNS", raising=False)  # a pipe has no width, here as elsewhere
        for variable in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            patch.setenv(variable, str(base / variable.lower()))
        patch.delenv("NO_COLOR", raising=False)
        patch.delenv("FORCE_COLOR", raising=False)
        yield


@pytest.fixture(autouse=True)
def _own_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Give each test a default database of its own."""
    monkeypatch.setenv("AUTOTUNE_DB", f"sqlite:///{tmp_path}/autotune.db")
