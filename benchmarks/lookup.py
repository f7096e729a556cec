"""What a lookup takes a program, in ns of the host.

    python benchmarks/lookup.py --json benchmarks/results/lookup_host.json

On a table of 40 problems of ``gemm`` (those of the shipped studies, and some beside them) with the
conditions that the kernel states for its defaults: a lookup never asks how fast a config is.

- ``seen, by position``: ``find[m, n, k, dtype, layout]`` for problems that were asked for before;
- ``seen, called``: ``find(m, n, k, dtype, layout)`` for the same;
- ``seen, by name``: ``table.lookup(m=m, …)``, which checks each value again;
- ``unseen, nearest``: problems that nobody asked for before, drawn evenly on the log2 scale between
  16 and 16384, by position, once a program has run for a while;
- ``unseen, tree``: likewise, in a table with a tree of 64 ends, which answers nearly all of them;
- ``unseen, new octave``: the first problem of its octaves in a table that was just loaded, when
  all entries have to be compared;
- ``load`` and ``load, tree``: reading the table without and with the tree.

Each figure is the median of some rounds; ``low`` is the fastest one. The clock is that of the
process's processors, which other work on the machine prolongs less than the clock on the wall.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from made_table import Answer, table_text
from results_file import write_json
from suite import shipped

from autotune.dispatch import Finder, Table
from autotune.records.targets import TARGETS
from autotune.toolchain.pool import usable_cpus
from kernel_space.gemm import Gemm, GemmProblem

ROUNDS = 15
FIELDS = ("m", "n", "k", "dtype", "layout")
ENTRIES = 40
WARM, UNSEEN, FIRST = 50_000, 2_000, 100

Values = tuple[int | str, ...]


def main() -> None:
    """Measure, print a table, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    rows = measured(arguments.rounds)
    for row in rows:
        print(f"{row['lookup']:20} {row['median_ns']:12,.0f} ns   low {row['low_ns']:12,.0f} ns")
    if arguments.json is not None:
        machine = {"processors": usable_cpus(), "machine": platform.machine()}
        about = {**machine, "load_at_start": load, "entries": ENTRIES, "rounds": arguments.rounds}
        write_json(arguments.json, rows, packages=("autotune-kernels",), about=about)


def measured(rounds: int) -> list[dict[str, Any]]:
    """Return a row for each kind of lookup, in ns."""
    plain, treed = defaults_text(), defaults_text(tree=True)
    chance = random.Random(1)  # noqa: S311 - no secret
    table = Table.parse(plain)
    find, follow = table.finder("gemm"), Table.parse(treed).finder("gemm")
    seen = [tuple(problem.as_dict().values()) for problem in problems()] * 100
    for each in (find, follow):
        by_position(each, strangers(chance, WARM))
    kinds: dict[str, Callable[[], float]] = {
        "seen, by position": lambda: by_position(find, seen),
        "seen, called": lambda: called(find, seen),
        "seen, by name": lambda: by_name(table, seen),
        "unseen, nearest": lambda: by_position(find, strangers(chance, UNSEEN)),
        "unseen, tree": lambda: by_position(follow, strangers(chance, UNSEEN)),
        "unseen, new octave": lambda: first(plain, strangers(chance, FIRST)),
        "load": lambda: loading(plain),
        "load, tree": lambda: loading(treed),
    }
    return [_row(name, [kind() for _ in range(rounds)]) for name, kind in kinds.items()]


def by_position(find: Finder, asked: Sequence[Values]) -> float:
    """Return the ns of one ``find[…]``, with the loop around it."""
    began = time.process_time_ns()
    for m, n, k, dtype, layout in asked:
        find[m, n, k, dtype, layout]
    return (time.process_time_ns() - began) / len(asked)


def called(find: Finder, asked: Sequence[Values]) -> float:
    """Return the ns of one ``find(…)``, with the loop around it."""
    began = time.process_time_ns()
    for m, n, k, dtype, layout in asked:
        find(m, n, k, dtype, layout)
    return (time.process_time_ns() - began) / len(asked)


def by_name(table: Table, asked: Sequence[Values]) -> float:
    """Return the ns of one ``table.lookup(…)``, with the loop around it."""
    began = time.process_time_ns()
    for m, n, k, dtype, layout in asked:
        table.lookup(m=m, n=n, k=k, dtype=dtype, layout=layout)
    return (time.process_time_ns() - began) / len(asked)


def first(text: str, asked: Sequence[Values]) -> float:
    """Return the ns of a lookup in a table that has answered nothing yet."""
    spent = 0.0
    for values in asked:
        spent += by_position(Table.parse(text).finder("gemm"), [values])
    return spent / len(asked)


def loading(text: str) -> float:
    """Return the ns of reading a table."""
    began = time.process_time_ns()
    Table.parse(text)
    return float(time.process_time_ns() - began)


def strangers(chance: random.Random, count: int) -> list[Values]:
    """Return problems that nobody asked for before, but for chance."""
    sizes = [[round(2 ** chance.uniform(4, 14)) for _ in "mnk"] for _ in range(count)]
    return [(*size, "bf16", "nt") for size in sizes]


def problems() -> list[GemmProblem]:
    """Return the problems of the table."""
    more = strangers(random.Random(0), ENTRIES)  # noqa: S311 - no secret
    fields = [zip(FIELDS, values, strict=True) for values in more]
    found = [*shipped(), *(GemmProblem.parse(dict(each)) for each in fields)]
    return list(dict.fromkeys(found))[:ENTRIES]


def defaults_text(*, tree: bool = False) -> str:
    """Return the text of a table of the kernel's defaults, as if they had been measured."""
    answers: list[Answer] = [(problem.as_dict(), {}) for problem in problems()]
    return table_text(Gemm(), TARGETS["sm_90a"], answers, tree=tree)


def _row(lookup: str, rounds_ns: list[float]) -> dict[str, Any]:
    return {
        "lookup": lookup,
        "median_ns": round(median(rounds_ns), 1),
        "low_ns": round(min(rounds_ns), 1),
    }


if __name__ == "__main__":
    main()
