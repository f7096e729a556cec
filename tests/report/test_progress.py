from __future__ import annotations

import io
import math
import re
from types import SimpleNamespace

import pytest
from rich.console import Console

from autotune.records import Config, Measurement, Status, Toolchain, Trial, load_kernel
from autotune.report import progress
from autotune.report.progress import LineProgress, LiveProgress, watch
from autotune.study import ProblemReport, Reason, StudySpec

KERNEL = load_kernel("host_matmul")
PROBLEM = KERNEL.problem_type(m=100, n=100, k=100)  # 2 MFLOP
SPEC = StudySpec(name="[red]s[/red]", kernel_ref="host_matmul", kernel=KERNEL, problems=(PROBLEM,))
DEVICE = SimpleNamespace(
    name="recording:x",
    replays=True,
    identity=SimpleNamespace(name="A GPU"),
    toolchain_of=lambda kernel: Toolchain(compiler="nvrtc", version="13.0.88 CL-36424714"),
)


def _console(*, terminal):
    return Console(
        file=io.StringIO(), force_terminal=terminal, width=100, markup=False, highlight=False
    )


def _trial(number, status=Status.OK, time_ns=1000.0):
    measured = Measurement(samples_ns=(time_ns,)) if status is Status.OK else None
    return Trial(
        number=number,
        problem_key=PROBLEM.key,
        config=Config(tile=number),
        status=status,
        message="[bold]no[/bold]",
        measurement=measured,
    )


def _tell(observer):
    """Tell of three trials, of which the second failed and the third is slower."""
    observer.started(SPEC, DEVICE)
    observer.problem_started(PROBLEM, planned=3, done=2, valid=50)
    best = _trial(2)
    observer.trial(PROBLEM, best, best)
    observer.trial(PROBLEM, _trial(3, Status.COMPILE_ERROR), best)
    observer.trial(PROBLEM, _trial(4, time_ns=5000.0), best)
    observer.note("a [note]")
    observer.final_round(1, rounds=7, racing=9)
    observer.final_round(2, rounds=7, racing=3)
    observer.problem_finished(
        ProblemReport(
            problem=PROBLEM,
            reason=Reason.BUDGET,
            ran=3,
            total=5,
            valid=50,
            best=best,
            tied=2,
            default=None,
            statuses={},
        )
    )


def test_lines_tell_the_device_the_best_and_the_failures(monkeypatch):
    monkeypatch.setattr(progress, "_LINE_EVERY_S", math.inf)
    console = _console(terminal=False)
    with watch(console) as observer:
        assert type(observer) is LineProgress
        _tell(observer)
    lines = console.file.getvalue().splitlines()
    assert lines == [
        "study [red]s[/red]: kernel host_matmul, 1 problem, sampler auto, seed 0",
        "device recording:x replays what was measured on A GPU, built by nvrtc 13.0.88",
        "m=100,n=100,k=100: 3 of 50 configurations to try, 2 done before",
        "  3/5  best 1.00 µs  2.00 TFLOP/s  tile=2",
        "note: a [note]",
        "  final: 9 in turns, 7 rounds at most",
        "  final, after 2 rounds: tile=2, tied with 2",
        "  trials done: 3 trials in this run, 5 in all (1 compile_error)",
    ]


def test_a_search_that_finds_nothing_better_says_now_and_then_where_it_stands(monkeypatch):
    monkeypatch.setattr(progress, "_LINE_EVERY_S", -1.0)
    console = _console(terminal=False)
    with watch(console) as observer:
        _tell(observer)
    lines = console.file.getvalue().splitlines()
    assert [line.rsplit("  ", 1)[0] for line in lines[4:6]] == [
        "  4/5  1 compile_error",
        "  5/5  1 compile_error",
    ]


def test_a_terminal_gets_a_display_that_goes_away():
    console = _console(terminal=True)
    with watch(console) as observer:
        assert isinstance(observer, LiveProgress)
        _tell(observer)
    shown = console.file.getvalue()
    assert "[red]s[/red]" in shown
    assert "trials done: 3 trials in this run, 5 in all (1 compile_error)" in shown
    assert "note: final, round 2 of 7: 3 in turns" in shown
    assert shown.count("\x1b[?25h") == 1  # the cursor is back


@pytest.mark.parametrize(
    ("total", "valid", "hint"),
    [(5, 50, "raise --trials to go on"), (50, 50, "every configuration was tried")],
)
def test_a_finished_study_gets_one_line(total, valid, hint):
    console = _console(terminal=False)
    with watch(console) as observer:
        observer.started(SPEC, DEVICE)
        observer.problem_started(PROBLEM, planned=0, done=total, valid=valid)
        observer.problem_finished(
            ProblemReport(
                problem=PROBLEM,
                reason=Reason.FINISHED_BEFORE,
                ran=0,
                total=total,
                valid=valid,
                best=_trial(0),
                default=None,
                statuses={},
            )
        )
    said = console.file.getvalue().splitlines()[2:]
    assert said == [f"m=100,n=100,k=100: already finished ({total} trials; {hint})"]


def _screen(written):
    """Return what stays on a terminal: its lines after every move and erasure."""
    lines, row, column = [""], 0, 0
    for code, text in re.findall(r"(\x1b\[[?\d;]*[A-Za-z]|\r|\n)|([^\x1b\r\n]+)", written):
        if text:
            lines[row] = lines[row][:column].ljust(column) + text + lines[row][column + len(text) :]
            column += len(text)
        elif code == "\n":
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif code == "\r":
            column = 0
        elif code.endswith("A"):
            row -= int(code[2:-1] or 1)
        elif code.endswith("K"):
            lines[row] = ""
    return [line for line in lines if line]


def test_the_display_leaves_nothing_behind():
    console = _console(terminal=True)
    with watch(console) as observer:
        _tell(observer)
        observer.problem_started(PROBLEM, planned=3, done=2, valid=50)
        observer.trial(PROBLEM, _trial(5), _trial(5))
    left = _screen(console.file.getvalue())
    assert left[-1].startswith("m=100,n=100,k=100: 3 of 50 configurations")
    assert not any("━" in line for line in left)


@pytest.mark.parametrize("planned", [0, 1])
def test_a_display_of_little_work_is_drawn(planned):
    console = _console(terminal=True)
    with watch(console) as observer:
        observer.started(SPEC, DEVICE)
        observer.problem_started(PROBLEM, planned=planned, done=0, valid=1)
    assert f"0/{planned}" in console.file.getvalue()
