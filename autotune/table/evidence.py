"""Which rows may be compared, and which context answers for a problem.

Times are comparable within one context only: same source, toolchain and policy. A problem is
answered by one context: what was measured here before what a recording repeated, then the one
that was measured last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from autotune.errors import AutotuneError, InvalidInput
from autotune.records import Config, Kernel, Problem, Status, load_kernel
from autotune.store import Context, Final, TrialRow
from autotune.store.chosen import UNTRUSTED
from autotune.toolchain import source_digest


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One problem, as its kernel knows it, and every row of the context that answers for it."""

    kernel: Kernel
    problem: Problem
    context: Context
    rows: tuple[TrialRow, ...]
    final: Final | None = None

    @property
    def exact_key(self) -> tuple[int | str, ...]:
        """Every field of the problem that another one must equal to be served alike."""
        scaled = self.kernel.scaled_fields
        return tuple(v for name, v in self.problem.as_dict().items() if name not in scaled)

    @cached_property
    def sound(self) -> dict[Config, TrialRow]:
        """The newest ``ok`` row of each config that never failed to be right."""
        untrusted = self.untrusted
        newest = {row.trial.config: row for row in self.rows}
        return {
            config: row
            for config, row in newest.items()
            if row.trial.status is Status.OK and row.trial.measurement and config not in untrusted
        }

    @cached_property
    def untrusted(self) -> frozenset[Config]:
        """Configs with a row, or a final, that says that they are wrong or unsafe."""
        wrong = {row.trial.config for row in self.rows if row.trial.status in UNTRUSTED}
        finalists = self.final.finalists if self.final else ()
        return frozenset(wrong | {each.config for each in finalists if each.failed})


def gather(
    rows: Sequence[TrialRow], finals: Mapping[int, Final]
) -> tuple[list[Evidence], list[str]]:
    """Return the evidence for each problem, and a line for each context that was left out.

    Args:
        rows: The trials that may speak.
        finals: The newest final of each context, by the context's id.

    Raises:
        InvalidInput: The rows are of several devices, of one kernel from several places, or of
            a kernel that cannot be loaded.
    """
    by_context: dict[int, list[TrialRow]] = {}
    for row in rows:
        by_context.setdefault(row.context_id, []).append(row)
    _refuse_several_devices([members[0].context for members in by_context.values()])
    load = cache(load_kernel)
    candidates: dict[tuple[str, str], list[Evidence]] = {}
    left_out: list[str] = []
    for members in by_context.values():
        found = _evidence(members, load(members[0].context.kernel_ref), finals)
        if isinstance(found, str):
            left_out.append(found)
        else:
            key = (found.context.kernel, found.problem.key)
            candidates.setdefault(key, []).append(found)
    answers = [max(some, key=_authority) for some in candidates.values()]
    for some, answer in zip(candidates.values(), answers, strict=True):
        left_out += [_older(other) for other in some if other is not answer]
    _refuse_two_homes(answers)
    return answers, left_out


def _evidence(rows: list[TrialRow], kernel: Kernel, finals: Mapping[int, Final]) -> Evidence | str:
    context = rows[0].context
    try:
        problem = kernel.problem_type.parse(context.problem.as_dict())
        target = context.device.target
        unit = kernel.unit(problem, kernel.default(problem, target), target)
    except AutotuneError as error:
        return f"{_named(context)}: the kernel of today refuses it: {error.message}"
    if not context.replayed_from and source_digest(unit) != context.source_digest:
        return f"{_named(context)}: measured with another source of the kernel; tune it again"
    final = finals.get(rows[0].context_id)
    return Evidence(kernel=kernel, problem=problem, context=context, rows=tuple(rows), final=final)


def _authority(evidence: Evidence) -> tuple[bool, bool, str, int]:
    last = max(evidence.rows, key=lambda row: row.trial.finished_at)
    measured = not evidence.context.replayed_from
    finished = last.trial.finished_at.isoformat()
    return bool(evidence.sound), measured, finished, last.context_id


def _refuse_several_devices(contexts: list[Context]) -> None:
    devices = {context.device.key: context.device for context in contexts}
    if len(devices) > 1:
        named = "; ".join(
            f"{key[:8]} is {d.name} with {d.memory_bytes / 2**30:.0f} GiB, driver {d.driver}"
            for key, d in sorted(devices.items())
        )
        raise InvalidInput(
            f"a table is of one device, and these results are of {len(devices)}: {named}",
            hint="choose one: " + " or ".join(f"--device {key[:8]}" for key in sorted(devices)),
        )


def _refuse_two_homes(answers: list[Evidence]) -> None:
    homes: dict[str, str] = {}
    for context in (answer.context for answer in answers):
        if homes.setdefault(context.kernel, context.kernel_ref) != context.kernel_ref:
            raise InvalidInput(
                f"kernel {context.kernel!r} comes from {homes[context.kernel]} and from "
                f"{context.kernel_ref}",
                hint="choose the studies of one of them: --study NAME",
            )


def _older(evidence: Evidence) -> str:
    context = evidence.context
    why = f"replayed from {context.replayed_from}" if context.replayed_from else "measured earlier"
    return f"{_named(context)}: {why}, under another policy, toolchain or source; left out"


def _named(context: Context) -> str:
    return f"{context.kernel} {context.problem}"
