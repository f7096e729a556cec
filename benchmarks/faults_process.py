"""``autotune tune`` as a process of its own, to be stopped at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

PATIENCE_S = 60.0  # what takes longer is a fault of its own
POLL_S = 0.01
MARK = "AUTOTUNE_CAMPAIGN"  # in the environment of all that a study starts


class Tuning:
    """A study that runs as a process.

    Args:
        study: Its file.
        database: Where the results go.
        device: What it is tuned on.
        environment: What its processes see besides this one's.
    """

    def __init__(
        self,
        study: Path,
        database: Path,
        *,
        device: str = "host",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._mark = f"{study.parent}-{time.monotonic_ns()}"
        self._said = study.with_suffix(".err").open("w+b")
        command = [sys.executable, "-m", "autotune", "-q", "tune", str(study), "--device", device]
        self._process = subprocess.Popen(
            [*command, "--db", f"sqlite:///{database}"],
            env={**os.environ, **(environment or {}), MARK: self._mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._said,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """The coordinator."""
        return self._process.pid

    def until(self, condition: Callable[[], bool]) -> bool:
        """Wait for a moment; return False if the process ended before it came."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            if self._process.poll() is not None:
                return False
            if time.monotonic() > deadline:
                raise TimeoutError("the moment to stop the study at never came")
            time.sleep(POLL_S)
        return True

    def stop(self, number: signal.Signals) -> float:
        """Send the coordinator alone a signal, and return the seconds until it is gone."""
        began = time.monotonic()
        self._process.send_signal(number)
        self._process.wait(PATIENCE_S)
        return time.monotonic() - began

    def wait(self) -> int:
        """Return its exit code, once it has ended."""
        return self._process.wait(PATIENCE_S)

    @property
    def said(self) -> str:
        """What it wrote to standard error."""
        self._said.seek(0)
        return self._said.read().decode(errors="replace")

    def orphans(self, within_s: float) -> list[int]:
        """Return the processes that it started and that live on after so many seconds."""
        deadline = time.monotonic() + within_s
        while (left := _marked(self._mark)) and time.monotonic() < deadline:
            time.sleep(POLL_S)
        return left

    def close(self) -> None:
        """Kill what is left of it."""
        self._process.kill()
        self._process.wait()
        for pid in _marked(self._mark):
            os.kill(pid, signal.SIGKILL)
        self._said.close()


@contextmanager
def tuning(
    study: Path,
    database: Path,
    *,
    device: str = "host",
    environment: Mapping[str, str] | None = None,
) -> Iterator[Tuning]:
    """Start a study, and leave nothing of it behind."""
    started = Tuning(study, database, device=device, environment=environment)
    try:
        yield started
    finally:
        started.close()


def _marked(mark: str) -> list[int]:
    """Return the living processes whose environment has ``mark``."""
    wanted, found = f"{MARK}={mark}".encode(), []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            lives = (process / "cmdline").read_bytes()  # a zombie has none
            if lives and wanted in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
        except OSError:  # it ended, or is another user's
            continue
    return found
