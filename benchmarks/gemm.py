"""The tuned kernel beside the best of cuBLAS and an autotuned Triton kernel, shape by shape.

    python benchmarks/gemm.py --db gemm.sqlite --json results/gemm_h200.json

Each side first tries all that it has for a shape, briefly: the tuned kernel its best recorded
configs (or the table's choice), cuBLAS ``torch.matmul`` and the algorithms that cublasLt ranks,
Triton two dozen ways to cut the product up. The best of each side meet in one run, launched in
turns on cold L2; the fastest of each speaks for it. Outputs are compared with the exact product.
Triton meets the others at bf16 and fp16 only.

Without ``--suite`` and ``--shape`` the shapes are those of the shipped studies.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from arms import cold_arrays
from contenders import Contender, Library, Side, Triton, Tuned, complain
from harness import brief_us, interleave, median_us, write_json
from matrices import exact_product, wrong_elements
from needs import require
from ratios import OURS, Row, heading, line, summary
from sources import Defaults, FromDatabase, FromTable, Source
from suite import asked

from kernel_space.gemm import Gemm, GemmProblem
from kernel_space.gemm.problem import DTYPES, LAYOUTS


def main() -> None:
    """Time every shape and print a line for each, then means by group."""
    arguments = _parser().parse_args()
    require()
    groups = asked(
        suite=arguments.suite,
        shapes=arguments.shape,
        names=arguments.group,
        dtype=arguments.dtype,
        layout=arguments.layout,
    )
    problems = [problem for some in groups.values() for problem in some]
    sides = _sides(arguments, {problem.dtype for problem in problems})
    for side in sides.values():
        side.prepare(problems)
    print(heading(sides), flush=True)
    rows = []
    for group, some in groups.items():
        for problem in some:
            rows.append({"group": group, **_Meeting(problem, arguments).row(sides)})
            print(line(rows[-1], sides), flush=True)
        if arguments.json is not None:  # group by group: a later one may not come to its end
            write_json(arguments.json, rows, kernel=Gemm(), problem=some[0])
    print("\n".join(summary(rows)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suite", type=Path, metavar="TOML", help="shapes by group")
    parser.add_argument("--group", action="append", metavar="NAME", help="only this group")
    parser.add_argument(
        "--shape", action="append", nargs=3, type=int, metavar=("M", "N", "K"), help="this alone"
    )
    parser.add_argument("--dtype", choices=tuple(DTYPES), help="in place of the suite's")
    parser.add_argument("--layout", choices=LAYOUTS, help="in place of the suite's")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--table", type=Path, help="take the tuned config from this table")
    source.add_argument(
        "--db",
        action="append",
        metavar="URL",
        help="… from this result database or recording; repeatable",
    )
    parser.add_argument("--candidates", type=int, default=12, help="recorded configs to try")
    parser.add_argument("--algorithms", type=int, default=16, help="ranks of cublasLt to try")
    parser.add_argument("--finalists", type=int, default=4, help="of each side, timed in turns")
    parser.add_argument("--no-triton", action="store_true")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    return parser


def _sides(arguments: argparse.Namespace, dtypes: set[str]) -> dict[str, Side]:
    source: Source = Defaults()
    if arguments.table:
        source = FromTable(arguments.table)
    elif arguments.db:
        source = FromDatabase(arguments.db, arguments.candidates)
    sides: dict[str, Side] = {OURS: Tuned(source), "cuBLAS": Library(arguments.algorithms)}
    if arguments.no_triton:
        return sides
    if others := dtypes - set(Triton.DTYPES):
        complain(f"left out: Triton, which is for {' and '.join(Triton.DTYPES)}, not {min(others)}")
        return sides
    return sides | {"Triton": Triton()}


class _Meeting:
    """All sides at one problem, on the same matrices."""

    def __init__(self, problem: GemmProblem, arguments: argparse.Namespace) -> None:
        self._problem = problem
        self._cost = Gemm().cost(problem)
        self._rounds, self._finalists = arguments.rounds, arguments.finalists
        self._buffers = cold_arrays(problem.operands, self._cost.bytes)
        self._exact = exact_product(problem, self._buffers[0])

    def row(self, sides: Mapping[str, Side]) -> Row:
        """Let the best of each side run in turns, and record the fastest of each."""
        finalists = {
            f"{name}: {each.name}": (name, each)
            for name, side in sides.items()
            for each in self._best(side.contenders(self._problem, self._buffers))
        }
        arms = {key: each.arm for key, (_, each) in finalists.items()}
        times = interleave(arms, len(self._buffers), rounds=self._rounds)
        us = median_us(times)
        winners: dict[str, str] = {}  # by side; the fastest is met first
        for key in sorted(us, key=lambda key: us[key]):
            winners.setdefault(finalists[key][0], key)
        best = {name: winners[name] for name in sides if name in winners}
        return {
            **self._problem.as_dict(),
            "flop": self._cost.flop,
            "us": {name: us[key] for name, key in best.items()},
            "choice": {name: dict(finalists[key][1].facts) for name, key in best.items()},
            "wrong": {name: self._wrong(finalists[key][1]) for name, key in best.items()},
            "samples_us": times,
        }

    def _best(self, contenders: Sequence[Contender]) -> list[Contender]:
        """Return the fastest few by a brief timing, without any that is wrong."""
        timed = [(us, each) for each in contenders if (us := self._brief_us(each)) is not None]
        best: list[Contender] = []
        for _, each in sorted(timed, key=lambda one: one[0]):
            if len(best) == self._finalists:
                break
            if each.checked and (wrong := self._wrong(each)):
                complain(f"{self._problem}: {each.name}: {wrong} elements are wrong")
            else:
                best.append(each)
        return best

    def _brief_us(self, contender: Contender) -> float | None:
        try:
            return brief_us(contender.arm, len(self._buffers))
        except Exception as error:  # noqa: BLE001 - whatever stops one, the others go on
            complain(f"{self._problem}: {contender.name}: {error}")
            return None

    def _wrong(self, contender: Contender) -> int:
        result = self._buffers[0]["c"].fill_(math.nan)
        contender.arm(0)
        return wrong_elements(self._problem, result, self._exact)


if __name__ == "__main__":
    main()
