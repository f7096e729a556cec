"""What a table loses on random problems that nobody tuned, each of them tuned afterwards.

    python benchmarks/unseen.py table.json --db suite.db --json benchmarks/results/unseen_h200.json

Problems are drawn from the families of the suite's shapes (``unseen_problems.py``). On each, what
the rules of ``unseen_rules.py`` answer is held against the fastest of some fifty configs: all that
the table holds, what was fastest on the nearest problems that were tuned, and the first by the
kernel's own prediction among those that were fast on any. They are timed briefly; the answers and
the fastest few then meet in one run with ``torch.matmul`` and the best of cublasLt's ranks,
launched in turns on cold L2. Whoever is timed there was compared with the exact product.

``best of the table`` is the fastest config that the table has: what its rule could win at most.
When time runs out, the file tells of the problems so far, which are of each family in turn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from contenders import COMPILE_LIMIT_S, complain
from harness import write_json
from needs import require
from ratios import Row
from unseen_meeting import FINALISTS, TORCH, Builds, Candidates, Meeting, Times
from unseen_problems import KERNEL, drawn, family_of, measured_in, suite
from unseen_rules import ANSWERS, BEST_OF_TABLE, BEST_RANK, LIBRARY, Rules, lines, regret, summary

from autotune.device import recordings
from autotune.dispatch import Table
from autotune.launcher.gpu import target
from autotune.records import Target
from autotune.toolchain import BinaryStore, CompilePool, Nvrtc
from kernel_space.gemm import GemmProblem

SAVED_EVERY = 20  # problems


def main() -> None:
    """Judge one problem after the other, then print and write what each rule loses."""
    arguments = _parser().parse_args()
    require()
    deadline, device = time.monotonic() + arguments.seconds, target(0)
    rows: list[Row] = []
    with CompilePool(Nvrtc(), BinaryStore(), arch=device.arch, limit_s=COMPILE_LIMIT_S) as pool:
        builds = Builds(pool, device)
        try:
            for row in _judged(arguments, device, builds):
                rows.append(row)
                print(_told(len(rows), row), flush=True)
                if len(rows) % SAVED_EVERY == 0:
                    _save(arguments.json, rows, builds)
                if time.monotonic() > deadline:
                    complain(f"time is up after {len(rows)} of {arguments.limit} problems")
                    break
        finally:  # also after an interrupt, or what a kernel did to the device
            _save(arguments.json, rows, builds)
    print("\n".join(lines(summary(rows))))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", type=Path)
    parser.add_argument(
        "--db",
        action="append",
        metavar="PATH",
        help="a result database, or a recording that ships; may be repeated (default: h200)",
    )
    parser.add_argument("--limit", type=int, default=200, help="problems")
    parser.add_argument("--seed", type=int, default=0, help="of the random problems")
    parser.add_argument("--seconds", type=float, default=420.0, help="until it stops")
    parser.add_argument("--predicted", type=int, default=32, help="configs tried for that alone")
    parser.add_argument(
        "--crossed",
        type=int,
        default=0,
        metavar="N",
        help="also try what was measured on N problems: then other tables can be judged later",
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    return parser


def _judged(arguments: argparse.Namespace, device: Target, builds: Builds) -> Iterator[Row]:
    """Yield a row for each problem; compilers are ahead of it."""
    known = recordings()
    measured = measured_in(known.get(name, Path(name)) for name in arguments.db or ["h200"])
    rules = Rules(Table.load(arguments.table), device)
    how = {"predicted": arguments.predicted, "crossed": arguments.crossed}
    candidates = Candidates(rules, measured, device, **how)
    problems = drawn(suite(), arguments.limit, arguments.seed)
    plan = {}
    for problem in problems:
        plan[problem] = candidates.of(problem)
        builds.start(problem, plan[problem])
    print(f"{len(problems)} problems, {len(builds)} binaries", flush=True)
    for problem, configs in plan.items():
        meeting = Meeting(problem, builds, configs)
        answers = {rule: builds.names[each] for rule, each in rules.answers(problem).items()}
        held = [builds.names[config] for config in rules.portfolio(problem)]
        yield _row(problem, meeting, answers, held=held, rounds=arguments.rounds)


def _row(
    problem: GemmProblem,
    meeting: Meeting,
    answers: Mapping[str, str],
    *,
    held: Sequence[str],
    rounds: int,
) -> Row:
    brief_us = meeting.brief_us()
    fastest = islice(meeting.right(brief_us), FINALISTS)
    own = islice(meeting.right(name for name in brief_us if name in held), 1)
    answering = meeting.right(name for name in answers.values() if name in brief_us)
    finalists = dict.fromkeys([*fastest, *own, *answering])
    us = meeting.in_turns(finalists, rounds=rounds)
    best = min(finalists, key=us.__getitem__, default=None)
    return {
        "family": family_of(problem),
        **problem.as_dict(),
        "answers": answers,
        "best": best,
        "best_us": None if best is None else us[best],
        "us": {} if best is None else by_answer(us, answers, held),
        "brief_us": brief_us,
        "wrong": meeting.wrong,
    }


def by_answer(us: Mapping[str, float], answers: Mapping[str, str], held: Sequence[str]) -> Times:
    """Return what each rule's answer takes, the best of the table, and what the library takes."""
    found = {rule: us[name] for rule, name in answers.items() if name in us}
    some = {
        BEST_OF_TABLE: [us[name] for name in held if name in us],
        LIBRARY: [us[TORCH]] if TORCH in us else [],
        BEST_RANK: [time for name, time in us.items() if name.startswith((TORCH, BEST_RANK))],
    }
    return found | {name: min(times) for name, times in some.items() if times}


def _told(done: int, row: Row) -> str:
    """Return a line on one problem."""
    shape = f"{row['m']:6} {row['n']:6} {row['k']:6}"
    if row["best"] is None:
        return f"{done:4} {row['family']:9} {shape}  nobody was right"
    losses = "  ".join(f"{rule} {regret(row, rule):.1%}" for rule in ANSWERS if rule in row["us"])
    return f"{done:4} {row['family']:9} {shape}  {row['best_us']:8.2f} µs  {losses}"


def _save(path: Path | None, rows: Sequence[Row], builds: Builds) -> None:
    """Write figures, problems and the configs that are named there."""
    if path is None or not rows:
        return
    named = [{"name": name, "config": config.as_dict()} for config, name in builds.names.items()]
    problem = GemmProblem(*(rows[0][name] for name in GemmProblem.SIZES))
    write_json(path, [*summary(rows), *rows, *named], kernel=KERNEL, problem=problem)


if __name__ == "__main__":
    main()
