"""A trial: one candidate's outcome, as it is stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from autotune.records.config import Config
from autotune.records.outcome import Measurement, Resources, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One row of the record: what was tried, what became of it, and when.

    Attributes:
        number: Counts from 0 within one problem of one study.
        problem_key: Key of the problem that it ran on.
        config: The point of the space.
        status: How it ended.
        message: Why, in the words of the tool that said so; empty for ``ok``.
        measurement: Every sample, or None if it was not timed.
        resources: What the compiler reported, or None if it did not compile.
        dynamic_shared_bytes: Shared memory that its launch asks for in each block besides the
            static one, in bytes, or None if it did not run, or nobody kept it.
        binary_key: Key of the binary in the content-addressed store, or empty.
        compile_ns: Time the compiler took, in ns (0 if the binary was cached).
        device_ns: Time that the lane spent on it, in ns.
        verified: True if the output was checked before timing.
        row_id: Identity in the database, or None before it is written.
    """

    number: int
    problem_key: str
    config: Config
    status: Status
    message: str = ""
    measurement: Measurement | None = None
    resources: Resources | None = None
    dynamic_shared_bytes: int | None = None
    binary_key: str = ""
    compile_ns: int = 0
    device_ns: int = 0
    verified: bool = False
    finished_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    row_id: int | None = None

    @property
    def median_ns(self) -> float | None:
        """Median device time in ns, if the trial is ``ok``."""
        if self.status is not Status.OK or self.measurement is None:
            return None
        return self.measurement.median_ns

    @property
    def bound_ns(self) -> float | None:
        """Least device time in ns that the samples of a ``stopped_early`` trial allow.

        They are few and say that it is slower than the best was then, and not how much: this is
        the lower end of their interval. One that was not even warmed up might get faster yet, but
        not as fast as the best.
        """
        if self.status is not Status.STOPPED_EARLY or self.measurement is None:
            return None
        return self.measurement.interval_ns[0]

    @property
    def known_ns(self) -> float | None:
        """What is known of its time, in ns: the median, the bound, or nothing."""
        return self.bound_ns if self.median_ns is None else self.median_ns

    @property
    def shared_bytes(self) -> int | None:
        """Shared memory of a block, static and dynamic, in bytes, or None if it is not known."""
        if self.resources is None or self.dynamic_shared_bytes is None:
            return None
        return self.resources.static_shared_bytes + self.dynamic_shared_bytes
