"""The figures of the ladder and of streams, from the measurements that are committed.

In ``ladder.md`` the part ``measured`` is a table of all rungs, ``measured NAME`` what one rung
gained, and ``streamed`` the speed of streams.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from marked import FOLDER, RESULTS, extents, filled, link, table, tflops, told, where

PAGE = FOLDER / "ladder.md"
NOT_YET = "not measured yet"
STREAM_STAGES = [str(count) for count in range(1, 9)]
_STREAM_ARM = re.compile(r"(?P<mechanism>\w+) (?P<bytes>\d+) B x(?P<stages>\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """One problem's ladder, as it was measured.

    Attributes:
        problem: Extents by name.
        file: Name of the committed file.
        about: Device, driver, date and command.
        times_us: Median time of each rung that was measured, in µs.
        peer_us: That of cuBLAS, or None.
    """

    problem: Mapping[str, Any]
    file: str
    about: Mapping[str, Any]
    times_us: Mapping[str, float]
    peer_us: float | None

    @property
    def title(self) -> str:
        """The extents in short."""
        return extents(self.problem)

    def tflops(self, rung: str) -> str:
        """Return the rate of a rung that was measured, in TFLOP/s."""
        return tflops(self.problem, self.times_us[rung])

    def share(self, rung: str) -> str:
        """Return how much of cuBLAS's rate that is, or nothing."""
        return f"{self.peer_us / self.times_us[rung]:.2f}" if self.peer_us else ""

    def gain(self, rung: str, names: Sequence[str]) -> str:
        """Return how many times as fast as the nearest measured rung below, or nothing."""
        below = [name for name in names[: names.index(rung)] if name in self.times_us]
        if rung not in self.times_us or not below:
            return ""
        ratio = self.times_us[below[-1]] / self.times_us[rung]
        return f"{ratio:.2f}× `{below[-1]}`"


def ladder_page() -> str:
    """Return ``ladder.md`` with every figure as it was measured."""
    ladders = ladders_of(RESULTS)
    names = re.findall(r"<!-- measured (\w+) -->", PAGE.read_text(encoding="utf-8"))
    parts = {f"measured {name}": partial(_rung, name, ladders, names) for name in names}
    parts["measured"] = partial(rungs, ladders, names, page=PAGE)
    parts["streamed"] = partial(_streams, "stream_h200.json")
    return filled(PAGE, parts)


def ladders_of(folder: Path) -> list[Ladder]:
    """Return what ``autotune ladder`` has written into ``folder``, the smallest problem first."""
    climbed = map(_climbed, folder.glob("ladder_*.json"))
    return sorted(climbed, key=lambda ladder: ladder.problem["m"])


def rungs(ladders: Sequence[Ladder], names: Sequence[str], *, page: Path) -> str:
    """Return a table of rungs: speed, share of cuBLAS, gain over the rung below."""
    lines = [["rung", *(ladder.title for ladder in ladders), "gain at " + ladders[0].title]]
    for name in names:
        gain = ladders[0].gain(name, names)
        lines.append([f"`{name}`", *(_cell(ladder, name) for ladder in ladders), gain])
    return "\n".join((*table(lines), "", *(_source(ladder, page) for ladder in ladders)))


def _climbed(file: Path) -> Ladder:
    about = json.loads(file.read_text(encoding="utf-8"))
    times = {row["rung"]: row["median_ns"] / 1e3 for row in about["rungs"] if row["median_ns"]}
    peer_us = times.pop(about["peer"], None)
    return Ladder(
        problem=about["problem"], file=file.name, about=about, times_us=times, peer_us=peer_us
    )


def _cell(ladder: Ladder, name: str) -> str:
    if name not in ladder.times_us:
        return NOT_YET
    share = ladder.share(name)
    return f"{ladder.tflops(name)}{f' ({share})' if share else ''}"


def _source(ladder: Ladder, page: Path) -> str:
    about = ladder.about
    return (
        f"{ladder.title}: {where(about)}, bf16, layout `nt`, random data, cold cache\n"
        f"({link(ladder.file, 'JSON', page=page)}, `{about['command']}`)."
    )


def _rung(name: str, ladders: Sequence[Ladder], names: Sequence[str]) -> str:
    if not any(name in ladder.times_us for ladder in ladders):
        return f"**{NOT_YET.capitalize()}.**"
    measured = [ladder for ladder in ladders if name in ladder.times_us]
    return "\n".join(_line(ladder, name, names) for ladder in measured)


def _line(ladder: Ladder, name: str, names: Sequence[str]) -> str:
    share, gain = ladder.share(name), ladder.gain(name, names)
    facts = (f"{ladder.tflops(name)} TFLOP/s", share and f"{share} of cuBLAS", gain)
    return f"- **{ladder.title}**: {', '.join(filter(None, facts))}"


def _streams(file: str) -> str:
    """Return GB/s by mechanism, bytes of a copy and stages, beside what the device copies."""
    content = told(file)
    speeds = {row["arm"]: f"{row['gb_per_s']:.0f}" for row in content["rows"]}
    about, count = content["provenance"], content["rows"][0]["count"]
    beside = f"PyTorch's own kernel copies at {speeds['torch kernel']} GB/s, its `copy_` at "
    return "\n".join(
        (
            *table(_curves(speeds)),
            "",
            f"{beside}{speeds['memcpy']}. GB/s read and written,",
            f"{count} fp32 elements, {where(about)}",
            f"({link(file, 'JSON', page=PAGE)},",
            f"`{about['command']}`).",
        )
    )


def _curves(speeds: Mapping[str, str]) -> Iterator[Sequence[str]]:
    """Yield a table: a line for each mechanism and copy, a column for each number of stages."""
    yield ["mechanism", "copy", *STREAM_STAGES]
    curves: dict[tuple[str, str], dict[str, str]] = {}
    for arm, speed in speeds.items():
        if found := _STREAM_ARM.fullmatch(arm):
            curves.setdefault((found["mechanism"], found["bytes"]), {})[found["stages"]] = speed
    for (mechanism, size), curve in curves.items():
        yield [f"`{mechanism}`", f"{size} B", *(curve.get(each, "") for each in STREAM_STAGES)]
