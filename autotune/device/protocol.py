"""What every device answers: a GPU, the host's C++ compiler, a recording."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Protocol

from autotune.records import (
    Binary,
    Candidate,
    Config,
    DeviceIdentity,
    Failure,
    Kernel,
    Outcome,
    Policy,
    Problem,
    Toolchain,
)


class Device(Protocol):
    """A thing that builds and measures candidates.

    ``build`` returns at once and may be called ahead of need; ``measure`` blocks until the
    candidate has answered or its limit has passed, and is called for one candidate at a time.
    Neither raises for a candidate's fault.
    """

    @property
    def name(self) -> str:
        """How the user names it: ``cuda:0``, ``host``, ``recording:h200``."""

    @property
    def identity(self) -> DeviceIdentity:
        """What the times belong to."""

    @property
    def replays(self) -> bool:
        """True if it repeats what was measured before and can measure nothing new."""

    @property
    def lookahead(self) -> int:
        """How many candidates to ask ahead, so that its compilers are never idle."""

    def policy(self, requested: Policy) -> Policy:
        """Return the policy that its answers were made with: a recording has its own."""

    def toolchain_of(self, kernel: Kernel) -> Toolchain:
        """Return what compiles ``kernel`` for it, or the library that ``kernel`` is a call of.

        Raises:
            ToolchainBroken: There is no compiler or no library to ask.
        """

    def preflight(self, kernel: Kernel) -> None:
        """Raise unless this device can build and run ``kernel``.

        Raises:
            ToolchainBroken: The compiler, a header or the library is missing; the message names
                it.
            InvalidInput: The kernel's language is not one that this device runs.
        """

    def rehearse(self, candidate: Candidate) -> None:
        """Build ``candidate``, the one to start with, as far as it takes to know its headers.

        Any other fault of it is no concern of this check.

        Raises:
            ToolchainBroken: A system header is missing; the message names it.
        """

    def source_digest(self, candidate: Candidate) -> str:
        """Return a digest of the kernel's source with every header that it includes.

        It does not depend on the config: rows whose digest differs are of another source.
        """

    def offers(self, kernel: Kernel, problem: Problem) -> tuple[Config, ...] | None:
        """Return the only configs that it can answer for, in a fixed order, or None for all."""

    def build(self, candidate: Candidate) -> Future[Binary | Failure]:
        """Start to compile ``candidate``, or find its binary."""

    def measure(
        self,
        candidate: Candidate,
        binary: Binary,
        policy: Policy,
        *,
        best_ns: float | None = None,
    ) -> Outcome:
        """Verify and time ``candidate``.

        One that is right but clearly slower than ``policy.stop_factor`` times ``best_ns``, the
        median of the best so far in ns, ends as ``stopped_early`` with a few samples. None, or
        an infinite time, gives none up.
        """

    def close(self) -> None:
        """End every process that it started."""
