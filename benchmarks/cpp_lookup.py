"""Time the C++ lookup: a table of the shipped studies' shapes, asked for seen and unseen ones.

    python benchmarks/cpp_lookup.py --json results/cpp_lookup_host.json

The table holds configs as tuning chooses them by kind of shape: swapped operands and split K where
there are few rows. Unseen problems are drawn from the families of the shapes (any m, n and k of a
model's layers) or altogether at random; both are timed, the second with rows that break conditions.
Each is asked of two tables: where nearness answers what was not tuned, and with a tree of 64 ends.
Of several runs the fastest counts: what else a host does only adds to a median of so few ns.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from made_table import Answer, table_text
from results_file import write_json
from suite import shipped

from autotune.cpp import write_header
from autotune.device.host import host_identity
from autotune.records import Value, load_kernel
from autotune.records.targets import TARGETS

SOURCE = Path(__file__).with_suffix(".cpp")
PROBLEMS = 2000
RUNS = 15
OPTIONS = ("-std=c++17", "-O3")
Sizes = tuple[int, int, int]


def main() -> None:
    """Compile, run, print nanoseconds a lookup."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    asked = problems()
    with TemporaryDirectory() as scratch:
        times = _timed(Path(scratch), asked)
    rows: list[dict[str, Any]] = [
        {"problems": name, "count": len(asked[name]), "nearest_ns": near, "tree_ns": led}
        for name, near, led in zip(asked, *times, strict=True)
    ]
    for row in rows:
        print(f"{row['problems']:24} {row['nearest_ns']:6.1f} ns   tree {row['tree_ns']:6.1f} ns")
    if arguments.json is not None:
        about = {
            "compiler": _compiler(),
            "options": " ".join(OPTIONS),
            "processor": host_identity().name,
            "entries": len(shipped()),
        }
        write_json(arguments.json, rows, packages=(), about=about)


def problems(seed: int = 0) -> dict[str, list[Sizes]]:
    """Return sizes to ask for, by where they come from."""
    draw = random.Random(seed)  # noqa: S311 - reproducible problems
    seen = [(each.m, each.n, each.k) for each in shipped()]
    layers = [(n, k) for _, n, k in seen]
    family = [(draw.randint(1, 8192), *draw.choice(layers)) for _ in range(PROBLEMS)]
    even = [_drawn(draw, step=64) for _ in range(PROBLEMS)]
    odd = [_drawn(draw, step=1) for _ in range(PROBLEMS)]
    return {
        "seen": draw.choices(seen, k=PROBLEMS),
        "unseen, same layers": [each for each in family if each not in seen],
        "unseen, multiples of 64": [each for each in even if each not in seen],
        "unseen, any size": [each for each in odd if each not in seen],
    }


def _drawn(draw: random.Random, *, step: int) -> Sizes:
    m, n, k = (step * math.ceil(2 ** draw.uniform(0, 14) / step) for _ in range(3))
    return m, n, k


def table(*, tree: bool) -> str:
    """Return the text of a table."""
    answers: list[Answer] = []
    for problem in shipped():
        few = problem.m <= 256
        swapped: dict[str, Value] = {"operands": "swapped", "split_k": 4 if problem.m <= 32 else 2}
        answers.append((problem.as_dict(), swapped if few else {}))
    odd: dict[str, Value] = {"m": 1, "n": 1, "k": 1, "dtype": "bf16", "layout": "nt"}
    return table_text(load_kernel("gemm"), TARGETS["sm_90a"], answers, [(odd, {})], tree=tree)


def _timed(scratch: Path, asked: dict[str, list[Sizes]]) -> list[list[float]]:
    """Return the ns of each kind of problem: without a tree, then with one."""
    files = []
    for number, sizes in enumerate(asked.values()):
        files.append(scratch / f"problems{number}")
        files[-1].write_text("\n".join(" ".join(map(str, each)) for each in sizes))
    programs = [_compiled(scratch / f"tree {tree}", tree=tree) for tree in (False, True)]
    runs = [[_run(program, files) for program in programs] for _ in range(RUNS)]
    return [[min(some) for some in zip(*each, strict=True)] for each in zip(*runs, strict=True)]


def _compiled(folder: Path, *, tree: bool) -> Path:
    folder.mkdir()
    (folder / "table.json").write_text(table(tree=tree))
    write_header(folder / "table.json", folder, name="tuned")
    program = folder / "lookup"
    command = [_command(), *OPTIONS, f"-I{folder}", str(SOURCE), "-o", str(program)]
    subprocess.run(command, check=True)
    return program


def _run(program: Path, files: Sequence[Path]) -> list[float]:
    done = subprocess.run([program, *files], check=True, capture_output=True, text=True)
    return [float(line) for line in done.stdout.split()]


def _command() -> str:
    return os.environ.get("CXX", "c++")


def _compiler() -> str:
    told = subprocess.run([_command(), "--version"], check=True, capture_output=True, text=True)
    return told.stdout.splitlines()[0]


if __name__ == "__main__":
    main()
