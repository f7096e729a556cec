"""The figures of ``ladder.md``, from the measurements that are committed.

Between ``<!-- measured -->`` and ``<!-- end -->`` stands a table of all rungs, between
``<!-- measured NAME -->`` and ``<!-- end -->`` what one rung gained, and between
``<!-- streamed -->`` and ``<!-- end -->`` the speed of streams.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
RESULTS = FOLDER.parent / "benchmarks" / "results"
NOT_YET = "not measured yet"
STREAM_STAGES = [str(count) for count in range(1, 9)]
_MARKED = re.compile(r"<!-- (?:measured ?(\w*)|streamed) -->\n.*?<!-- end -->", re.DOTALL)
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
        """The extents in short: ``4096³``, or one after the other."""
        m, n, k = (self.problem[name] for name in "mnk")
        return f"{m}³" if m == n == k else f"{m}×{n}×{k}"

    def tflops(self, rung: str) -> str:
        """Return the rate of a rung that was measured, in TFLOP/s."""
        m, n, k = (self.problem[name] for name in "mnk")
        return f"{2 * m * n * k / self.times_us[rung] / 1e6:.0f}"

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
    page = (FOLDER / "ladder.md").read_text(encoding="utf-8")
    ladders = ladders_of(RESULTS)
    names = re.findall(r"<!-- measured (\w+) -->", page)

    def filled(match: re.Match[str]) -> str:
        mark = match[0].partition("\n")[0]
        if mark == "<!-- streamed -->":
            text = _streams(RESULTS / "stream_h200.json")
        else:
            text = _rung(match[1], ladders, names) if match[1] else _table(ladders, names)
        return f"{mark}\n{text}\n<!-- end -->"

    return _MARKED.sub(filled, page)


def ladders_of(folder: Path) -> list[Ladder]:
    """Return the ladders in ``folder``, the smallest problem first.

    Those of ``autotune ladder --format json`` count, if there are any; else the best recorded
    config of each mechanism, which ``mechanisms.py`` has timed.
    """
    files = sorted(folder.glob("ladder_*.json"))
    climbed = [_climbed(file) for file in files] or list(_compared(folder / "mechanisms_h200.json"))
    return sorted(climbed, key=lambda ladder: ladder.problem["m"])


def _climbed(file: Path) -> Ladder:
    told = json.loads(file.read_text(encoding="utf-8"))
    times = {row["rung"]: row["median_ns"] / 1e3 for row in told["rungs"] if row["median_ns"]}
    return Ladder(
        problem=told["problem"],
        file=file.name,
        about=told,
        times_us=times,
        peer_us=times.get(told["peer"]),
    )


def _compared(file: Path) -> Iterator[Ladder]:
    told = json.loads(file.read_text(encoding="utf-8"))
    for m in sorted({row["m"] for row in told["rows"]}):
        rows = [row for row in told["rows"] if row["m"] == m]
        times: dict[str, float] = {}
        for row in rows:
            rung = row["arm"].partition(" ")[0]
            times[rung] = min(row["us"], times.get(rung, row["us"]))
        yield Ladder(
            problem=rows[0],
            file=file.name,
            about=told["provenance"],
            times_us=times,
            peer_us=times["cuBLAS"],
        )


def _table(ladders: Sequence[Ladder], names: Sequence[str]) -> str:
    head = ["rung", *(ladder.title for ladder in ladders), "gain at " + ladders[0].title]
    lines = [head, ["---"] * len(head)]
    for name in names:
        gain = ladders[0].gain(name, names)
        lines.append([f"`{name}`", *(_cell(ladder, name) for ladder in ladders), gain])
    return "\n".join((*_rows(lines), "", *dict.fromkeys(map(_source, ladders))))


def _rows(lines: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(line)} |" for line in lines]


def _cell(ladder: Ladder, name: str) -> str:
    if name not in ladder.times_us:
        return NOT_YET
    share = ladder.share(name)
    return f"{ladder.tflops(name)}{f' ({share})' if share else ''}"


def _source(ladder: Ladder) -> str:
    about = ladder.about
    return (
        f"{about['device']}, driver {about['driver']}, {about['date']}: bf16, layout `nt`, random "
        f"data, cold\ncache ([JSON](../benchmarks/results/{ladder.file}),\n`{about['command']}`)."
    )


def _rung(name: str, ladders: Sequence[Ladder], names: Sequence[str]) -> str:
    if not any(name in ladder.times_us for ladder in ladders):
        return f"**{NOT_YET.capitalize()}.**"
    measured = [ladder for ladder in ladders if name in ladder.times_us]
    return "\n".join(_told(ladder, name, names) for ladder in measured)


def _told(ladder: Ladder, name: str, names: Sequence[str]) -> str:
    share, gain = ladder.share(name), ladder.gain(name, names)
    facts = (f"{ladder.tflops(name)} TFLOP/s", share and f"{share} of cuBLAS", gain)
    return f"- **{ladder.title}**: {', '.join(filter(None, facts))}"


def _streams(file: Path) -> str:
    """Return GB/s by mechanism, bytes of a copy and stages, beside what the device copies."""
    told = json.loads(file.read_text(encoding="utf-8"))
    speeds = {row["arm"]: f"{row['gb_per_s']:.0f}" for row in told["rows"]}
    about, count = told["provenance"], told["rows"][0]["count"]
    beside = f"PyTorch's own kernel copies at {speeds['torch kernel']} GB/s, its `copy_` at "
    where = f"{count} fp32 elements, {about['device']}, driver {about['driver']}, {about['date']}\n"
    return "\n".join(
        (
            *_rows(_curves(speeds)),
            "",
            f"{beside}{speeds['memcpy']}. GB/s read and written,",
            f"{where}([JSON](../benchmarks/results/{file.name}),",
            f"`{about['command']}`).",
        )
    )


def _curves(speeds: Mapping[str, str]) -> Iterator[Sequence[str]]:
    """Yield a table: a line for each mechanism and copy, a column for each number of stages."""
    yield ["mechanism", "copy", *STREAM_STAGES]
    yield ["---"] * (2 + len(STREAM_STAGES))
    curves: dict[tuple[str, str], dict[str, str]] = {}
    for arm, speed in speeds.items():
        if found := _STREAM_ARM.fullmatch(arm):
            curves.setdefault((found["mechanism"], found["bytes"]), {})[found["stages"]] = speed
    for (mechanism, size), curve in curves.items():
        yield [f"`{mechanism}`", f"{size} B", *(curve.get(each, "") for each in STREAM_STAGES)]
