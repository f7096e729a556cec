"""Default configs: what a kernel proposes without tuning, for problems that no entry fits."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod

from autotune.errors import AutotuneError
from autotune.records import Condition, Config
from autotune.store import TrialRow
from autotune.table.eligible import acceptor
from autotune.table.evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A default config, the evidence whose problem it is for, and its row if it has one."""

    evidence: Evidence
    config: Config
    row: TrialRow | None

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """When the config may serve other problems."""
        return self.evidence.kernel.conditions(self.evidence.problem, self.config)


def proposals(answers: Iterable[Evidence], *, unverified: bool) -> list[Proposal]:
    """Return the defaults for every combination of exact fields in ``answers``.

    The kernel is asked for each problem that was tuned and for the smallest one, whose config
    serves what the others' conditions exclude. A config that ran and failed is left out. The
    strictest conditions come first, since the first that fits a problem serves it.
    """
    groups: dict[tuple[int | str, ...], list[Evidence]] = {}
    for evidence in answers:
        groups.setdefault(evidence.exact_key, []).append(evidence)
    return [
        proposal
        for key in sorted(groups, key=repr)
        for proposal in sorted(_of_group(groups[key], unverified=unverified), key=_leniency)
    ]


def _of_group(group: list[Evidence], *, unverified: bool) -> list[Proposal]:
    untrusted = frozenset[Config]().union(*(evidence.untrusted for evidence in group))
    found: dict[Config, Proposal] = {}
    for evidence in (*group, *_smallest(group[0])):
        proposal = _proposal(evidence, unverified=unverified)
        if proposal is None or proposal.config in untrusted:
            continue
        known = found.get(proposal.config)
        if known is None or (known.row is None and proposal.row is not None):
            found[proposal.config] = proposal
    return list(found.values())


def _proposal(evidence: Evidence, *, unverified: bool) -> Proposal | None:
    try:
        config = evidence.kernel.default(evidence.problem, evidence.context.device.target)
    except AutotuneError:
        return None
    row = evidence.sound.get(config)
    tried = any(other.trial.config == config for other in evidence.rows)
    if (tried and row is None) or not acceptor(evidence)(config):
        return None
    offered = row is not None and (unverified or row.trial.verified)
    return Proposal(evidence=evidence, config=config, row=row if offered else None)


def _smallest(evidence: Evidence) -> Iterator[Evidence]:
    """Yield the problem of one in every scaled field, without rows, if the kernel has it."""
    ones = dict.fromkeys(evidence.kernel.scaled_fields, 1)
    try:
        problem = dataclasses.replace(evidence.problem, **ones)
    except AutotuneError:
        return
    yield dataclasses.replace(evidence, problem=problem, rows=())


def _leniency(proposal: Proposal) -> tuple[float, bool]:
    strictness = prod(condition.multiple_of for condition in proposal.conditions)
    return -strictness, proposal.row is None
