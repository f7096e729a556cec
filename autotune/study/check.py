"""Whether a table still speaks of today's source, toolchain, driver and policy.

Its best entries can be verified and timed again, which is much less than tuning again.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import hypot
from typing import Any

from autotune.bundle import target_of
from autotune.device import Device
from autotune.dispatch import Entry, Evidence, KernelTable, MeasuredUnder, Running, Table, fit
from autotune.dispatch.fit import REFUSED
from autotune.errors import AutotuneError, DeviceUnavailable
from autotune.records import Candidate, Config, Failure, Kernel, Outcome, Policy, load_kernel
from autotune.records.interval import median_error
from autotune.records.tie import SIGMAS
from autotune.store import Filter, Store
from autotune.toolchain import COMPILERS, source_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One thing that a table says, beside what is so today.

    Attributes:
        kernel: The kernel that it is said of, or empty for the whole table.
        field: What it is, such as ``toolchain.version`` or ``policy.draws``.
        table: What the table says.
        today: What is so today, or None where this machine cannot tell.
        entries: How many entries and defaults were measured under it.
    """

    kernel: str
    field: str
    table: str
    today: str | None
    entries: int

    @property
    def differs(self) -> bool:
        """True if it is known to be otherwise today."""
        return self.today is not None and self.today != self.table


@dataclass(frozen=True, slots=True, kw_only=True)
class Retimed:
    """An entry that was verified and timed again under its own policy.

    Attributes:
        kernel: The kernel.
        entry: What the table says.
        outcome: What became of it today.
    """

    kernel: str
    entry: Entry
    outcome: Outcome

    @property
    def change(self) -> float | None:
        """How much longer it takes today, as a share; None if it was not right."""
        measured = self.outcome.measurement
        return measured.median_ns / _shown_by(self.entry).time_ns - 1 if measured else None

    @property
    def within_noise(self) -> bool:
        """True if the change is less than the noise of both medians explains."""
        evidence, measured = _shown_by(self.entry), self.outcome.measurement
        if measured is None or self.change is None:
            return False
        then = median_error(evidence.spread, evidence.samples)
        now = median_error(measured.spread, len(measured.samples_ns))
        return abs(self.change) <= SIGMAS * hypot(then, now)


def check(table: Table, device: Device | None, store: Store | None) -> Iterator[Checked]:
    """Yield everything that a table says and that can change, each beside what is so today.

    Args:
        table: The table.
        device: One that it may serve, or None if there is none here.
        store: A database whose studies tell the policy of today, or None.

    Raises:
        InvalidInput: A kernel cannot be loaded.
    """
    yield from _of_device(table, device)
    for part in table.kernels.values():
        kernel, answers = load_kernel(part.kernel_ref), (*part.entries, *part.defaults)
        for key, then in part.contexts.items():
            under = [each for each in answers if each.evidence and each.evidence.context == key]
            if not under:  # what was measured so was removed since
                continue
            now = {
                "source_digest": _source(kernel, under[0], table),
                **_toolchain(kernel, device),
                **_policy_of_study(part.name, under[0], store),
            }
            for field, value in _said(then).items():
                yield Checked(
                    kernel=part.name,
                    field=field,
                    table=value,
                    today=now.get(field),
                    entries=len(under),
                )


def retime(table: Table, device: Device, most: int) -> Iterator[Retimed]:
    """Verify and time the entries with the shortest times again, each under its own policy.

    Raises:
        DeviceUnavailable: The table may not serve ``device``, or it measures nothing.
        InvalidInput: A kernel cannot be loaded, or takes a problem of the table no more.
        ToolchainBroken: The compiler cannot be used.
    """
    found = fit(table.device, _running(device))
    if device.replays or found.answer == REFUSED:
        why = found.why or f"{device.name} repeats what was measured and runs nothing"
        raise DeviceUnavailable(f"nothing can be timed again: {why}")
    pairs = [(part, entry) for part in table.kernels.values() for entry in part.entries]
    begun = []
    for part, entry in sorted(pairs, key=lambda pair: _shown_by(pair[1]).time_ns)[:most]:
        candidate = _candidate(part, entry, device)
        begun.append((part, entry, candidate, device.build(candidate)))
    for part, entry, candidate, build in begun:
        built = build.result()
        if isinstance(built, Failure):
            outcome = Outcome.of(built)
        else:
            policy = _policy(part.contexts[_shown_by(entry).context])
            outcome = device.measure(candidate, built, policy)
        yield Retimed(kernel=part.name, entry=entry, outcome=outcome)


