"""What the owner of a lane and the lane say to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from autotune.records import Binary, Config, Outcome, Policy, Target, Value


@dataclass(frozen=True, slots=True)
class Identify:
    """Ask which device the lane owns. Answered by a ``DeviceIdentity`` or ``Refused``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Ask to draw inputs and compute references, once for all candidates of a problem.

    Answered by None when ready, by ``Refused``, or by ``Reply`` if the device failed.

    Attributes:
        kernel_ref: How the lane loads the kernel: objects of its own module do not travel.
        problem: Fields of the problem.
        target: What candidates are compiled for.
        policy: How they are verified and timed.
    """

    kernel_ref: str
    problem: Mapping[str, Value]
    target: Target
    policy: Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Ask to verify and time one candidate of the job. Answered by ``Reply``.

    Attributes:
        config: The point of the space.
        binary: What was compiled of it.
        best_ns: Median of the best so far, in ns, or None: one much slower is given up.
    """

    config: Config
    binary: Binary
    best_ns: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What became of a candidate.

    Attributes:
        outcome: Its status and, if it ran, its measurement.
        poisoned: True if the lane can run nothing more and must be restarted.
    """

    outcome: Outcome
    poisoned: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """The request cannot be served, whatever the candidate: a message and a hint for a person."""

    message: str
    hint: str = ""
