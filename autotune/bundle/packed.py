"""Where the binary of a unit comes from: a compiler, or a bundle."""

from __future__ import annotations

from typing import Protocol

from autotune.bundle.units import unit_key
from autotune.dispatch.bundle import Bundle
from autotune.errors import InvalidInput
from autotune.records import Binary, Failure, Resources, SourceUnit, Status
from autotune.toolchain import BinaryStore, Compiler, compile_now


class Images(Protocol):
    """Finds the binary of a unit, or says why there is none.

    Attributes:
        compiles: True if binaries are made of the sources that are installed here.
    """

    compiles: bool

    def find(self, unit: SourceUnit, arch: str) -> Binary | Failure:
        """Return the binary of ``unit`` for ``arch``."""


class Compiling:
    """Binaries that are compiled where the store does not have them.

    Args:
        compiler: What compiles.
        store: Where binaries are kept; None means the usual place.
    """

    compiles = True

    def __init__(self, compiler: Compiler, store: BinaryStore | None = None) -> None:
        self._compiler = compiler
        self._store = store

    def find(self, unit: SourceUnit, arch: str) -> Binary | Failure:
        """Return the stored binary, or compile it now.

        Raises:
            ToolchainBroken: There is no compiler, or the store cannot be written.
        """
        self._store = self._store or BinaryStore()
        return compile_now(self._compiler, self._store, unit, arch)


class Packed:
    """The binaries of a bundle; nothing is compiled.

    Args:
        bundle: The bundle, opened.
    """

    compiles = False

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle

    def find(self, unit: SourceUnit, arch: str) -> Binary | Failure:
        """Return what the bundle holds of ``unit``."""
        try:
            binary = self._bundle.binaries.get(unit_key(unit, arch))
        except InvalidInput as error:
            return _missing(error.message)
        if binary is None:
            return _missing(f"{self._bundle.name} has no binary of this config and this source")
        return Binary(
            key=binary.unit,
            path=self._bundle.path(binary),
            entry=binary.entry,
            resources=Resources(
                registers=binary.registers,
                spill_bytes=binary.spill_bytes,
                static_shared_bytes=binary.static_shared_bytes,
            ),
            compile_ns=0,
            cached=True,
        )


def _missing(why: str) -> Failure:
    return Failure(status=Status.COMPILE_ERROR, message=why)
