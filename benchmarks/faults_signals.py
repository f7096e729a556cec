"""Signals to a study's processes: to the coordinator at some moments, and to its lane."""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from faults_compiler import VICTIM, compiler
from faults_process import Tuning, tuning
from faults_record import Fault, Seen
from faults_study import FINISHED, INTERRUPTED, POLICY, STUDY, Run, Site

PROMISED_S = 5.0  # from a signal until the coordinator is gone
ORPHANED_S = 5.0  # from its death until what it started is gone
ENDLESS_S = 60.0
KILLED, EXIT_INTERRUPTED = "killed", 130
Moment = Callable[[Site, Tuning], bool]  # waits for it; False if it did not come


def study_file(site: Site, fault: str, *, run_s: float) -> Path:
    """Write the site's study as a file."""
    path, fields = site.folder / "study.toml", dataclasses.asdict(POLICY)
    values = "\n".join(f"{name} = {_toml(value)}" for name, value in fields.items())
    path.write_text(
        f'name = "{STUDY}"\nkernel = "{site.kernel_ref}"\n'
        f'[search]\nsampler = "exhaustive"\n[policy]\n{values}\n'
        f"[limits]\nrun_s = {run_s}\n[space]\nfault = {sorted({'none', fault})}\n"
        f"[problems]\nshapes = [{list(site.problem.as_dict().values())}]\n"
    )
    return path


def _coordinator(site: Site, *, number: signal.Signals, moment: str) -> Seen:
    """Stop the coordinator at a moment, look what it left, and go on."""
    fault, wait = MOMENTS[moment]
    script = compiler(site, f": > {site.folder}/began; sleep {ENDLESS_S:.0f}")
    own = {"FAULTS_WITNESS": str(site.folder), "AUTOTUNE_CACHE": str(site.folder / "cache")}
    file = study_file(site, fault, run_s=ENDLESS_S)
    own["CXX"] = str(script)
    with tuning(file, site.database, device=site.device.name, environment=own) as process:
        if not wait(site, process):
            return Seen(status="ended before", message=process.said.strip())
        before = [(0.0, trial) for trial in site.kept()]
        took_s = process.stop(number)
        status = _ended(process)
        if process.orphans(ORPHANED_S):
            status += ", processes left"
    runs = [Run(ended=status, rows=before), site.tune(fault)]
    return site.seen(runs, status).but(status, over_s=max(0.0, took_s - PROMISED_S))


def _paused(site: Site) -> Seen:
    """Stop the coordinator for a while, as Ctrl-Z does, and let it go on."""
    file = study_file(site, "none", run_s=site.limits.run_s)
    with tuning(file, site.database, device=site.device.name) as process:
        process.until(lambda: len(site.kept()) >= 1)
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(1.0)
        os.kill(process.pid, signal.SIGCONT)
        status = FINISHED if process.wait() == 0 else "failed"
    return site.seen([Run(ended=status), site.tune()], status)


def _lane_between(site: Site) -> Seen:
    """Kill the lane while it waits for the next candidate."""
    met = site.tune(after=lambda _count: os.kill(site.device._lane.pid, signal.SIGKILL))  # type: ignore[attr-defined]  # noqa: SLF001 - nobody else knows its pid
    return site.seen([met, site.tune()], met.ended)


def _rows(site: Site, process: Tuning) -> bool:
    return process.until(lambda: len(site.kept()) >= 2)


def _runs(site: Site, process: Tuning) -> bool:
    return process.until((site.folder / "sleeps").exists)


def _compiles(site: Site, process: Tuning) -> bool:
    return process.until((site.folder / "began").exists)


def _starts(site: Site, process: Tuning) -> bool:
    return process.until(site.database.exists)


IN_A_COMPILE = "in a compile"
MOMENTS: dict[str, tuple[str, Moment]] = {
    "as it starts": ("none", _starts),
    "between rows": ("none", _rows),
    IN_A_COMPILE: (VICTIM, _compiles),
    "in a run": ("sleeps", _runs),
}
STOPS = {
    signal.SIGINT: INTERRUPTED,
    signal.SIGTERM: INTERRUPTED,
    signal.SIGKILL: KILLED,
    signal.SIGHUP: KILLED,
}


def _ended(process: Tuning) -> str:
    code = process.wait()
    if code == EXIT_INTERRUPTED and "Traceback" not in process.said:
        return INTERRUPTED
    return KILLED if code in (-signal.SIGKILL, -signal.SIGHUP) else f"exit code {code}"


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _signal(name: str, expected: str, inject: Callable[[Site], Seen]) -> Fault:
    return Fault(name=name, area="signals", expected=expected, inject=inject)


def signals(moments: Collection[str]) -> list[Fault]:
    """Return every signal that is sent, at each of these moments where it matters."""
    return [
        *(
            _signal(
                f"{number.name} {moment}",
                expected,
                partial(_coordinator, number=number, moment=moment),
            )
            for number, expected in STOPS.items()
            for moment in (moments if number is not signal.SIGHUP else ("in a run",))
        ),
        _signal("coordinator paused", FINISHED, _paused),
        _signal("SIGKILL to the idle lane", FINISHED, _lane_between),
    ]
