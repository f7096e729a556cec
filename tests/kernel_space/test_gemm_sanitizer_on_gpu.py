"""compute-sanitizer finds nothing to say of any mechanism: one process for each of its tools.

UNSUPPORTED lists what a tool misjudges. What racecheck misjudges of a GEMM it watches in a variant.

What a tool reports, by rung, is in the message of the assertion; its summary is logged
(--log-cli-level=INFO).
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sanitized_gemm
from cards import H200
from sanitized_gemm import EVERY_LANE_ARRIVES, RUNGS

from kernel_space.gemm import ampere, hopper
from kernel_space.stream.space import MECHANISMS as STREAMING

DRIVER = Path(sanitized_gemm.__file__)
LIMIT_S = 240.0
SHOWN_LINES = 12  # of what is reported of a rung
TOOLS = {
    "memcheck": ("--report-api-errors", "no"),  # CuPy asks the driver for what it may not have
    "racecheck": (),
    "synccheck": (),
}
TAKEN_FOR_A_THREAD = "a bulk copy counts as written by the thread that asked, whatever it awaits"
TAKEN_FOR_A_LANE = "a warp's arrival counts as its lane's; watched where every lane arrives instead"
PARTED_ROLES = "'Missing wait', it says of libcu++'s pipeline of parted roles, and ends the process"
UNSUPPORTED: dict[str, dict[str, str]] = {  # rungs that a tool misjudges, and how
    "memcheck": {},
    "racecheck": {
        "mbarrier": TAKEN_FOR_A_LANE,
        "ws_cp_async": TAKEN_FOR_A_LANE,
        "stream bulk": TAKEN_FOR_A_THREAD,
        "stream bulk that stores": TAKEN_FOR_A_THREAD,
    },
    "synccheck": {"pipeline_block": PARTED_ROLES},
}
SUMMARY = re.compile(r"^=+ (?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard).*$", re.MULTILINE)
_log = logging.getLogger(__name__)


def find_sanitizer() -> str | None:
    """Return compute-sanitizer of the PATH, of CUDA_HOME or of NVIDIA's package, or None."""
    places = os.environ.get("PATH", ""), f"{os.environ.get('CUDA_HOME', '/usr/local/cuda')}/bin"
    found = shutil.which("compute-sanitizer", path=os.pathsep.join(places))
    if found is None:
        pathfinder = pytest.importorskip("cuda.pathfinder")
        found = pathfinder.find_nvidia_binary_utility("compute-sanitizer")
    return found


def output_of(*command):
    done = subprocess.run(
        [*command],
        check=False,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return done.stdout + done.stderr


def words(output):
    """Return what the driver said of each rung."""
    return dict(re.findall(r"^(.+?) is ((?:right|wrong|absent).*)$", output, re.MULTILINE))


def reports(output):
    """Return the lines of a tool on each rung, but for its banner and its summary."""
    found, rung = {}, "before the first rung"
    for line in output.splitlines():
        if line.startswith("rung "):
            rung = line.removeprefix("rung ")
        elif re.match(r"========= (?!COMPUTE-SANITIZER|\w+ SUMMARY)\s*\S", line):
            found.setdefault(rung, []).append(line)
    return found


def shown(found):
    return "\n".join(
        f"{rung}: {len(lines)} lines\n" + "\n".join(lines[:SHOWN_LINES])
        for rung, lines in found.items()
    )


def test_every_mechanism_has_a_rung_that_its_space_allows():
    mechanisms = {(each.kernel.name, each.config["mechanism"]) for each in RUNGS.values()}
    wanted = {("gemm", name) for name in (*ampere.MECHANISMS, *hopper.MECHANISMS)}
    assert mechanisms == wanted | {("stream", name) for name in STREAMING}
    for name, rung in RUNGS.items():
        assert rung.kernel.space(rung.problem, H200).broken(rung.config) is None, name
    assert {name for each in UNSUPPORTED.values() for name in each} <= set(RUNGS)


def test_every_tool_but_one_watches_every_mechanism_of_a_gemm():
    wanted = {*ampere.MECHANISMS, *hopper.MECHANISMS}
    missed = {
        tool: wanted - {RUNGS[name].config["mechanism"] for name in RUNGS.keys() - unsupported}
        for tool, unsupported in UNSUPPORTED.items()
    }
    assert missed == {"memcheck": set(), "racecheck": set(), "synccheck": {"pipeline_block"}}


def test_every_lane_arrives_by_edits_of_one_place_each():
    assert EVERY_LANE_ARRIVES.places() == [1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mbarrier", "ws_cp_async"])
def test_a_rung_at_which_every_lane_arrives_has_code_of_its_own(name):
    binaries = [RUNGS[rung].built(H200) for rung in (name, f"{name} at which every lane arrives")]
    assert len({Path(binary.path).read_bytes() for binary in binaries}) == 2


def test_a_report_is_that_of_the_rung_before_it():
    output = """========= COMPUTE-SANITIZER
rung sync1
sync1 is right
rung tma
========= Error: Race reported between Write access at gemm+0x10
=========     and Read access at gemm+0x20 [8 hazards]
=========
tma is wrong: 3 of 9 elements
========= RACECHECK SUMMARY: 8 hazards displayed (1 error, 0 warnings)
"""
    assert words(output) == {"sync1": "right", "tma": "wrong: 3 of 9 elements"}
    assert {rung: len(lines) for rung, lines in reports(output).items()} == {"tma": 2}
    assert "tma: 2 lines\n========= Error: Race" in shown(reports(output))
    assert SUMMARY.search(output)[1] == "8"
    assert SUMMARY.search("========= ERROR SUMMARY: 0 errors")[1] == "0"


@pytest.fixture(scope="module")
def present():
    """Compile and run every rung with no tool, and return those that this GPU has."""
    output = output_of(sys.executable, DRIVER)
    said = words(output)
    assert list(said) == list(RUNGS), output
    allowed = ("right",) if output.startswith("on sm_90a") else ("right", "absent")
    assert all(word.startswith(allowed) for word in said.values()), output
    return [name for name, word in said.items() if word == "right"]


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_finds_nothing(tool, present):
    sanitizer = find_sanitizer()
    if sanitizer is None:
        pytest.skip("no compute-sanitizer: install nvidia-cuda-sanitizer-api or set CUDA_HOME")
    rungs = [name for name in present if name not in UNSUPPORTED[tool]]
    options = ("--target-processes", "application-only", "--show-backtrace", "device")
    watched = (sanitizer, "--tool", tool, *options, *TOOLS[tool], sys.executable, DRIVER, *rungs)
    output = output_of(*watched)
    summary = SUMMARY.search(output)
    _log.info("%s of %d rungs: %s", tool, len(rungs), summary[0] if summary else output[-2000:])
    assert not reports(output), shown(reports(output))
    assert words(output) == dict.fromkeys(rungs, "right"), output[-2000:]
    assert summary is not None, output[-2000:]
    assert summary[1] == "0"
