"""What a table holds, as immutable records.

They are named tuples because an application pays for this import at start, and the
``dataclasses`` module alone would double it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from autotune.records import Condition as KernelCondition

Value = int | str
Fields = Mapping[str, Value]


class Condition(NamedTuple):
    """When a config may serve a problem: a divisor and bounds of one problem field."""

    field: str
    multiple_of: int = 1
    at_least: int | None = None
    at_most: int | None = None


class Evidence(NamedTuple):
    """The database row that a config was measured in.

    Attributes:
        time_ns: Median device time of one launch, in ns.
        spread: Interquartile range of the samples over their median.
        samples: How many samples there are.
        tied: How many other configs of this problem tie with it: by noise, or by less than 1 %.
        verified: True if its output was checked before it was timed.
        row_id: The trial's row in the database.
        study: The study that recorded it.
        measured_at: When the trial ended: ISO 8601, UTC.
        origin: ``measured`` on a device, or ``replayed`` from a recording.
        context: Key of the kernel's ``contexts``: source, toolchain and policy.
        loss: How much longer it takes than the problem's winner, as a share: more than 0 where
            a portfolio gave the problem a config of another one.
    """

    time_ns: float
    spread: float
    samples: int
    tied: int
    verified: bool
    row_id: int
    study: str
    measured_at: str
    origin: str
    context: str
    loss: float = 0.0


class Certificate(NamedTuple):
    """That a config was verified again, after it had been exported.

    Attributes:
        certified_at: When: ISO 8601, UTC.
        framework: The program that did it.
        problems: On which problems it was right: its own, then those that its conditions admit.
        draws: Random inputs on each of them, besides whole numbers and what is not finite.
        repeats: Further runs that agreed bit for bit, some while the device was busy.
        sanitizer: ``clean``, or why no sanitizer has watched it: ``absent``, ``off``, …
        source_digest: Digest of the kernel's source as it was then.
        compiler: The compiler's name.
        compiler_version: Its version.
        driver: Version of the driver that it ran under.
    """

    certified_at: str
    framework: str
    problems: tuple[str, ...]
    draws: int
    repeats: int
    sanitizer: str
    source_digest: str
    compiler: str
    compiler_version: str
    driver: str


class Certified(NamedTuple):
    """That a whole table was verified again.

    Attributes:
        certified_at: When: ISO 8601, UTC.
        framework: The program that did it.
        configs: How many entries and defaults have a certificate: all that are left.
        removed: How many were removed because they failed.
        sanitizer: The sanitizer that watched each once, or ``absent``, ``off``, …
    """

    certified_at: str
    framework: str
    configs: int
    removed: int
    sanitizer: str


class Entry(NamedTuple):
    """A config for one problem.

    Attributes:
        problem: The problem that it was chosen for.
        config: One value for each parameter.
        conditions: When it may serve another problem with equal exact fields.
        evidence: The row that shows it, or None for a default that was not measured.
        certificate: That it was verified again, or None.
    """

    problem: Fields
    config: Fields
    conditions: tuple[Condition, ...]
    evidence: Evidence | None
    certificate: Certificate | None = None


class MeasuredUnder(NamedTuple):
    """What the times of some entries have in common.

    Attributes:
        source_digest: Digest of the kernel's source with every header that it includes.
        compiler: The compiler's name.
        compiler_version: Its version.
        policy: How it was measured, name by name.
        replayed_from: The recording that answered, or empty.
    """

    source_digest: str
    compiler: str
    compiler_version: str
    policy: Mapping[str, int | float | str | bool]
    replayed_from: str


class Regret(NamedTuple):
    """What the rule for problems that were not tuned has cost, where the database can tell.

    Each problem was left out in turn, and answered by the entries of the others. What that
    config takes here against the problem's own winner, less 1, is the regret.

    Attributes:
        rule: How a problem without an entry was answered: ``nearest`` or ``tree``.
        problems: How many were left out in turn.
        judged: For how many of them the answer's time is known; nothing is said of the others.
        mean: Mean regret as a share, or None if none was judged.
        p95: That 95 % of them stay below, or None.
        worst: The largest, or None.
    """

    rule: str
    problems: int
    judged: int
    mean: float | None
    p95: float | None
    worst: float | None


class Measure(NamedTuple):
    """A number that a question is about: one for each scaled field that it names, multiplied.

    Attributes:
        kind: ``tiles``: how many tiles of so many units cover the size; ``rest``: what is left of
            the size when these are taken away.
        units: The length of a tile along one or two scaled fields.
    """

    kind: str
    units: tuple[tuple[str, int], ...]


class Step(NamedTuple):
    """A step of a tree: a question that has two answers, or where it ends.

    Attributes:
        measure: Which of the forest's measures is asked for; -1 at an end.
        at_most: It goes on at ``next`` if the measure is so much or less, or else one further.
        next: A later step; 0 at an end.
        entry: Place of the entry that answers; -1 at a question.
    """

    measure: int
    at_most: int
    next: int
    entry: int


class Tree(NamedTuple):
    """Questions that lead from any problem with these exact fields to an entry."""

    exact: Fields
    steps: tuple[Step, ...]


class Forest(NamedTuple):
    """The trees of a kernel's table, and what they ask for."""

    measures: tuple[Measure, ...]
    trees: tuple[Tree, ...]


