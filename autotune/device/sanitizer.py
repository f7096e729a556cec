"""NVIDIA's compute-sanitizer: a GPU's accesses to memory, watched in a process of their own."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from autotune.records import Binary, Candidate, Failure, Status, one_line

PROGRAM = "compute-sanitizer"
TOOLS = ("memcheck", "racecheck", "synccheck")
# The others misjudge bulk copies and warps that part, so that what they say is told, not judged.
JUDGE = "memcheck"
LIMIT_S = 300.0
DONE = "every launch has ended"  # said by what is watched

_OPTIONS = ("--target-processes", "application-only", "--show-backtrace", "device")
_OF_TOOL = {"memcheck": ("--report-api-errors", "no")}  # CuPy asks for what it may not have
_SUMMARY = re.compile(r"^=+ (?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard)", re.MULTILINE)
_FINDING = re.compile(r"^=+ (?!COMPUTE-SANITIZER|\w+ SUMMARY)\s*(\S.*)$", re.MULTILINE)
_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from autotune.device.watched import launch_all; launch_all(sys.argv[2])"
)


def find_sanitizer() -> str | None:
    """Return compute-sanitizer of the PATH, of CUDA_HOME or of NVIDIA's package, or None."""
    toolkit = f"{os.environ.get('CUDA_HOME', '/usr/local/cuda')}/bin"
    found = shutil.which(PROGRAM) or shutil.which(PROGRAM, path=toolkit)
    if found is not None:
        return found
    try:
        from cuda import pathfinder
    except ImportError:
        return None
    packaged: str | None = pathfinder.find_nvidia_binary_utility(PROGRAM)
    return packaged


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What the tools made of one config.

    Attributes:
        said: What each tool said, such as ``memcheck: clean``.
        fault: What is wrong, or None.
        ended: False if a tool ran out of time or broke off: what it did not see may be wrong.
    """

    said: str
    fault: Failure | None = None
    ended: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Sanitizer:
    """Watches launches on one GPU.

    Attributes:
        program: compute-sanitizer.
        index: The GPU.
        tools: Some of ``TOOLS``.
        limit_s: How long one of them may take, in seconds; watching is slow.
    """

    program: str
    index: int
    tools: tuple[str, ...] = (JUDGE,)
    limit_s: float = LIMIT_S

    @property
    def told(self) -> str:
        """What a certificate says of it."""
        return f"{PROGRAM} {', '.join(self.tools)}"

    def watch(self, launches: Sequence[tuple[Candidate, Binary]]) -> Watch:
        """Launch each once under every tool, as far as the first that finds a fault."""
        request, said, ended = self._request(launches), [], True
        for tool in self.tools:
            count, line = self._found(tool, request)
            said.append(f"{tool}: {line if count is None else _counted(count)}")
            ended = ended and count is not None
            if count and tool == JUDGE:
                message = f"{tool} reports {count}: {line}"
                fault = Failure(status=Status.INCORRECT, message=message)
                return Watch(said="; ".join(said), fault=fault, ended=ended)
        return Watch(said="; ".join(said), ended=ended)

    def _request(self, launches: Sequence[tuple[Candidate, Binary]]) -> str:
        members = [
            {
                "kernel_ref": candidate.kernel_ref,
                "problem": candidate.problem.as_dict(),
                "config": candidate.config.as_dict(),
                "target": dataclasses.asdict(candidate.target),
                "binary": {"path": binary.path, "entry": binary.entry, "key": binary.key},
            }
            for candidate, binary in launches
        ]
        return json.dumps({"index": self.index, "limit_s": self.limit_s, "launches": members})

    def _found(self, tool: str, request: str) -> tuple[int | None, str]:
        """Return how much ``tool`` reports, None if it did not get so far, and its first line."""
        watched = (sys.executable, "-c", _BOOT, json.dumps(sys.path), request)
        command = (self.program, "--tool", tool, *_OPTIONS, *_OF_TOOL.get(tool, ()), *watched)
        output = _output(command, self.limit_s)
        if output is None:
            return None, f"timeout, no answer in {self.limit_s:g} s"
        summary, finding = _SUMMARY.search(output), _FINDING.search(output)
        count = int(summary[1]) if summary else 0
        if not count and DONE not in output:
            return None, f"failed: {one_line(_last(output))}"
        return count, one_line(finding[1] if finding else "")


def _output(command: Sequence[str], limit_s: float) -> str | None:
    with subprocess.Popen(
        [*command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        process_group=0,
    ) as process:
        try:
            return process.communicate(timeout=limit_s)[0]
        except subprocess.TimeoutExpired:
            return None
        finally:  # an interrupt, too, takes the tool and what it watches along
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)


def _counted(count: int) -> str:
    return f"{count} reported" if count else "clean"


def _last(output: str) -> str:
    """Return what the program that was watched said last, or else the tool."""
    lines = [line.strip(" =") for line in output.splitlines() if not line.startswith("=")]
    tool = [line.strip(" =") for line in output.splitlines() if line.startswith("=")]
    return next((line for line in (*reversed(lines), *reversed(tool)) if line), "it said nothing")
