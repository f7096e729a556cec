"""How far results can be trusted, from the measurements that are committed.

In ``trust.md`` the part ``flips`` says which winner the same study exports, ``savings`` what GPU
time it does without, ``repeatability`` how far fresh processes lie apart, ``live`` how whole
studies fare on a GPU, ``peers`` how other tuners do, ``overhead`` what the framework takes for
itself, and ``compiling`` how long binaries take.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

from marked import FOLDER, NOT_YET, RESULTS, command, extents, filled, link, table, told

PAGE = FOLDER / "trust.md"
BRIEF_US = 20.0
Row = Mapping[str, Any]


def trust_page() -> str:
    """Return ``trust.md`` with every figure as it was measured."""
    parts = {
        "flips": (_flips, "flips_h200.json"),
        "savings": (_savings, "savings_h200.json"),
        "repeatability": (_repeatability, "repeatability_h200.json"),
        "live": (_live, "live_h200.json"),
        "peers": (_peers, "live_peers_h200.json"),
        "compiling": (_compiling, "compiling.json"),
        "overhead": (_overhead, "overhead.json"),
    }
    return filled(PAGE, {name: partial(_part, *part) for name, part in parts.items()})


def _part(tell: Any, file: str) -> str:
    if not (RESULTS / file).exists():
        return NOT_YET
    content = told(file)
    about = content["provenance"]
    when = f"{about['date']}{_machine(about)}"
    source = f"{when}, `{command(about)}` ({link(file, 'JSON', page=PAGE)})."
    return "\n".join((*table(tell(content["rows"])), "", source))


def _machine(about: Mapping[str, Any]) -> str:
    """Return how busy the machine was, where that matters."""
    if "load_at_start" not in about:
        return ""
    return f", {about['processors']} processors under a load of {about['load_at_start']:.1f}"


def _flips(rows: Sequence[Row]) -> Iterator[Sequence[str]]:
    yield [
        *("problem", "same winner", "same or tie", "ties", "final", "loss, mean", "worst"),
        *("mean of 7: same winner", "loss, mean", "worst"),
    ]
    for row in rows:
        losses = ("loss", "loss_worst"), ("by_mean_loss", "by_mean_loss_worst")
        ours, others = ([_percent(row[name], 2) for name in some] for some in losses)
        same = _percent(row["same"]), _percent(row["same_or_tie"])
        counts = f"{row['tied']:.1f}", f"{row['final']:.0f}"
        yield [_name(row), *same, *counts, *ours, _percent(row["by_mean_same"]), *others]


def _savings(rows: Sequence[Row]) -> Iterator[Sequence[str]]:
    yield [
        *("policy, order", "all samples", "early stop", "adaptive repeats", "both", "saved"),
        *("loss, all samples", "loss, both"),
    ]
    for row in rows:
        if row["problem"] is None:
            arms = row["arms"].values()
            times = (f"{arm['gpu_ms'] / 1e3:.1f} s" for arm in arms)
            losses = (_percent(row["arms"][arm]["loss"], 2) for arm in ("all", "both"))
            name = f"`{row['policy']}`, `{row['sampler']}`"
            yield [name, *times, _percent(row["saved"]), *losses]


def _repeatability(rows: Sequence[Row]) -> Iterator[Sequence[str]]:
    tools = list(rows[0]["tools"])
    yield ["kernels", "count", *(f"{tool}: worst, median" for tool in tools)]
    ours = tools[0]
    brief = [row for row in rows if row["tools"][ours]["median_us"] < BRIEF_US]
    longer = [row for row in rows if row["tools"][ours]["median_us"] >= BRIEF_US]
    for name, some in ((f"below {BRIEF_US:g} µs", brief), (f"from {BRIEF_US:g} µs on", longer)):
        if some:
            spreads = ([row["tools"][tool]["spread"] for row in some] for tool in tools)
            cells = (f"{_percent(max(each), 2)}, {_percent(median(each), 2)}" for each in spreads)
            yield [name, str(len(some)), *cells]


def _live(rows: Sequence[Row]) -> Iterator[Sequence[str]]:
    yield [
        *("problem", "s, empty store", "to 2 %", "s, full store", "to 2 %", "trials to 2 %"),
        *("lane busy", "GPU busy", "GPU time saved"),
        *("same winner", "same or tie", "loss, mean", "worst"),
    ]
    for row in rows:
        times = ("cold_s", "cold_to_2_s", "warm_s", "warm_to_2_s")
        shares = ("warm_busy", "warm_utilization", "saved", "same", "same_or_tie")
        yield [
            extents(row),
            *(_figure(row[name]) for name in times),
            _figure(row["to_2_trials"], 0),
            *("–" if row[name] is None else _percent(row[name]) for name in shares),
            *(_percent(row[name], 2) for name in ("loss", "loss_worst")),
        ]


def _peers(rows: Sequence[Row]) -> Iterator[Sequence[str]]:
    yield [
        *("problem", "autotune: s, empty store", "s, full store", "best, µs"),
        *("Triton: s, empty cache", "s, full cache", "best, µs"),
        *("Kernel Tuner: s", "evaluations", "best, µs"),
    ]
    for row in rows:
        us, tuner = row["us"], row["Kernel Tuner"]
        yield [
            extents(row),
            *(_figure(row["autotune"].get(name)) for name in ("cold_s", "warm_s")),
            _figure(us.get("autotune")),
            *(_figure(row["Triton"].get(name)) for name in ("cold_s", "warm_s")),
            _figure(us.get("Triton")),
            _figure(tuner.get("seconds")),
            _figure(tuner.get("evaluations"), 0),
            _figure(us.get("Kernel Tuner")),
        ]


def _compiling(rows: Sequence[Row]) -> Iterator[Sequence[str]]:
    yield [
        *("binaries", "processes", "s, all", "s, one, mean", "worst", "CPU s, one, mean"),
        *("failed", "spilling", "serialized"),
    ]
    for row in rows:
        times = ("seconds", "mean_s", "worst_s", "cpu_s")
        counts = ("failed", "spilling", "serialized")
        yield [
            *(str(row[name]) for name in ("binaries", "processes")),
            *(_figure(row[name], 2) for name in times),
            *(str(row[name]) for name in counts),
        ]


def _overhead(rows: Sequence[Row]) -> Iterator[Sequence[str]]:
    parts = list(rows[0]["cpu"])
    yield ["study on", "ms, median (95 %)", *(part for part in parts if part != "device")]
    for row in rows:
        for clock in ("wall", "cpu"):
            some = (row[clock][part] for part in parts if part != "device")
            yield [f"`{row['on']}`", clock, *map(_ms, some)]


def _ms(spread: Mapping[str, float]) -> str:
    return f"{spread['median_ms']:.2f} ({spread['p95_ms']:.2f})"


def _figure(figure: float | None, digits: int = 1) -> str:
    return "–" if figure is None else f"{figure:.{digits}f}"


def _name(row: Row) -> str:
    return "all" if row["problem"] is None else extents(row["problem"])


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"
