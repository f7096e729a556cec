"""Break a study in every way that we can think of, and see what it costs.

Each fault is put among candidates that are right: a config of theirs that fails, or something
that happens to the compiler, the database, files or processes. The study must end, or say in one
line why not and go on once the fault is gone; no row may be lost, no other candidate disturbed,
and the winner must be that of a study without the fault.

    python benchmarks/faults.py                    # the host and its C++ compiler
    python benchmarks/faults.py --device cuda:0    # a GPU
    python benchmarks/faults.py --list             # what there is
    python benchmarks/faults.py --only database    # an area, or words of a name
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from faults_campaign import Campaign, campaign
from faults_candidates import GPU, HOST, of_candidates
from faults_compiler import COMPILER
from faults_files import FILES
from faults_record import AREAS, IMPOSSIBLE, Fault, Impossible, Seen
from faults_signals import IN_A_COMPILE, MOMENTS, signals
from results_file import write_json

PACKAGES = ("numpy", "sqlalchemy", "optuna", "cupy-cuda13x", "cuda-bindings")
COLUMNS = ("fault", "area", "expected", "seen", "lost", "disturbed", "wrong", "over s")
HEAD = "{:<30}{:<14}{:<17}{:<17}{:>5}{:>10}{:>7}{:>8}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a campaign; return 0 if every fault cost what it may cost."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    every = faults(asked.device)
    for words in asked.only or ():
        if not any(_wanted(fault, [words]) for fault in every):
            parser.error(f"--only: no area {words!r}, and no such words in a name; see --list")
    chosen = [fault for fault in every if _wanted(fault, asked.only)]
    print(HEAD.format(*COLUMNS))
    if asked.list:
        for fault in chosen:
            print(HEAD.format(fault.name, fault.area, fault.expected, *[""] * 5).rstrip())
        return 0
    logging.disable(logging.WARNING)  # what faults make others warn of
    began = time.monotonic()
    found = run(chosen, asked.device, print)
    print(summary(found, time.monotonic() - began))
    if asked.json is not None:
        rows = [_row(fault, seen) for fault, seen in found]
        write_json(asked.json, rows, packages=PACKAGES, about={"device": _named(asked.device)})
    return int(not all(_as_expected(fault, seen) for fault, seen in found))


def faults(device: str) -> list[Fault]:
    """Return every fault that a device of this kind can show, by area."""
    if device == "host":
        own = [*of_candidates(HOST), *COMPILER, *signals(MOMENTS)]
    else:  # nobody can stand in for NVRTC and say that it compiles
        own = [*of_candidates(GPU), *signals([at for at in MOMENTS if at != IN_A_COMPILE])]
    every = [*own, *FILES]
    return sorted(every, key=lambda fault: AREAS.index(fault.area))


def run(
    chosen: Sequence[Fault], device: str, show: Callable[[str], object]
) -> list[tuple[Fault, Seen]]:
    """Inject each fault at a site of its own; show a line of the table for each."""
    found = []
    with campaign(device) as place:
        for fault in chosen:
            seen = injected(fault, place)
            found.append((fault, seen))
            show(line(fault, seen))
    return found


def line(fault: Fault, seen: Seen) -> str:
    """Return one line of the table, marked if it is not as expected."""
    over = "–" if seen.over_s is None else f"{seen.over_s:.2f}"
    counts = (seen.rows_lost, seen.disturbed, seen.winners_wrong, over)
    text = HEAD.format(fault.name, fault.area, fault.expected, seen.status, *counts)
    return text if fault.as_expected(seen) else f"{text}  ! {seen.message[:100]}"


def summary(found: Sequence[tuple[Fault, Seen]], seconds: float) -> str:
    """Return the last line: how many faults cost what they may cost."""
    found = [(fault, seen) for fault, seen in found if seen.status != IMPOSSIBLE]
    good = sum(fault.as_expected(seen) for fault, seen in found)
    lost = sum(seen.rows_lost for _, seen in found)
    disturbed = sum(seen.disturbed for _, seen in found)
    wrong = sum(seen.winners_wrong for _, seen in found)
    over = max((seen.over_s or 0.0 for _, seen in found), default=0.0)
    return (
        f"{good} of {len(found)} faults as expected: {lost} rows lost, {disturbed} candidates "
        f"disturbed, {wrong} winners wrong, at most {over:.2f} s over a limit; {seconds:.0f} s"
    )


def _as_expected(fault: Fault, seen: Seen) -> bool:
    return seen.status == IMPOSSIBLE or fault.as_expected(seen)


def injected(fault: Fault, place: Campaign) -> Seen:
    """Return what became of a study with ``fault``, whatever that raises."""
    try:
        with place.site(fault.name) as site:
            return fault.inject(site)
    except Impossible as error:
        return Seen(status=IMPOSSIBLE, message=str(error))
    except Exception as error:  # noqa: BLE001 - that nothing breaks is what is to be shown
        where = traceback.extract_tb(error.__traceback__)[-1]
        message = f"{error} ({Path(where.filename).name}, line {where.lineno})"
        return Seen(status=type(error).__name__, message=message)


def _row(fault: Fault, seen: Seen) -> dict[str, object]:
    counts = dataclasses.asdict(seen)
    del counts["message"]  # it names this machine's folders
    if seen.over_s is not None:
        counts["over_s"] = round(seen.over_s, 3)
    return {
        "fault": fault.name,
        "area": fault.area,
        "expected": fault.expected,
        **counts,
        "as_expected": fault.as_expected(seen),
    }


def _wanted(fault: Fault, only: Sequence[str] | None) -> bool:
    return not only or any(words == fault.area or words in fault.name for words in only)


def _named(device: str) -> str:
    if device == "host":
        return device
    import cupy

    index = int(device.partition(":")[2] or 0)
    return str(cupy.cuda.runtime.getDeviceProperties(index)["name"].decode())


def _parser() -> argparse.ArgumentParser:
    about, _, _ = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--device", default="host", metavar="DEVICE", help="host or cuda:N")
    parser.add_argument(
        "--only", action="append", metavar="WORDS", help="an area, or part of a name; repeatable"
    )
    parser.add_argument("--list", action="store_true", help="name the faults, and leave")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the rows there")
    return parser


if __name__ == "__main__":
    sys.exit(main())
