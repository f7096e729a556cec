"""Scores of samplers, for people and for scripts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from autotune.report.fields import problem_text
from autotune.report.sheet import Column, Row, Sheet
from autotune.score import LOOKS, NEAR, Judged, Landscape, interval_of

MEAN = "all spaces"
UNEVEN = 2.0  # mean over median of the costs: above this, a few of them decide a score
_Key = TypeVar("_Key", bound=Hashable)


def score_sheet(found: Sequence[Judged], about: Row) -> Sheet:
    """Return a row for each sampler and space; people see each sampler's mean over spaces first."""
    rows = [_row(each) for each in found]
    means = [*_means(found)]
    several = len(means) < len(rows)
    return Sheet(
        kind="scores",
        rows=rows,
        shown=[*means, *rows] if several else rows,
        columns=(
            Column("sampler", lambda row: row["sampler"]),
            Column("score", lambda row: f"{row['score']:.3f}", right=True),
            Column("95 %", _interval, right=True),
            Column("tail", lambda row: f"{row['tail']:.2f}", right=True),
            *(Column(f"to {near:.0%}", _until(near), right=True) for near in NEAR),
            *(Column(f"at {count}", _quality(count), right=True) for count in LOOKS),
            Column("space", _space, moves=True),
        ),
        extra={**about, "means": means},
    )


def raw(found: Sequence[Judged], about: Row) -> dict[str, Any]:
    """Return everything, down to each repeat and the curves, ready for JSON."""
    return {**about, "means": [*_means(found)], "scores": [{**_row(j), **_raw(j)} for j in found]}


def notes(found: Sequence[Judged]) -> Iterator[str]:
    """Yield what a reader has to know beside the numbers."""
    for space in by_space(found):
        if not space.priced:
            yield f"{space.name}: no costs are recorded, so every configuration costs the same"
        elif (times := space.cost_ns.mean() / np.median(space.cost_ns)) > UNEVEN:
            yield (
                f"{space.name}: the mean cost is {times:.1f} times the median, as where some were "
                "compiled and others came from a store; --equal-costs counts measurements instead"
            )


def by_sampler(found: Iterable[Judged]) -> dict[str, list[Judged]]:
    """Return the scores of each sampler."""
    return _grouped((each.sampler, each) for each in found)


def by_space(found: Iterable[Judged]) -> dict[Landscape, list[Judged]]:
    """Return the scores on each space."""
    return _grouped((each.landscape, each) for each in found)


def _row(judged: Judged) -> Row:
    space = judged.landscape
    return {
        "recording": space.recording,
        "kernel": space.kernel,
        "problem": dict(space.problem),
        "device": space.device,
        "sampler": judged.sampler,
        "score": judged.score,
        "interval": list(judged.interval),
        "tail": judged.tail,
        "until": {f"{near:.0%}": _counts(judged.until[near]) for near in NEAR},
        "quality": {str(count): _shares(judged.quality[count]) for count in LOOKS},
        "repeats": len(judged.each),
        "configs": len(space.configs),
        "right": int(np.isfinite(space.value_ns).sum()),
        "priced": space.priced,
    }


def _means(found: Sequence[Judged]) -> Iterator[Row]:
    """Yield the mean over spaces of each sampler."""
    for sampler, some in by_sampler(found).items():
        yield {
            "sampler": sampler,
            "spaces": len(some),
            "score": float(np.mean([each.score for each in some])),
            "interval": list(interval_of(np.mean([each.resampled for each in some], axis=0))),
            "tail": float(np.mean([each.tail for each in some])),
            "worst": min(each.score for each in some),
        }


def _grouped(named: Iterable[tuple[_Key, Judged]]) -> dict[_Key, list[Judged]]:
    groups: dict[_Key, list[Judged]] = {}
    for name, each in named:
        groups.setdefault(name, []).append(each)
    return groups


def _raw(judged: Judged) -> dict[str, Any]:
    return {
        "curve": [_finite(gain) for gain in judged.curve],
        "each": judged.each.tolist(),
        "each_until": {f"{near:.0%}": [_finite(n) for n in judged.until[near]] for near in NEAR},
        "each_quality": {str(count): judged.quality[count].tolist() for count in LOOKS},
    }


def _counts(until: Any) -> dict[str, float | None]:
    """Return the median and the 90th percentile; None where so many repeats never got there."""
    median, late = np.percentile(until, (50, 90), method="higher")
    return {"median": _finite(median), "p90": _finite(late)}


def _shares(quality: Any) -> dict[str, float]:
    median, low = np.percentile(quality, (50, 10))
    return {"median": float(median), "p10": float(low)}


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def _interval(row: Row) -> str:
    low, high = row["interval"]
    return f"{low:.2f} … {high:.2f}"


def _until(near: float) -> Any:
    def text(row: Row) -> str:
        if "until" not in row:
            return ""
        counts: Mapping[str, float | None] = row["until"][f"{near:.0%}"]
        return " ".join("never" if n is None else f"{n:g}" for n in counts.values())

    return text


def _quality(count: int) -> Any:
    def text(row: Row) -> str:
        if "quality" not in row:
            return ""
        shares = row["quality"][str(count)]
        return f"{shares['median']:.3f} {shares['p10']:.3f}"

    return text


def _space(row: Row) -> str:
    if "kernel" not in row:
        return f"{MEAN} ({row['spaces']}), the worst {row['worst']:.3f}"
    return " ".join(filter(None, (row["kernel"], problem_text(row["problem"]), row["device"])))
