"""How a measurement is made. A policy is part of a result's identity."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from autotune.records.identity import digest

_CAME_LATER = ("precision", "stop_factor", "energy_ms", "error")  # with 0 for what was always so


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Every choice that can change a measured number or what is accepted as right.

    Attributes:
        warmup_ms: The candidate itself runs this long, in ms of device time, before sampling;
            then until its times have settled, but no longer than five times as long.
        min_samples: Fewest samples of a candidate that is slow.
        max_samples: Most samples of any candidate.
        budget_ms: Sampling stops after this much device time, in ms, once it has
            ``min_samples``.
        precision: Sampling stops once the 95 % confidence interval of the median reaches no
            further than this to either side, relative to the median. 0: it goes on to
            ``max_samples``, and warming up ends with ``warmup_ms``.
        stop_factor: A candidate that is clearly slower than this many times the best is given
            up: ``stopped_early``. 0: none is.
        sample_us: Launches are batched until a sample lasts about this long, in µs.
        cache: ``cold`` rotates buffers so that no operand is left in L2; ``hot`` reuses one set.
        verify: Check the output before timing. Unverified results are never exported.
        draws: Random inputs that each candidate is checked on, besides the integer ones.
        repeats: Further runs on the same inputs that must agree bit for bit.
        seed: Seed of the random inputs.
        energy_ms: The candidate runs so long once more, in ms, to tell its energy. 0: it does not.
        error: Tell the largest error on the random inputs, too.
    """

    warmup_ms: float = 20.0
    min_samples: int = 5
    max_samples: int = 25
    budget_ms: float = 60.0
    precision: float = 0.0
    stop_factor: float = 0.0
    sample_us: float = 1000.0
    cache: str = "cold"
    verify: bool = True
    draws: int = 1
    repeats: int = 2
    seed: int = 0
    energy_ms: float = 0.0
    error: bool = False

    @property
    def key(self) -> str:
        """32 hexadecimal digits that identify this policy.

        A policy that does without what came later has the key that it always had.
        """
        fields = dataclasses.asdict(self)
        return digest({k: v for k, v in fields.items() if v or k not in _CAME_LATER})

    def replace(self, **changes: Any) -> Policy:
        """Return a copy with some fields changed."""
        return dataclasses.replace(self, **changes)


QUICK = Policy(
    warmup_ms=2.0,
    min_samples=3,
    max_samples=31,
    budget_ms=12.0,
    precision=0.01,
    stop_factor=1.5,
    sample_us=300.0,
)
STANDARD = Policy(  # brief enough that a GPU's power limit seldom lowers its clock meanwhile
    warmup_ms=5.0,
    max_samples=51,
    budget_ms=30.0,
    precision=0.005,
    stop_factor=1.5,
    sample_us=500.0,
)
CAREFUL = Policy(
    warmup_ms=200.0,
    min_samples=15,
    max_samples=201,
    budget_ms=500.0,
    precision=0.002,
    draws=3,
)

PRESETS: dict[str, Policy] = {"quick": QUICK, "standard": STANDARD, "careful": CAREFUL}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a candidate is given up, in seconds. Not part of a result's identity."""

    compile_s: float = 60.0
    run_s: float = 30.0
