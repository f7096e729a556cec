"""From a problem to a loaded program: the best choice that this GPU really takes."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from autotune.bundle import Images
from autotune.device.fit import misfit
from autotune.dispatch import Choice, Table, fit
from autotune.dispatch.fit import COMPATIBLE, REFUSED
from autotune.errors import InvalidInput, NoValidConfig
from autotune.launcher import gpu
from autotune.records import (
    Candidate,
    Config,
    Failure,
    Kernel,
    LibraryKernel,
    Problem,
    Target,
    load_kernel,
)
from autotune.toolchain import Nvrtc, source_digest

_log = logging.getLogger("autotune.launcher")
_MAX_PROBLEMS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How one problem is launched on one GPU.

    Attributes:
        choice: The config, and why it is this one.
        candidate: What was compiled.
        program: What to start, or None if there is nothing to compute.
    """

    choice: Choice
    candidate: Candidate
    program: gpu.Program | None


class Planner:
    """Makes plans for one kernel. A config that fails for a problem is reported and tried no more.

    Args:
        table: Where choices come from; None means the kernel's defaults alone.
        kernel_ref: How the kernel is loaded.
        images: Where its binaries come from.

    Attributes:
        kernel: The kernel.
        operands: The kernel's operands of a problem, remembered: each launch is checked by them.
    """

    def __init__(self, table: Table | None, kernel_ref: str, images: Images) -> None:
        self.kernel: Kernel = load_kernel(kernel_ref)
        if self.kernel.language != Nvrtc.language:
            library = isinstance(self.kernel, LibraryKernel)
            what = "a call of a library" if library else f"written in {self.kernel.language}"
            raise InvalidInput(
                f"kernel {self.kernel.name!r} is {what}; the dispatcher runs {Nvrtc.language}"
            )
        self.operands = lru_cache(_MAX_PROBLEMS)(self.kernel.operands)
        self._kernel_ref = kernel_ref
        self._table = table if table and self.kernel.name in table.kernels else None
        self._images = images
        self._failed: dict[tuple[str, Problem, Config], str] = {}
        self._warned_of_source = False
        self._warned_of_device: set[int] = set()

    def problem(self, asked: Problem | Mapping[str, Any]) -> Problem:
        """Return a problem of this kernel from its fields.

        Raises:
            InvalidProblem: A field is unknown, missing or out of range.
        """
        problem_type = self.kernel.problem_type
        if isinstance(asked, problem_type):
            return asked
        return problem_type.parse(asked.as_dict() if isinstance(asked, Problem) else asked)

    def plan(self, problem: Problem, device: int) -> Plan:
        """Return the plan for ``problem``: the first choice that compiles, fits and loads.

        The device must be CuPy's current one.

        Raises:
            NoValidConfig: Not even the kernel's default does; the message says why.
        """
        target, why = gpu.target(device), "there is no choice"
        for choice in self._choices(problem, target, device):
            candidate = self._candidate(problem, choice, target)
            made = self._prepared(candidate, choice)
            if isinstance(made, Plan):
                _report(choice, problem)
                return made
            why = made
        raise NoValidConfig(f"{self.kernel.name} {problem}: {why}")

    def fail(self, candidate: Candidate, reason: str) -> None:
        """Remember that a candidate does not run on this kind of GPU, and say so once."""
        self._failed[_identity(candidate)] = reason
        _log.warning("%s %s: passed over: %s", self.kernel.name, candidate.problem, reason)

    def _choices(self, problem: Problem, target: Target, device: int) -> Iterator[Choice]:
        """Yield the table's choices if it may serve this GPU, then the kernel's default."""
        why = "there is no table for this kernel"
        if self._table is not None:
            why = self._refused(self._table, device)
            if not why:
                why = "no entry of the table could be used"
                yield from self._table.choices(self.kernel.name, **problem.as_dict())
        config = self.kernel.default(problem, target).as_dict()
        yield Choice(self.kernel.name, config, "default", f"the kernel's default: {why}", None)

    def _refused(self, table: Table, device: int) -> str:
        """Return why a table may not serve a GPU, or nothing; what else differs is said once."""
        found = fit(table.device, gpu.running(device))
        if found.answer == REFUSED:
            return found.why
        if found.answer == COMPATIBLE and device not in self._warned_of_device:
            self._warned_of_device.add(device)
            _log.warning("%s: %s; times may differ", table.name, found.why)
        return ""

    def _candidate(self, problem: Problem, choice: Choice, target: Target) -> Candidate:
        return Candidate(self._kernel_ref, problem, Config(choice.config), target, self.kernel)

    def _prepared(self, candidate: Candidate, choice: Choice) -> Plan | str:
        """Return a plan, or why this choice cannot be launched."""
        failed = self._failed.get(_identity(candidate))
        if failed is not None:
            return failed
        try:
            made = self._built(candidate, choice)
        except Exception as error:
            refused = gpu.refusal(error)
            if refused is None:
                raise
            made = refused
        if isinstance(made, str):
            self.fail(candidate, made)
        return made

    def _built(self, candidate: Candidate, choice: Choice) -> Plan | str:
        space = self.kernel.space(candidate.problem, candidate.target)
        broken = space.broken(candidate.config)
        if broken is not None:
            return f"{broken[0]}: {broken[1]}"
        launch, unit = candidate.launch(), candidate.unit()
        if launch.empty:
            return Plan(choice=choice, candidate=candidate, program=None)
        self._warn_of_source(candidate)
        binary = self._images.find(unit, candidate.target.arch)
        if isinstance(binary, Failure):
            return f"{binary.status}: {binary.message}"
        reason = misfit(binary.resources, launch, candidate.target)
        if reason is not None:
            return reason
        return Plan(choice=choice, candidate=candidate, program=gpu.Program(binary, launch))

    def _warn_of_source(self, candidate: Candidate) -> None:
        if self._table is None or self._warned_of_source or not self._images.compiles:
            return
        self._warned_of_source = True
        contexts = self._table.kernels[self.kernel.name].contexts.values()
        if source_digest(candidate.unit()) not in {each.source_digest for each in contexts}:
            _log.warning(
                "%s: the kernel's source is not the one that %s was measured with; tune it again",
                self.kernel.name,
                self._table.name,
            )


def _identity(candidate: Candidate) -> tuple[str, Problem, Config]:
    return candidate.target.arch, candidate.problem, candidate.config


def _report(choice: Choice, problem: Problem) -> None:
    level = logging.WARNING if choice.source == "default" else logging.DEBUG
    _log.log(level, "%s %s: %s: %s", choice.kernel, problem, choice.source, choice.reason)
