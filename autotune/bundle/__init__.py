"""Write a table with its binaries, and find them in one: what runs where there is no compiler."""

from __future__ import annotations

from autotune.bundle.packed import Compiling, Images, Packed
from autotune.bundle.units import Need, needs, unit_key
from autotune.bundle.write import Written, target_of, write_bundle

__all__ = [
    "Compiling",
    "Images",
    "Need",
    "Packed",
    "Written",
    "needs",
    "target_of",
    "unit_key",
    "write_bundle",
]
