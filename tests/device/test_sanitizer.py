"""What compute-sanitizer says, and what becomes of it when it says nothing.

The tool is played by a script: none runs without a GPU.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from patience import until

from autotune.device.sanitizer import DONE, Sanitizer, Watch, find_sanitizer
from autotune.records import Binary, Candidate, Config, Resources, Status, load_kernel
from autotune.records.targets import TARGETS

CLEAN = f"========= COMPUTE-SANITIZER\n{DONE}\n========= ERROR SUMMARY: 0 errors\n"
INVALID = (
    "========= COMPUTE-SANITIZER\n"
    "========= Invalid __global__ read of size 4 bytes\n"
    "=========     at gemm+0x10\n"
    "========= ERROR SUMMARY: 2 errors\n"
)
HAZARDS = (
    f"========= COMPUTE-SANITIZER\n========= Race\n{DONE}\n========= RACECHECK SUMMARY: 8 hazards\n"
)
ENDLESS_S = f"600.{os.getpid()}"  # which tells that process from others


@pytest.fixture
def launches():
    kernel = load_kernel("gemm")
    problem, target = kernel.problem_type.parse({"m": 64, "n": 64, "k": 64}), TARGETS["sm_80"]
    candidate = Candidate("gemm", problem, Config(kernel.default(problem, target)), target, kernel)
    binary = Binary(key="k", path="/x.cubin", entry="gemm", resources=Resources(), compile_ns=0)
    return [(candidate, binary)]


@pytest.fixture
def tool(tmp_path):
    """A program that says ``text`` and notes how it was started."""

    def make(text, *, sleeps=False, tools=("memcheck",), limit_s=20.0):
        said, program = tmp_path / "said", tmp_path / "tool"
        said.write_text(text)
        wait = f"sleep {ENDLESS_S} & wait\n" if sleeps else ""
        program.write_text(f'#!/bin/sh\necho $$ "$@" >> {tmp_path}/asked\n{wait}cat {said}\n')
        program.chmod(0o755)
        return Sanitizer(program=str(program), index=1, tools=tools, limit_s=limit_s)

    return make


def test_a_clean_run_says_so_and_is_asked_for_every_launch(tool, launches, tmp_path):
    assert tool(CLEAN).watch(launches) == Watch(said="memcheck: clean")
    asked = (tmp_path / "asked").read_text()
    assert "--tool memcheck" in asked
    request = json.loads(asked[asked.index('{"index"') :])
    assert (request["index"], request["launches"][0]["problem"]["m"]) == (1, 64)


def test_an_invalid_access_is_a_failure_with_its_words(tool, launches):
    fault = tool(INVALID).watch(launches).fault
    assert fault.status is Status.INCORRECT
    assert fault.message == "memcheck reports 2: Invalid __global__ read of size 4 bytes"


def test_what_another_tool_reports_is_told_and_judges_nothing(tool, launches):
    watching = tool(HAZARDS, tools=("racecheck",))
    assert watching.told == "compute-sanitizer racecheck"
    assert watching.watch(launches) == Watch(said="racecheck: 8 reported")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("========= COMPUTE-SANITIZER\n========= Error: no driver\n", "Error: no driver"),
        ("boom\n========= ERROR SUMMARY: 0 errors\n", "boom"),
        ("", "it said nothing"),
    ],
)
def test_a_tool_that_did_not_get_to_the_end_is_never_clean(tool, launches, text, why):
    watch = tool(text).watch(launches)
    assert watch == Watch(said=f"memcheck: failed: {why}", ended=False)


def test_a_tool_that_hangs_is_killed_with_all_that_it_started(tool, launches, tmp_path):
    watch = tool(CLEAN, sleeps=True, limit_s=1.0).watch(launches)
    assert watch == Watch(said="memcheck: timeout, no answer in 1 s", ended=False)
    until(lambda: not _alive(str(tmp_path), ENDLESS_S))


def _alive(*words):
    """Return the command lines of living processes that hold one of ``words``."""
    commands = (_command(process) for process in Path("/proc").glob("[0-9]*"))
    return [each for each in commands if any(word.encode() in each for word in words)]


def _command(process):
    try:
        return (process / "cmdline").read_bytes()  # a zombie has none
    except OSError:  # it ended
        return b""


def test_the_tool_of_the_path_comes_first(tmp_path, monkeypatch):
    program = tmp_path / "compute-sanitizer"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_sanitizer() == str(program)
