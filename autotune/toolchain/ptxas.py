"""Read what ``--ptxas-options=-v`` says of a unit's kernels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from autotune.records import Resources

MOST_WARNINGS = 32  # each is kept with every row

_SECTION = re.compile(
    r"ptxas info\s*: (?:Compiling entry function|Function properties for) '?(\S+)"
)
_ENTRY = re.compile(r"'([^']+)' for '")
_SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+)(?:\+(\d+))? bytes smem")
_WARNING = re.compile(r"^ptxas (?:\S.*?)?\s*(?:info|warning)\s*: (.*)$")
_CODE = re.compile(r"\(C\d+\)")


def entries(log: str) -> frozenset[str]:
    """Return the names of the kernels that ``log`` tells of."""
    return frozenset(
        match[1]
        for line in log.splitlines()
        if "entry function" in line
        for match in _ENTRY.finditer(line)
    )


def read_resources(log: str, entry: str) -> Resources:
    """Return what ``entry`` takes, with the spills and the warnings of the whole unit.

    Other kernels of the unit may run before ``entry``, and functions that were not inlined have
    sections of their own: whatever spills, a launch pays for it.
    """
    registers = spilled = shared = 0
    for section, line in _sectioned(log):
        if section == entry:
            registers = max(registers, _sum(_REGISTERS.search(line)))
            shared = max(shared, _sum(_SHARED.search(line)))
        spilled += _sum(_SPILLS.search(line))
    return Resources(
        registers=registers,
        spill_bytes=spilled,
        static_shared_bytes=shared,
        warnings=tuple(islice(_warnings(log.splitlines()), MOST_WARNINGS)),
    )


def _sectioned(log: str) -> Iterator[tuple[str, str]]:
    section = ""
    for line in log.splitlines():
        match = _SECTION.match(line)
        if match is not None:
            section = match[1].rstrip("'")
        yield section, line


def _sum(match: re.Match[str] | None) -> int:
    return sum(int(number or 0) for number in match.groups()) if match is not None else 0


def _warnings(lines: Iterable[str]) -> Iterator[str]:
    """Yield each warning once, and of those with one code the first: the rest name lines."""
    seen = set()
    for line in lines:
        match = _WARNING.match(line)
        code = _CODE.match(match[1]) if match is not None else None
        if match is None or not (code or "warning" in line.partition(":")[0]):
            continue
        name = code[0] if code is not None else match[1]
        if name not in seen:
            seen.add(name)
            yield match[1]
