"""From rows of the result database to the document of a table (see ``docs/table.md``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autotune.errors import InvalidInput, NoValidConfig
from autotune.store import Filter, Store
from autotune.table.answered import Answered
from autotune.table.document import document_of, kernel_part
from autotune.table.evidence import Evidence, gather
from autotune.table.forest import forest_of
from autotune.table.portfolio import Portfolio, portfolios, restricted
from autotune.table.preferred import Preference, preferred
from autotune.table.proposal import proposals
from autotune.table.regret import LeftOut, judged

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A table that can be written.

    Attributes:
        document: What the file will say.
        entries: How many problems it answers exactly.
        left_out: One line for each result that was not used, and why.
        remarks: One line for each entry that is not what was asked for, and why.
        portfolios: What 1, 2, … configs would lose, by kernel, if few were asked for.
    """

    document: Json
    entries: int
    left_out: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    portfolios: Mapping[str, Sequence[Portfolio]] = field(default_factory=dict)


def build_table(
    store: Store,
    studies: Sequence[str] = (),
    *,
    device: str | None = None,
    unverified: bool = False,
    kernels: int | None = None,
    prefer: Preference | None = None,
) -> Export:
    """Choose the best config of every problem that was tuned, or the best few for all of them.

    Args:
        store: The result database.
        studies: Use only rows of these studies; none means all.
        device: Part of the device's name, its kind or the start of its key.
        unverified: Also offer results whose output was never checked; entries say so.
        kernels: Use at most so many configs of each kernel where a problem has a row of one.
        prefer: What decides in place of time alone.

    Raises:
        NoValidConfig: No row may be offered. The message says why.
        InvalidInput: No such study, or rows that do not go into one table.
    """
    _refuse_unknown_studies(store, studies)
    rows = store.rows(Filter(studies=tuple(studies), device=device))
    answers, left_out = gather(rows, store.finals(studies))
    by_kernel: dict[str, list[Answered]] = {}
    for evidence in sorted(answers, key=_place):
        answered = _answered(evidence, prefer, unverified=unverified)
        if isinstance(answered, str):
            left_out.append(f"{evidence.context.kernel} {evidence.problem}: {answered}")
        else:
            by_kernel.setdefault(evidence.context.kernel, []).append(answered)
    if not by_kernel:
        see = "failures" if prefer is None else "front"
        raise _nothing("" if rows else _whose(store, studies, device), left_out, see=see)
    choices = {
        name: _Choice(some, kernels, unverified=unverified) for name, some in by_kernel.items()
    }
    parts = {name: choice.document for name, choice in sorted(choices.items())}
    return Export(
        document=document_of(answers[0].context.device, parts, prefer=prefer),
        entries=sum(len(some) for some in by_kernel.values()),
        left_out=tuple(left_out),
        remarks=tuple(line for choice in choices.values() for line in choice.told()),
        portfolios={name: choice.portfolios for name, choice in choices.items()},
    )


class _Choice:
    """What a table will say of one kernel, and what there is to tell about it."""

    def __init__(self, problems: Sequence[Answered], most: int | None, *, unverified: bool) -> None:
        def offered(some: Sequence[Answered]) -> list[Portfolio]:
            return portfolios(some, most) if most else []

        self.portfolios = offered(problems)
        self.answered = restricted(problems, self.portfolios)
        defaults = proposals([each.evidence for each in problems], unverified=unverified)
        case = LeftOut(problems, lambda some: restricted(some, offered(some)))
        judgement, forest = judged(case), None
        if most:  # few configs for many problems: it pays to ask which
            judgement, forest = forest_of(case, self.answered, judgement)
        self.document = kernel_part(self.answered, defaults, judgement)
        self.document |= {"forest": forest} if forest else {}

    def told(self) -> Iterator[str]:
        """Yield a line for each problem whose entry is not what one would expect."""
        configs = self.portfolios[-1].configs if self.portfolios else ()
        for each in self.answered:
            named, row = f"{each.evidence.context.kernel} {each.evidence.problem}", each.replaced
            if row is not None:
                yield f"{named}: the default, which is faster than row {row.trial.row_id}"
            elif configs and each.config not in configs:
                yield f"{named}: its own, since none of the {len(configs)} configs has a row here"


def _place(evidence: Evidence) -> list[tuple[bool, int | str]]:
    """Return the order of entries in the file: exact fields first, then sizes."""
    scaled, fields = evidence.kernel.scaled_fields, evidence.problem.as_dict()
    names = sorted(fields, key=lambda name: name in scaled)
    return [(name in scaled, fields[name]) for name in names]


def _answered(evidence: Evidence, prefer: Preference | None, *, unverified: bool) -> Answered | str:
    """Return the problem with its answer, or why there is none, in words."""
    answered = Answered.of(evidence, unverified=unverified)
    if answered is None:
        return _why_none(evidence, unverified=unverified)
    return answered if prefer is None else preferred(answered, prefer)


def _why_none(evidence: Evidence, *, unverified: bool) -> str:
    unchecked = any(not row.trial.verified for row in evidence.sound.values())
    if unchecked and not unverified:
        return "its results were never verified"
    return "no config of it ran and was right"


def _refuse_unknown_studies(store: Store, studies: Sequence[str]) -> None:
    known = [summary.name for summary in store.studies()]
    for name in studies:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise InvalidInput(f"no study named {name!r}; the database has: {listed}")


def _whose(store: Store, studies: Sequence[str], device: str | None) -> str:
    """Return whose rows there are if ``device`` is the reason that none was read."""
    every = store.contexts(Filter(studies=tuple(studies)))
    names = dict.fromkeys(each.context.device.name for each in every)
    if device is None or not names:
        return "the database has no rows"
    return f"no row is of device {device!r}; the devices are: {', '.join(names)}"


def _nothing(why: str, left_out: list[str], *, see: str) -> NoValidConfig:
    more = f" (and {len(left_out) - 1} more)" if len(left_out) > 1 else ""
    hint = "" if why else f"see: autotune query {see}"
    return NoValidConfig(f"nothing to export: {why or left_out[0]}{more}", hint=hint)
