"""Where a campaign takes place: one folder, one device, and a site for each fault."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from faults_clock import MisreadHost
from faults_study import Site

from autotune.device import Device, open_device
from autotune.device.lane import Lane
from autotune.device.live import LiveDevice
from autotune.records import Limits, load_kernel
from autotune.toolchain import HostCompiler

_STDERR = 2
KERNELS = Path(__file__).resolve().parents[1] / "tests" / "kernels"
KERNEL = {
    "host": f"{KERNELS / 'faulty_host.py'}:FaultyHost",
    "cuda": f"{KERNELS / 'faulty_gpu.py'}:FaultyGpu",
}
PROBLEM: dict[str, dict[str, Any]] = {
    "host": {"m": 25, "n": 23, "k": 26},
    "cuda": {"count": 100003},
}
LIMITS = {
    "host": Limits(compile_s=6.0, run_s=2.0),
    "cuda": Limits(compile_s=15.0, run_s=5.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """A folder and the name of a device, for any number of faults."""

    root: Path
    device: str

    @contextmanager
    def site(self, name: str) -> Iterator[Site]:
        """Yield a site for one fault, with a device that no other fault has met."""
        kind = self.device.partition(":")[0]
        folder = self.root / name.replace(" ", "_")
        folder.mkdir()
        with closing(_opened(self.device, LIMITS[kind])) as device:
            yield Site(
                folder=folder,
                witness=self.root / "witness",
                device=device,
                kernel_ref=KERNEL[kind],
                problem=load_kernel(KERNEL[kind]).problem_type.parse(PROBLEM[kind]),
                limits=LIMITS[kind],
            )


@contextmanager
def campaign(device: str) -> Iterator[Campaign]:
    """Yield a campaign on the device that a person calls ``device``; leave nothing behind."""
    with tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as name:
        root = Path(name)
        root.chmod(0o755)  # another user meets some of the faults
        witness = root / "witness"
        witness.mkdir()
        own = {"AUTOTUNE_CACHE": str(root / "cache"), "FAULTS_WITNESS": str(witness)}
        with mock.patch.dict("os.environ", own), _said_to(root / "said"):
            yield Campaign(root=root, device=device)


@contextmanager
def _said_to(file: Path) -> Iterator[None]:
    """Put aside what candidates and compilers say."""
    kept = os.dup(_STDERR)
    with file.open("wb") as other:
        os.dup2(other.fileno(), _STDERR)
    try:
        yield
    finally:
        os.dup2(kept, _STDERR)
        os.close(kept)


def _opened(name: str, limits: Limits) -> Device:
    if name != "host":
        return open_device(name, limits=limits)
    lane = Lane(MisreadHost, run_limit_s=limits.run_s)
    return LiveDevice(name, compiler=HostCompiler(), lane=lane, limits=limits)
