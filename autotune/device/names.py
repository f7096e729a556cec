"""From the name that a person types to a device."""

from __future__ import annotations

import logging
from pathlib import Path

from autotune.device.cuda import CudaBackend
from autotune.device.host import HostBackend
from autotune.device.lane import Lane
from autotune.device.live import LiveDevice
from autotune.device.protocol import Device
from autotune.errors import DeviceUnavailable
from autotune.records import Limits
from autotune.toolchain import HostCompiler, Nvrtc

_LOG = logging.getLogger(__name__)
_RECORDINGS = Path(__file__).parent.parent / "recordings"
_PREFERRED = "h200"
_MEANT = {"cpu": "host", "c++": "host", "gpu": "cuda:0"}
HINT = "name one with --device; 'autotune doctor' says why others are missing"


def open_device(name: str, *, limits: Limits) -> Device:
    """Open the device that a person calls ``name``; close it when done.

    Args:
        name: ``auto``, ``cuda:N`` (``cuda`` is ``cuda:0``), ``host``, ``recording:NAME`` (shipped
            with the package) or ``recording:PATH`` (a result database). ``auto`` is the
            first GPU, else the shipped recording of one; ``Device.name`` says which.
        limits: When a compile or a run is given up.

    Raises:
        DeviceUnavailable: It is not on this machine; the message lists what is.
        InvalidInput: The recording holds nothing to replay.
    """
    kind, _, which = ("cuda:0" if name == "cuda" else name).partition(":")
    if name == "auto":
        return _automatic(limits)
    if kind == "cuda" and which.isascii() and which.isdigit():
        return _cuda(int(which), limits)
    if name == "host":
        lane = Lane(HostBackend, run_limit_s=limits.run_s)
        return LiveDevice(name, compiler=HostCompiler(), lane=lane, limits=limits)
    if kind == "recording" and which:
        return _recording(which)
    meant = f"did you mean --device {_MEANT[name]}?" if name in _MEANT else ""
    raise DeviceUnavailable(f"no device {name!r}; {_known()}", hint=meant or HINT)


def recordings() -> dict[str, Path]:
    """Return the recordings that ship with the package, by name."""
    return {path.stem: path for path in sorted(_RECORDINGS.glob("*.sqlite"))}


def _automatic(limits: Limits) -> Device:
    try:
        return _cuda(0, limits)
    except DeviceUnavailable as error:
        _LOG.info("no GPU is used: %s", error.message)
    shipped = recordings()
    if not shipped:
        raise DeviceUnavailable(f"no GPU and no recording here; {_known()}", hint=HINT)
    return _recording(_PREFERRED if _PREFERRED in shipped else next(iter(shipped)))


def _cuda(index: int, limits: Limits) -> Device:
    lane = Lane(CudaBackend, index, run_limit_s=limits.run_s)
    return LiveDevice(f"cuda:{index}", compiler=Nvrtc(), lane=lane, limits=limits)


def _recording(which: str) -> Device:
    # Not above: a lane imports this package, and must not wait for a database library.
    from autotune.device.recording import RecordingDevice
    from autotune.store import Store

    shipped = recordings().get(which)
    path = shipped or Path(which)
    if not path.is_file():
        raise DeviceUnavailable(f"no recording {which!r}, nor a file of that name; {_known()}")
    store = Store.open(str(path), read_only=True, immutable=shipped is not None)
    try:
        return RecordingDevice(f"recording:{which}", store)
    except BaseException:
        store.close()
        raise


def _known() -> str:
    names = ["auto", "cuda:N", "host", *(f"recording:{name}" for name in recordings())]
    return f"devices are {', '.join(names)}, recording:PATH"