def _of_device(table: Table, device: Device | None) -> Iterator[Checked]:
    then, now, driver = table.device, None, None
    if device is not None:
        found = fit(then, _running(device))
        name, driver = device.identity.name, device.identity.driver
        now = f"{name} ({found.answer}: {found.why})" if found.why else then.name
    entries = sum(len(part.entries) + len(part.defaults) for part in table.kernels.values())
    for field, said, today in (("device", then.name, now), ("driver", then.driver, driver)):
        yield Checked(kernel="", field=field, table=said, today=today, entries=entries)


def _running(device: Device) -> Running:
    here = device.identity
    return Running(
        kind=here.kind,
        name=here.name,
        arch=here.target.arch,
        sm_count=here.target.sm_count,
        shared_bytes_per_block=here.target.shared_bytes_per_block,
        memory_bytes=here.memory_bytes,
    )


def _said(context: MeasuredUnder) -> dict[str, str]:
    """Return what a table says of some times, field by field, as text."""
    policy = {f"policy.{name}": json.dumps(value) for name, value in context.policy.items()}
    return {
        "source_digest": context.source_digest,
        "toolchain.compiler": context.compiler,
        "toolchain.version": context.compiler_version,
        **policy,
    }


def _source(kernel: Kernel, answer: Entry, table: Table) -> str | None:
    """Return the digest of the kernel's source, or why it does not take the problem any more."""
    target = target_of(table.device)
    try:
        problem = kernel.problem_type.parse(answer.problem)
        return source_digest(kernel.unit(problem, kernel.default(problem, target), target))
    except AutotuneError as error:
        return error.message


def _toolchain(kernel: Kernel, device: Device | None) -> dict[str, str]:
    """Return what compiles the kernel today, or nothing if this machine cannot."""
    try:
        if device is not None:
            found = device.toolchain_of(kernel)
        elif kernel.language in COMPILERS:
            found = COMPILERS[kernel.language]().toolchain
        else:
            return {}
    except AutotuneError:
        return {}
    return {"toolchain.compiler": found.compiler, "toolchain.version": found.version}


def _policy_of_study(kernel: str, answer: Entry, store: Store | None) -> dict[str, str]:
    """Return the newest policy of the study that an answer comes from, field by field."""
    if store is None:
        return {}
    wanted = Filter(kernel=kernel, problem=answer.problem, studies=(_shown_by(answer).study,))
    found = store.contexts(wanted)
    if not found:
        return {}
    policy = dataclasses.asdict(found[-1].context.policy)
    return {f"policy.{name}": json.dumps(value) for name, value in policy.items()}


def _candidate(part: KernelTable, entry: Entry, device: Device) -> Candidate:
    kernel = load_kernel(part.kernel_ref)
    device.preflight(kernel)
    return Candidate(
        kernel_ref=part.kernel_ref,
        problem=kernel.problem_type.parse(entry.problem),
        config=Config(entry.config),
        target=device.identity.target,
        kernel=kernel,
    )


def _policy(context: MeasuredUnder) -> Policy:
    """Return the policy of a context; what it does not say is as it is by default."""
    known = {each.name for each in dataclasses.fields(Policy)}
    said: dict[str, Any] = {k: v for k, v in context.policy.items() if k in known}
    return Policy(**said)


def _shown_by(answer: Entry) -> Evidence:
    assert answer.evidence is not None, "entries have evidence"
    return answer.evidence
