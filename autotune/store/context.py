"""A context: all that identifies a result besides its config."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from autotune.records import DeviceIdentity, Policy, Problem, Toolchain

Fields = tuple[tuple[str, int | str], ...]


@dataclass(frozen=True)
class StoredProblem(Problem):
    """A problem as the database knows it: its fields, without the kernel's own class.

    Reading a database never loads a kernel. ``key``, ``as_dict`` and ``str`` answer as the
    kernel's own problem does.
    """

    fields: Fields

    def as_dict(self) -> dict[str, int | str]:
        """Return a plain dict, ready for JSON."""
        return dict(self.fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What results must share to be compared: they differ in their config alone.

    Attributes:
        kernel: The kernel's short name.
        kernel_ref: How the kernel is loaded.
        source_digest: Digest of its source and every header.
        problem: What is computed.
        device: What measured.
        toolchain: What compiled.
        policy: How it was measured.
        replayed_from: Name of the recording that repeated these results, or empty if they
            were measured.
    """

    kernel: str
    kernel_ref: str
    source_digest: str
    problem: Problem
    device: DeviceIdentity
    toolchain: Toolchain
    policy: Policy
    replayed_from: str = ""

    @property
    def measured(self) -> Context:
        """The context that a recording repeated: the same, but measured."""
        return dataclasses.replace(self, replayed_from="")

    @property
    def identity(self) -> tuple[str, ...]:
        """Equal for contexts that share their results."""
        return (
            self.kernel,
            self.kernel_ref,
            self.source_digest,
            self.problem.key,
            self.device.key,
            self.toolchain.key,
            self.policy.key,
            self.replayed_from,
        )
