"""What code is compiled for, and what it ran on."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from autotune.records.identity import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The limits that constraints check and the architecture that compilers need.

    Attributes:
        arch: Compiler architecture, such as ``sm_90a``, or the host's, such as ``x86_64``.
        sm_count: Streaming multiprocessors (cores on a host).
        shared_bytes_per_block: Most shared memory that one block may ask for, in bytes.
        shared_bytes_per_sm: Shared memory of one multiprocessor, in bytes.
        registers_per_sm: 32-bit registers of one multiprocessor.
        threads_per_block: Most threads in one block.
        l2_bytes: Size of the last-level cache, in bytes.
    """

    arch: str
    sm_count: int
    shared_bytes_per_block: int
    shared_bytes_per_sm: int
    registers_per_sm: int = 65536
    threads_per_block: int = 1024
    l2_bytes: int

    @property
    def capability(self) -> int:
        """Compute capability times ten (``sm_90a`` is 90); 0 on a host."""
        digits = self.arch.removeprefix("sm_").rstrip("af")
        return int(digits) if self.arch.startswith("sm_") else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceIdentity:
    """Which device measured: everything about it that can change a time.

    Attributes:
        kind: ``cuda`` or ``host``.
        name: Product name, such as ``NVIDIA H200``.
        target: What code for it is compiled for.
        memory_bytes: Device memory, in bytes.
        driver: Driver version (kernel release on a host).
        uuid: The one card; not part of ``key``, so that equal cards share results.
    """

    kind: str
    name: str
    target: Target
    memory_bytes: int
    driver: str
    uuid: str = ""

    @property
    def key(self) -> str:
        """32 hexadecimal digits, equal for cards of one model, size and driver."""
        fields = dataclasses.asdict(self)
        del fields["uuid"]
        return digest(fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """Which compiler made a binary: name, version, and what else its output depends on."""

    compiler: str
    version: str

    @property
    def key(self) -> str:
        """32 hexadecimal digits that identify this toolchain."""
        return digest({"compiler": self.compiler, "version": self.version})
