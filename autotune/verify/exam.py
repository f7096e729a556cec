"""A policy that looks harder than tuning does: for what has been chosen already."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Self

from autotune.records import QUICK, Policy

_HARDLY_TIMED = {
    "precision": 0.0,
    "stop_factor": 0.0,
    "max_samples": QUICK.min_samples,
    "cache": "hot",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam(Policy):
    """How an entry of a table is verified again. It is timed only so far that timing shows faults.

    These are no fields of every policy: they would change the identity of every measurement, and
    a search that pays them for each candidate finds less.

    Attributes:
        nonfinite: Further random inputs in which each operand holds one NaN or one infinity. They
            must come out where the reference has them, and nowhere else.
        loaded: Further repeats that must agree bit for bit, while other work keeps the device
            busy: what is ordered by luck alone then happens in another order.
        launches: Further repeats that must agree, as far as ``patience_ms`` go: what is seldom
            wrong shows in many.
        patience_ms: How long they may take, in ms.
    """

    nonfinite: int = 3
    loaded: int = 8
    launches: int = 3000
    patience_ms: float = 250.0

    @classmethod
    def of(cls, draws: int) -> Self:
        """Return an exam of so many random inputs. One set of buffers serves all launches."""
        return cls(**dataclasses.asdict(QUICK) | _HARDLY_TIMED | {"repeats": 4, "draws": draws})

    @classmethod
    def of_many_launches(cls, policy: Policy) -> Self:
        """Return an exam that verifies as ``policy`` does, and then looks at many more launches."""
        verified = {name: getattr(policy, name) for name in ("draws", "repeats", "seed")}
        fewer = {"nonfinite": 0, "loaded": 0, "patience_ms": 200.0}
        return cls(**dataclasses.asdict(QUICK) | _HARDLY_TIMED | verified | fewer)
