"""Whether a table that was measured on one device may serve another.

What is right there must be right here, so the architecture and the shared memory of a block
decide what is refused. What is fast there is mostly fast here, as long as the multiprocessors are
about as many: the choices of a whole GPU say little of a small slice of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from autotune.dispatch.records import Device

EXACT, COMPATIBLE, REFUSED = "exact", "compatible", "refused"
_SAME_MEMORY = 0.05  # drivers of one card hand out this much more or less
_MOST_TIMES = 2.0  # as many multiprocessors


class Running(NamedTuple):
    """The device that a program runs on; sizes in bytes."""

    kind: str
    name: str
    arch: str
    sm_count: int
    shared_bytes_per_block: int
    memory_bytes: int


class Fit(NamedTuple):
    """Whether a table serves a device.

    Attributes:
        answer: ``exact`` for the same model; ``compatible`` for one on which every config is
            right, but may not be the fastest; ``refused`` for one on which it may not run, or for
            which the choices say nothing.
        why: What differs, in words; empty if nothing does.
    """

    answer: str
    why: str


def fit(tuned: Device, here: Running) -> Fit:
    """Return whether what was measured on ``tuned`` may serve ``here``."""
    refusals = list(_refusals(tuned, here))
    if refusals:
        return Fit(REFUSED, "; ".join(refusals))
    differences = list(_differences(tuned, here))
    return Fit(COMPATIBLE if differences else EXACT, "; ".join(differences))


def _refusals(tuned: Device, here: Running) -> Iterator[str]:
    if (tuned.kind, tuned.arch) != (here.kind, here.arch):
        yield f"the table is for {tuned.arch}, and this device is {here.arch}"
        return
    if here.shared_bytes_per_block < tuned.shared_bytes_per_block:
        yield (
            f"the table is for {tuned.shared_bytes_per_block} bytes of shared memory in a block, "
            f"and this device has {here.shared_bytes_per_block}"
        )
    fewer, more = sorted((tuned.sm_count, here.sm_count))
    if more > _MOST_TIMES * fewer:
        yield (
            f"the table is for {tuned.sm_count} multiprocessors, and this device has "
            f"{here.sm_count}"
        )


def _differences(tuned: Device, here: Running) -> Iterator[str]:
    if tuned.name != here.name:
        yield f"tuned on {tuned.name}, and this is {here.name}"
    if tuned.sm_count != here.sm_count:
        yield f"tuned on {tuned.sm_count} multiprocessors, and here are {here.sm_count}"
    if here.shared_bytes_per_block > tuned.shared_bytes_per_block:
        yield (
            f"tuned for {tuned.shared_bytes_per_block} bytes of shared memory in a block, and "
            f"here are {here.shared_bytes_per_block}"
        )
    if abs(tuned.memory_bytes - here.memory_bytes) > _SAME_MEMORY * tuned.memory_bytes:
        then, now = _gib(tuned.memory_bytes), _gib(here.memory_bytes)
        yield f"tuned with {then} of memory, and here are {now}"


def _gib(memory_bytes: int) -> str:
    return f"{memory_bytes / 2**30:.0f} GiB"
