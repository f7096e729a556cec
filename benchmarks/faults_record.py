"""A fault, and what was seen of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from faults_study import Site

IMPOSSIBLE = "not possible here"


class Impossible(Exception):
    """This machine does not let the fault be made."""


AREAS = ("compile", "run", "verification", "timing", "database", "files", "signals")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What became of a study with a fault.

    Attributes:
        status: The faulty candidate's, or how the run ended that met the fault.
        rows_lost: Rows that were reported as written and are not in the database.
        disturbed: Right candidates that did not end as ``ok``.
        winners_wrong: 1 if the exported config is not the one without the fault.
        over_s: Time that passed beyond the limit that was to end it, in s; None without one.
        message: What was said of it.
    """

    status: str
    rows_lost: int = 0
    disturbed: int = 0
    winners_wrong: int = 0
    over_s: float | None = None
    message: str = ""

    @property
    def harmless(self) -> bool:
        """True if nothing but the fault itself came to harm."""
        return not (self.rows_lost or self.disturbed or self.winners_wrong)

    def but(self, status: str, **changes: Any) -> Seen:
        """Return what was seen with another status."""
        return dataclasses.replace(self, status=status, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One way to break a study.

    Attributes:
        name: What goes wrong, in words.
        area: One of ``AREAS``.
        expected: The status to be seen.
        inject: Runs a study with the fault at a site, and resumes it without.
    """

    name: str
    area: str
    expected: str
    inject: Callable[[Site], Seen]

    def __post_init__(self) -> None:
        """Refuse an area that no column is for."""
        if self.area not in AREAS:
            raise ValueError(f"{self.area!r} is not one of {', '.join(AREAS)}")

    def as_expected(self, seen: Seen) -> bool:
        """Return True if the fault cost what it may cost, and nothing else."""
        return seen.status == self.expected and seen.harmless
