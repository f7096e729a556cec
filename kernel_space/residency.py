"""How many blocks a multiprocessor holds at a time: what a target does not tell of it."""

from __future__ import annotations

from autotune.records import Target

RESERVED_SHARED_BYTES = 1024  # of each resident block, which the driver takes
_FEWER_THREADS = {86: 1536, 87: 1536, 89: 1536, 120: 1536, 121: 1536}  # by capability
_THREADS = 2048  # of a multiprocessor of any other


def resident_threads(target: Target) -> int:
    """Return how many threads a multiprocessor holds (CUDA programming guide)."""
    return _FEWER_THREADS.get(target.capability, _THREADS)
