"""A kernel that a library brings: nothing is compiled, and a call of the library is timed."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol

from autotune.records.config import Config
from autotune.records.device import Target, Toolchain
from autotune.records.kernel import Kernel, SourceUnit
from autotune.records.launch import Launch


class Routine(Protocol):
    """A call of a library, made ready for one problem and config on the device in use."""

    def start(self, pointers: Mapping[str, int], stream: int) -> None:
        """Start the call, which may return before it is done.

        It is captured in a CUDA graph, so that it must neither wait nor allocate.

        Args:
            pointers: Address of each operand, by name.
            stream: Handle of the CUDA stream to start it on; 0 on a host.

        Raises:
            InvalidInput: The library refuses.
        """


class LibraryKernel(Kernel):
    """Base of a kernel whose code is in a library: for comparison, under the same rules.

    It is verified, timed and recorded as any other. The dispatcher runs compiled kernels alone.

    Attributes:
        device_language: ``cuda`` or ``c++``: whose devices the library computes on.
    """

    language: ClassVar[str] = "library"
    device_language: ClassVar[str] = "cuda"

    @abstractmethod
    def toolchain(self) -> Toolchain:
        """Return the library's name and version, which are part of a result's identity.

        Raises:
            ToolchainBroken: It cannot be loaded; the hint says how to get it.
        """

    @abstractmethod
    def routine(self, problem: Any, config: Config, target: Target) -> Routine:
        """Make the call ready, in the process that measures.

        Raises:
            InvalidInput: The library does not offer ``config`` for ``problem``.
        """

    def unit(self, problem: Any, config: Config, target: Target) -> SourceUnit:
        """Return the Python file of this class as the source: it says what is called."""
        del problem, config, target
        main = Path(inspect.getfile(type(self)))
        return SourceUnit(language=self.language, main=main, header="", entry=self.name)

    def launch(self, problem: Any, config: Config, target: Target) -> Launch:
        """Return one call on all operands, or none if no output has an element."""
        del config, target
        operands = self.operands(problem)
        empty = all(0 in operand.shape for operand in operands if operand.output)
        return Launch(
            grid=(int(not empty), 1, 1),
            block=(1, 1, 1),
            shared_bytes=0,
            arguments=tuple(operand.name for operand in operands),
        )


def device_language(kernel: Kernel) -> str:
    """Return ``cuda`` or ``c++``: the language of the devices that run ``kernel``."""
    return kernel.device_language if isinstance(kernel, LibraryKernel) else kernel.language
