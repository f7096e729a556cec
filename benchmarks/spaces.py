"""Building, counting and drawing from spaces, beside Kernel Tuner on the same ones.

    python benchmarks/spaces.py --json benchmarks/results/spaces_host.json

Kernel Tuner builds what it was made for: rules as text, of which it compiles some. Our own GEMM's
rules are functions; as its front end takes no function that uses some parameters only, its solver
is handed them as they are. Both lists must hold the same configs. Everything is built anew each
time, in turns, and the best time counts. Drawing is done in a process of its own, whose peak memory
is told; it never loads Kernel Tuner.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from published_spaces import PUBLISHED, tangled, wide
from results_file import write_json

from autotune.records.targets import TARGETS
from autotune.space import Constraint, Space
from kernel_space.gemm import Gemm, GemmProblem

PACKAGES = ("autotune-kernels", "kernel_tuner", "python-constraint2")
GEMM = Gemm().space(GemmProblem(4096, 4096, 4096), TARGETS["sm_90a"])
MOST_THREADS = 1024
DRAWN = 1000
DRAWS: dict[str, Callable[[], Space]] = {
    "gemm": lambda: GEMM,
    "hotspot, wider": wide,
    "one rule of all": tangled,
}


def main() -> None:
    """Print both tables and keep them; or draw from one space, as a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--draw", choices=DRAWS, help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if arguments.draw:
        print(json.dumps(draw(arguments.draw)))
        return
    if find_spec("kernel_tuner") is None:
        raise SystemExit("not installed: kernel_tuner; pip install kernel_tuner")
    rows = [*_all_built(arguments.repeats), *_all_drawn()]
    if arguments.json is not None:
        write_json(arguments.json, rows, packages=PACKAGES, about={})


def _all_built(repeats: int) -> list[dict[str, Any]]:
    print(
        f"{'space':16} {'product':>16} {'valid':>8} {'count':>8} {'list':>8} {'Kernel Tuner':>13}"
    )
    rows = [build("gemm", GEMM, _by_functions, repeats)]
    rows += [build(name, space, _by_text, repeats) for name, space in PUBLISHED.items()]
    return rows


def build(
    name: str, space: Space, theirs: Callable[[Space], Collection[tuple[Any, ...]]], repeats: int
) -> dict[str, Any]:
    """Time both and print a row.

    Raises:
        SystemExit: They found other configs than we did.
    """
    times: dict[str, list[float]] = {"count_s": [], "list_s": [], "kernel_tuner_s": []}
    for _ in range(repeats):
        times["count_s"].append(_timed(space.count)[0])
        ours_s, ours = _timed(lambda: list(space))
        theirs_s, found = _timed(lambda: theirs(space))
        times["list_s"].append(ours_s)
        times["kernel_tuner_s"].append(theirs_s)
    names = [parameter.name for parameter in space.parameters]
    if {tuple(config[each] for each in names) for config in ours} != set(found):
        raise SystemExit(f"{name}: {len(ours)} configs are not their {len(found)}")
    best = {key: min(each) for key, each in times.items()}
    print(
        f"{name:16} {space.size:16,} {len(ours):8,} {best['count_s']:7.3f}s"
        f" {best['list_s']:7.3f}s {best['kernel_tuner_s']:12.3f}s"
    )
    seconds = {key: round(value, 4) for key, value in best.items()}
    return {"space": name, "product": space.size, "valid": len(ours), **seconds}


def _by_text(space: Space) -> Collection[tuple[Any, ...]]:
    from kernel_tuner.searchspace import Searchspace

    values = {parameter.name: list(parameter.values) for parameter in space.parameters}
    rules = [constraint.name for constraint in space.constraints]
    found: Collection[tuple[Any, ...]] = Searchspace(values, rules, MOST_THREADS).list
    return found


def _by_functions(space: Space) -> Collection[tuple[Any, ...]]:
    from constraint import FunctionConstraint, OptimizedBacktrackingSolver, Problem

    problem = Problem(solver=OptimizedBacktrackingSolver(forwardcheck=False))
    for parameter in space.parameters:
        problem.addVariable(parameter.name, list(parameter.values))
    for constraint in space.constraints:
        problem.addConstraint(FunctionConstraint(_keeps(constraint)), list(constraint.uses))
    names = [parameter.name for parameter in space.parameters]
    found: Collection[tuple[Any, ...]] = problem.getSolutionsAsListDict(order=names)[0]
    return found


def _keeps(constraint: Constraint) -> Callable[..., bool]:
    broken, uses = constraint.broken, constraint.uses
    return lambda *values: broken(**dict(zip(uses, values, strict=True))) is None


def _all_drawn() -> list[dict[str, Any]]:
    print(f"\n{'space':16} {'valid':>16} {'count':>8} {'draw ' + str(DRAWN):>10} {'peak':>8}")
    rows = []
    for name in DRAWS:
        words = [sys.executable, __file__, "--draw", name]
        told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        row = json.loads(told)
        print(
            f"{name:16} {row['valid']:16,} {row['count_s']:7.2f}s {row['draw_s']:9.2f}s"
            f" {row['peak_mib']:4.0f} MiB"
        )
        rows.append(row)
    return rows


def draw(name: str) -> dict[str, Any]:
    """Count a space and draw from it, and return how long that took, and this process's peak."""
    space = DRAWS[name]()
    count_s, valid = _timed(space.count)
    draw_s, drawn = _timed(lambda: space.sample(DRAWN, 1))
    distinct = len({config for config in drawn if config in space})
    return {
        "space": name,
        "valid": valid,
        "drawn": distinct,
        "count_s": round(count_s, 3),
        "draw_s": round(draw_s, 3),
        "peak_mib": _peak_mib(),
    }


def _peak_mib() -> int:
    """Return the most memory that this process held; ``getrusage`` tells its parent's if larger."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    gc.collect()
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


if __name__ == "__main__":
    main()