class KernelTable(NamedTuple):
    """Everything that a table says of one kernel.

    Attributes:
        name: The kernel's name.
        kernel_ref: How a program loads it.
        scaled_fields: Whole numbers on which "nearest" is measured, on a log2 scale.
        exact_fields: Fields in which an entry must equal the problem that is asked for.
        contexts: What times have in common, by key.
        entries: The best config of each problem that was tuned.
        defaults: What the kernel proposes without tuning. The first whose exact fields match and
            whose conditions hold serves a problem that no entry fits.
        weights: How much an octave of each scaled field counts in a distance.
        regret: What that rule has cost, or None if nobody asked.
        forest: Trees that answer before nearness does, or None.
    """

    name: str
    kernel_ref: str
    scaled_fields: tuple[str, ...]
    exact_fields: tuple[str, ...]
    contexts: Mapping[str, MeasuredUnder]
    entries: tuple[Entry, ...]
    defaults: tuple[Entry, ...]
    weights: tuple[int, ...]
    regret: Regret | None = None
    forest: Forest | None = None


class Device(NamedTuple):
    """The device that was measured; sizes in bytes."""

    kind: str
    name: str
    arch: str
    sm_count: int
    shared_bytes_per_block: int
    shared_bytes_per_sm: int
    registers_per_sm: int
    threads_per_block: int
    l2_bytes: int
    memory_bytes: int
    driver: str


class Choice(NamedTuple):
    """What a lookup returns.

    Attributes:
        kernel: The kernel's name.
        config: One value for each parameter.
        source: ``exact``, ``tree``, ``nearest`` or ``default``.
        reason: Why this config, in words.
        entry: Where it comes from, or None if no table had an answer.
    """

    kernel: str
    config: Fields
    source: str
    reason: str
    entry: Entry | None


def broken_condition(
    conditions: Iterable[Condition | KernelCondition], problem: Fields
) -> str | None:
    """Return the first condition that does not hold for ``problem``, in words, or None.

    Export and lookup both ask here, so that they cannot disagree.
    """
    for condition in conditions:
        value = problem.get(condition.field)
        if not isinstance(value, int):
            return f"{condition.field} must be a whole number"
        if value % condition.multiple_of:
            return f"{condition.field} must be a multiple of {condition.multiple_of}"
        if condition.at_least is not None and value < condition.at_least:
            return f"{condition.field} must be at least {condition.at_least}"
        if condition.at_most is not None and value > condition.at_most:
            return f"{condition.field} must be at most {condition.at_most}"
    return None
