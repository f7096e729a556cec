"""A model of every config that is not tried yet: next comes the one with most to gain."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx

from autotune.search.feasible import Feasibility
from autotune.search.gaussian import Floats, Likeness, Posterior, credibility, fitted
from autotune.search.pool import Pool
from autotune.search.pooled import Fate
from autotune.search.scores import centred, normal_scores, telling
from autotune.search.sweep import Sweep

Rows = NDArray[np.intp]

STARTUP = 8  # rows that are drawn at random before there is a model
GROWTH = 1.4  # the model is fitted anew when so many times the rows are learned …
MOST_BETWEEN = 150  # … or so many more
MOST_JUDGED = 8_192  # rows that it judges: in a larger pool, half near the best, half drawn
TRUSTS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)  # so many times a belief may be what is expected
USUAL_TRUST = 0.75
CONTENDERS = 200  # rows that could be the best after all, and so many …
DRAWS = 400  # … times that are drawn for all of them together
RECENT = 16  # rows that were learned last: if most of them failed …
LIKELY = 0.5  # … the next is one that runs with this chance: else a search may measure nothing
SLOW = 0.75  # what is slower than this share of the measured says nothing of the fastest


class GaussianProcess:
    """Chooses the free row that is expected to undercut the fastest by most.

    The model is of ranks, so that a config that is a hundred times slower than all others says no
    more than that it is the slowest. What was given up ranks by the time that it takes at least.
    What failed has no rank: how likely a row runs is a model of its own, and weighs what is to be
    gained. Rows that wait for their answer count as measured, with the answer that is expected.

    What is chosen follows from the seed, from what was learned, in its order, and from what is
    pending: the model is fitted at fixed counts, to what was learned by then.

    Args:
        pool: What to choose from.
        startup: How many rows are learned before there is a model.
        belief: The normal score that each row is expected to have, or None. How far it is
            trusted follows from what is measured.
    """

    def __init__(self, pool: Pool, *, startup: int = STARTUP, belief: Floats | None = None) -> None:
        self._pool = pool
        self._likeness = Likeness(pool.axes)
        self._belief = np.zeros(len(pool)) if belief is None else belief
        self._random = Sweep(pool, pool.shuffled)
        self._learned: dict[int, float] = {}  # in ns; infinite if it failed
        self._given_up: set[int] = set()
        self._pending: dict[int, None] = {}  # a set that keeps its order
        self._next_fit = startup
        self._model: _Model | None = None

    def choose(self) -> int:
        """Return a free row and count it as measured from now on."""
        row = self._most_promising()
        if row is None:
            row = self._random.choose()
        self._pending[row] = None
        return row

    def learn(self, row: int, fate: Fate) -> None:
        """Remember what became of ``row``."""
        self._pending.pop(row, None)
        self._learned[row] = math.inf if fate.time_ns is None else fate.time_ns
        if fate.given_up:
            self._given_up.add(row)

    def chance(self, gain: float) -> float | None:
        """Return how likely a row that is not learned is faster than the fastest by over ``gain``.

        It follows from what was learned, whatever is pending. None: there is no model, nothing
        is left to judge, or too little ran, or all of it alike.
        """
        self._refit_if_due()
        model = self._model
        if model is None:
            return None
        measured = self._measured(model)
        left = np.array([row not in self._learned for row in model.judged.tolist()])
        random = np.random.default_rng((self._pool.seed, len(self._learned)))
        times = np.array([self._learned[row] for row in measured])
        if not left.any() or np.isfinite(times).sum() < STARTUP:
            return None
        slownesses = _slownesses(times)
        if not slownesses.any():
            return None
        return model.chance(
            measured, slownesses, gain, left=left, runs=model.runs(*self._fates()), random=random
        )

    def _most_promising(self) -> int | None:
        """Return the free row with most to gain, or None if no model judges one."""
        self._refit_if_due()
        model = self._model
        if model is None:
            return None
        free = self._pool.are_free(model.judged)
        if not free.any():
            return None
        measured, (learned, failed) = self._measured(model), self._fates()
        runs = model.runs(learned, failed)
        gain = model.log_gain(measured, self._scores(measured), self._pending) + np.log(runs)
        likely = free & (runs >= LIKELY)
        if likely.any() and failed[-RECENT:].mean() > 1 - LIKELY:
            free = likely
        return int(model.judged[np.where(free, gain, -np.inf).argmax()])

    def _measured(self, model: _Model) -> list[int]:
        """Return what the model was fitted to, and what was learned to run since."""
        since = islice(self._learned.items(), model.count, None)
        return [*model.basis, *(row for row, time_ns in since if math.isfinite(time_ns))]

    def _refit_if_due(self) -> None:
        due = 0
        while len(self._learned) >= self._next_fit:
            due = self._next_fit
            self._next_fit += min(math.ceil(due * (GROWTH - 1)), MOST_BETWEEN)
        if due:
            self._model = self._fit(due)

    def _fit(self, count: int) -> _Model | None:
        """Return a model of what was learned first, or None if that tells nothing apart."""
        learned, failed = self._fates()
        learned, failed = learned[:count], failed[:count]
        ran = learned[~failed]
        scores = self._scores(ran.tolist())
        if not scores.any() and not (len(ran) and failed.any()):
            return None
        basis = telling(scores)
        rows = ran[basis]
        judged = self._worth_judging(int(ran[scores.argmin()]), count)
        distances = self._likeness.distances(self._pool.codes[:, rows])
        trusted = self._trusted(rows, scores[basis], distances)
        weights = fitted(distances, centred(scores[basis] - trusted[rows]))
        posterior = Posterior(self._likeness, weights, self._pool.codes[:, judged])
        posterior.add(rows.tolist(), self._pool.codes[:, rows])
        return _Model(
            posterior,
            pool=self._pool,
            judged=judged,
            basis=rows,
            count=count,
            expected=trusted,
            feasibility=self._feasibility(learned, failed),
        )

    def _feasibility(self, learned: Rows, failed: NDArray[np.bool_]) -> Feasibility | None:
        if not failed.any():
            return None
        return Feasibility(self._pool, self._likeness, learned, failed)

    def _trusted(self, rows: Rows, scores: Floats, distances: Floats) -> Floats:
        """Return as much of the belief as the scores of ``rows`` bear out."""
        told = self._belief[rows]
        if not told.any():
            return np.zeros(len(self._pool))

        def credible(trust: float) -> float:
            left = centred(scores - trust * told)
            return credibility(distances, left) - (trust - USUAL_TRUST) ** 2

        return max(TRUSTS, key=credible) * self._belief

    def _worth_judging(self, best: int, count: int) -> Rows:
        if len(self._pool) <= MOST_JUDGED:
            return np.arange(len(self._pool))
        steps = self._pool.steps(self._pool.codes[:, best]).astype(np.int16)  # sorted by radix
        by_steps = np.argsort(steps, kind="stable")
        near, far = by_steps[: MOST_JUDGED // 2], by_steps[MOST_JUDGED // 2 :]
        random = np.random.default_rng((self._pool.seed, count))
        return np.concatenate([near, random.choice(far, len(near), replace=False)])

    def _fates(self) -> tuple[Rows, NDArray[np.bool_]]:
        """Return what was learned, in this order, and which of it failed."""
        rows = np.fromiter(self._learned, dtype=np.intp, count=len(self._learned))
        return rows, ~np.isfinite(np.fromiter(self._learned.values(), dtype=np.float64))

    def _scores(self, rows: list[int]) -> Floats:
        """Return the scores of ``rows``; what was given up is never better than the fastest."""
        times = np.array([self._learned[row] for row in rows])
        given_up = np.array([row in self._given_up for row in rows])
        if given_up.any():
            times[given_up] = np.maximum(times[given_up], times[~given_up].min(initial=math.inf))
        return normal_scores(times)


class _Model:
    """What was fitted, and follows what is learned since.

    Attributes:
        judged: The rows that it judges.
        basis: Those that it was fitted to.
        count: How many were learned by then.
    """

    def __init__(
        self,
        posterior: Posterior,
        *,
        pool: Pool,
        judged: Rows,
        basis: Rows,
        count: int,
        expected: Floats,
        feasibility: Feasibility | None,
    ) -> None:
        self._posterior = posterior
        self._pool = pool
        self._expected = expected
        self.judged = judged
        self.basis: list[int] = basis.tolist()
        self.count = count
        self._feasibility = feasibility  # None if all that were learned by then ran
        self._runs, self._runs_of = np.ones(len(judged)), 0

    def runs(self, learned: Rows, failed: NDArray[np.bool_]) -> Floats:
        """Return how likely each judged row runs, by what was learned until one last failed."""
        if self._feasibility is None:
            return self._runs
        known = max(self.count, int(np.flatnonzero(failed)[-1]) + 1)
        if known != self._runs_of:
            self._runs_of = known
            chances = self._feasibility.chances
            self._runs = chances(learned[:known], failed[:known], self.judged)
        return self._runs

    def log_gain(self, measured: list[int], scores: Floats, pending: Iterable[int]) -> Floats:
        """Return the log of the expected improvement of each judged row on the best score."""
        self._follow([*measured, *pending])
        surprise = scores - self._expected[measured]
        mean, scale = self._posterior.mean(centred(surprise))
        mean += surprise.mean() + self._expected[self.judged]
        return _log_improvement(scores.min() - mean, scale * self._posterior.uncertainty())

    def chance(
        self,
        measured: list[int],
        slownesses: Floats,
        gain: float,
        *,
        left: NDArray[np.bool_],
        runs: Floats,
        random: np.random.Generator,
    ) -> float:
        """Return how likely one of the judged rows that are left undercuts by over ``gain``.

        Each runs with its chance in ``runs``; where one does, all that are likelier do.
        """
        self._follow(measured)
        mean, scale = self._posterior.mean(centred(slownesses))
        mean += slownesses.mean() + math.log1p(gain)  # below 0 is enough
        doubt = np.sqrt(scale * self._posterior.uncertainty())
        behind = mean / doubt - np.log(runs)
        some = np.argsort(np.where(left, behind, np.inf), kind="stable")[:CONTENDERS]
        some = some[left[some]]
        spread = scale * self._posterior.covariance(some)
        normal = random.multivariate_normal
        drawn = normal(mean[some], spread, DRAWS, check_valid="ignore", method="eigh")
        undercut = (drawn < 0) & (random.random((DRAWS, 1)) < runs[some])
        return float(undercut.any(axis=1).mean())

    def _follow(self, rows: list[int]) -> None:
        """Let the posterior be of these rows, keeping what it has of the first of them."""
        added = self._posterior.added
        pairs = enumerate(zip(added, rows, strict=False))
        differ = (at for at, (one, other) in pairs if one != other)
        self._posterior.keep(same := next(differ, min(len(added), len(rows))))
        for row in rows[same:]:
            self._posterior.add([row], self._pool.codes[:, [row]])


def _slownesses(times_ns: Floats) -> Floats:
    """Return the logs of times, 0 for the least, where all that is slow or failed is alike."""
    ran = times_ns[np.isfinite(times_ns)]
    most: float = np.quantile(ran, SLOW)
    slownesses: Floats = np.log(np.minimum(times_ns, most) / ran.min())
    return slownesses


def _log_improvement(ahead: Floats, variance: Floats) -> Floats:
    """Return the log of how far a normal variable is expected to fall below a bound.

    Args:
        ahead: The bound less the mean.
        variance: Its variance.
    """
    deviation = np.sqrt(np.maximum(variance, 1e-12))
    standard = np.clip(ahead / deviation, -1e6, 30.0)  # beyond, erfcx overflows
    mills = math.sqrt(math.pi / 2) * erfcx(-standard / math.sqrt(2))
    shortfall = np.maximum(1 + standard * mills, 1e-15)  # it vanishes as 1 / standard ** 2
    log: Floats = np.log(deviation) - standard**2 / 2 + np.log(shortfall)
    return log
