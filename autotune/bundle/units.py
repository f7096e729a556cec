"""What has to be compiled for a table: every unit that an answer of it may need."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from autotune.dispatch import Entry, KernelTable, broken_condition
from autotune.dispatch.bundle import ROLES
from autotune.errors import InvalidInput, InvalidProblem
from autotune.records import (
    Candidate,
    Config,
    Kernel,
    Launch,
    LibraryKernel,
    SourceUnit,
    Target,
    Value,
    digest,
    digest_bytes,
    load_kernel,
)
from autotune.toolchain.sources import scan

EVEN = 256  # elements that every row length a kernel cares about divides

Fields = Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One answer of a table with one unit that it may be launched from.

    Attributes:
        kernel: The kernel's name.
        role: ``entries`` or ``defaults``.
        at: Which of them.
        key: ``unit_key`` of the unit.
        unit: What to compile.
        launch: How it is started for one of the problems that need this unit.
    """

    kernel: str
    role: str
    at: int
    key: str
    unit: SourceUnit
    launch: Launch


def unit_key(unit: SourceUnit, arch: str) -> str:
    """Return 32 hexadecimal digits that identify what ``unit`` makes of its own files.

    Neither compiler nor toolkit is asked: a machine that has none finds the binary in a bundle.

    Raises:
        InvalidInput: A source is missing.
    """
    return digest(
        {
            "arch": arch,
            "entry": unit.entry,
            "header": [unit.header_name, digest_bytes(unit.header.encode())],
            "options": list(unit.options),
            "sources": [list(part) for part in scan(unit).parts],
        }
    )


def needs(table: KernelTable, target: Target) -> Iterator[Need]:
    """Yield every unit of every answer, each unit of an answer once.

    A config may need another binary for problems with ragged rows. So the kernel is asked for the
    answer's own problem and for those beside it whose sizes are even, and odd.

    Raises:
        InvalidInput: The kernel cannot be loaded, or has nothing to compile.
    """
    kernel = load_kernel(table.kernel_ref)
    if isinstance(kernel, LibraryKernel):
        raise InvalidInput(f"kernel {table.name!r} is a call of a library: it has no binary")
    for role in ROLES:
        for at, answer in enumerate(getattr(table, role)):
            seen = set()
            for candidate in _candidates(kernel, table, answer, target):
                unit = candidate.unit()
                key = unit_key(unit, target.arch)
                if key not in seen:
                    seen.add(key)
                    yield Need(
                        kernel=table.name,
                        role=role,
                        at=at,
                        key=key,
                        unit=unit,
                        launch=candidate.launch(),
                    )


def _candidates(
    kernel: Kernel, table: KernelTable, answer: Entry, target: Target
) -> Iterator[Candidate]:
    for fields in _problems(answer.problem, table, answer):
        try:
            problem = kernel.problem_type.parse(fields)
        except InvalidProblem:  # no lookup asks for what is no problem
            continue
        yield Candidate(table.kernel_ref, problem, Config(answer.config), target, kernel)


def _problems(own: Fields, table: KernelTable, answer: Entry) -> Iterator[Fields]:
    yield own
    for name in table.scaled_fields:
        step = math.lcm(*(c.multiple_of for c in answer.conditions if c.field == name))
        even = math.lcm(EVEN, step) * math.ceil(max(1, int(own[name])) / math.lcm(EVEN, step))
        for size in (even, even + step):
            fields = {**own, name: size}
            if broken_condition(answer.conditions, fields) is None:
                yield fields
