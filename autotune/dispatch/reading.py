"""From the text of a table to its records. Whatever is not a whole, sound table is refused."""

from __future__ import annotations

from typing import NamedTuple

from autotune.dispatch import strict_json
from autotune.dispatch.reading_forest import read_forest
from autotune.dispatch.records import (
    Certificate,
    Certified,
    Condition,
    Device,
    Entry,
    Evidence,
    Fields,
    KernelTable,
    MeasuredUnder,
    Regret,
    broken_condition,
)
from autotune.dispatch.strict_json import Node

SCHEMA = "autotune.table"
SCHEMA_VERSION = 5
CERTIFICATES_SINCE = 2
WEIGHTS_SINCE = 3  # and regret, and the loss of an entry
PREFERENCE_SINCE = 4
FOREST_SINCE = 5
MOST_WEIGHT = 1000  # distances then fit 64 bits: 3 fields of 60 octaves in steps of 2^-32
ORIGINS = ("measured", "replayed")


class Contents(NamedTuple):
    """Everything that the text of a table says."""

    generator: str
    created: str
    database_revision: str
    device: Device
    kernels: dict[str, KernelTable]
    certificate: Certified | None
    preference: str


def read(text: str | bytes, name: str) -> Contents:
    """Return what ``text`` says; ``name`` is what messages call it.

    Raises:
        InvalidTable: It is damaged, incomplete, inconsistent or of a newer schema.
    """
    root = strict_json.parse(text, name)
    root.text("schema", among=(SCHEMA,))
    version = root.whole("schema_version", at_least=1)
    if version > SCHEMA_VERSION:
        root.fail(f"is {version}, newer than {SCHEMA_VERSION}; upgrade autotune", "schema_version")
    contents = Contents(
        generator=root.text("generator"),
        created=root.text("created"),
        database_revision=root.text("database_revision"),
        device=_device(root.node("device")),
        kernels={
            key: _kernel(key, node, version) for key, node in root.named_nodes("kernels").items()
        },
        certificate=_certified(root),
        preference=_preference(root, version),
    )
    root.end()
    _refuse_half_a_certificate(root, version, contents)
    return contents


def _preference(root: Node, version: int) -> str:
    if "preference" not in root.left:
        return ""
    if version < PREFERENCE_SINCE:
        root.fail(f"is of schema version {PREFERENCE_SINCE}, and this is {version}", "preference")
    return root.text("preference")


def _certified(root: Node) -> Certified | None:
    node = root.node_if_there("certificate")
    if node is None:
        return None
    certified = Certified(
        certified_at=node.text("certified_at"),
        framework=node.text("framework"),
        configs=node.whole("configs", at_least=1),
        removed=node.whole("removed", at_least=0),
        sanitizer=node.text("sanitizer"),
    )
    node.end()
    return certified


def _device(node: Node) -> Device:
    device = Device(
        kind=node.text("kind"),
        name=node.text("name"),
        arch=node.text("arch"),
        sm_count=node.whole("sm_count", at_least=1),
        shared_bytes_per_block=node.whole("shared_bytes_per_block", at_least=0),
        shared_bytes_per_sm=node.whole("shared_bytes_per_sm", at_least=0),
        registers_per_sm=node.whole("registers_per_sm", at_least=0),
        threads_per_block=node.whole("threads_per_block", at_least=0),
        l2_bytes=node.whole("l2_bytes", at_least=0),
        memory_bytes=node.whole("memory_bytes", at_least=0),
        driver=node.text("driver"),
    )
    node.end()
    return device


def _kernel(name: str, node: Node, version: int) -> KernelTable:
    _refuse_what_is_newer(node, version)
    names = scaled, exact = node.texts("scaled_fields"), node.texts("exact_fields")
    if set(scaled) & set(exact):
        node.fail("shares a field with exact_fields", "scaled_fields")
    contexts = {key: _context(child) for key, child in node.named_nodes("contexts").items()}
    table = KernelTable(
        name=name,
        kernel_ref=node.text("kernel_ref"),
        scaled_fields=scaled,
        exact_fields=exact,
        contexts=contexts,
        entries=tuple(_answer(child, names, contexts) for child in node.nodes("entries")),
        defaults=tuple(_answer(child, names, contexts) for child in node.nodes("defaults")),
        weights=_weights(node, scaled),
        regret=_regret(node),
    )
    forest = node.node_if_there("forest")
    if forest is not None:
        table = table._replace(forest=read_forest(forest, table))
    node.end()
    _refuse_contradictions(node, table)
    return table


def _refuse_what_is_newer(node: Node, version: int) -> None:
    since = {"weights": WEIGHTS_SINCE, "regret": WEIGHTS_SINCE, "forest": FOREST_SINCE}
    for key, first in since.items():
        if key in node.left and version < first:
            node.fail(f"is of schema version {first}, and this table is {version}", key)


def _weights(node: Node, scaled: tuple[str, ...]) -> tuple[int, ...]:
    """Return the weight of each scaled field; older tables count all alike."""
    child = node.node_if_there("weights")
    if child is None:
        return (1,) * len(scaled)
    weights = tuple([child.whole(field, at_least=1, at_most=MOST_WEIGHT) for field in scaled])
    child.end()
    return weights


def _regret(node: Node) -> Regret | None:
    child = node.node_if_there("regret")
    if child is None:
        return None
    regret = Regret(
        rule=child.text("rule"),
        problems=child.whole("problems", at_least=0),
        judged=child.whole("judged", at_least=0),
        mean=child.number_or_null("mean"),
        p95=child.number_or_null("p95"),
        worst=child.number_or_null("worst"),
    )
    if regret.judged > regret.problems:
        child.fail(f"is more than the {regret.problems} problems", "judged")
    for key in ("mean", "p95", "worst"):
        if (getattr(regret, key) is None) != (regret.judged == 0):
            child.fail("must be null exactly where nothing was judged", key)
    child.end()
    return regret


_Names = tuple[tuple[str, ...], tuple[str, ...]]  # scaled fields, exact fields
_Contexts = dict[str, MeasuredUnder]


def _answer(node: Node, names: _Names, contexts: _Contexts) -> Entry:
    evidence = node.node_or_null("evidence")
    answer = Entry(
        problem=_problem(node, names),
        config=node.scalars("config"),
        conditions=_conditions(node),
        evidence=None if evidence is None else _evidence(evidence, contexts),
        certificate=_certificate(node),
    )
    broken = broken_condition(answer.conditions, answer.problem)
    if broken is not None:
        node.fail(f"does not meet its own condition: {broken}", "problem")
    node.end()
    return answer


def _problem(node: Node, names: _Names) -> Fields:
    scaled, exact = names
    problem = node.scalars("problem")
    if set(problem) != {*scaled, *exact}:
        node.fail(f"must have the fields {', '.join((*scaled, *exact))}", "problem")
    for field in scaled:
        if type(problem[field]) is not int or problem[field] < 0:
            node.fail("must be a whole number of at least 0", f"problem.{field}")
    return problem


def _conditions(node: Node) -> tuple[Condition, ...]:
    conditions = []
    for child in node.nodes("conditions"):
        conditions.append(
            Condition(
                field=child.text("field"),
                multiple_of=child.whole("multiple_of", at_least=1),
                at_least=child.whole_or_null("at_least"),
                at_most=child.whole_or_null("at_most"),
            )
        )
        child.end()
    return tuple(conditions)


def _evidence(node: Node, contexts: _Contexts) -> Evidence:
    evidence = Evidence(
        time_ns=node.number("time_ns"),
        spread=node.number("spread"),
        samples=node.whole("samples", at_least=1),
        tied=node.whole("tied", at_least=0),
        verified=node.flag("verified"),
        row_id=node.whole("row_id", at_least=0),
        study=node.text("study"),
        measured_at=node.text("measured_at"),
        origin=node.text("origin", among=ORIGINS),
        context=node.text("context"),
        loss=node.number_if_there("loss") or 0.0,
    )
    if evidence.context not in contexts:
        node.fail("is not one of the kernel's contexts", "context")
    if not evidence.time_ns:
        node.fail("must be more than 0", "time_ns")
    node.end()
    return evidence


def _certificate(answer: Node) -> Certificate | None:
    node = answer.node_if_there("certificate")
    if node is None:
        return None
    toolchain = node.node("toolchain")
    certificate = Certificate(
        certified_at=node.text("certified_at"),
        framework=node.text("framework"),
        problems=node.texts("problems"),
        draws=node.whole("draws", at_least=1),
        repeats=node.whole("repeats", at_least=0),
        sanitizer=node.text("sanitizer"),
        source_digest=node.text("source_digest"),
        compiler=toolchain.text("compiler"),
        compiler_version=toolchain.text("version"),
        driver=node.text("driver"),
    )
    if not certificate.problems:
        node.fail("must name a problem", "problems")
    toolchain.end()
    node.end()
    return certificate


def _context(node: Node) -> MeasuredUnder:
    toolchain = node.node("toolchain")
    context = MeasuredUnder(
        source_digest=node.text("source_digest"),
        compiler=toolchain.text("compiler"),
        compiler_version=toolchain.text("version"),
        policy=node.scalars("policy", allowed=(int, float, str, bool)),
        replayed_from=node.text("replayed_from"),
    )
    toolchain.end()
    node.end()
    return context


def _refuse_contradictions(node: Node, table: KernelTable) -> None:
    if any(entry.evidence is None for entry in table.entries):
        node.fail("has an entry without evidence", "entries")
    problems = [tuple(sorted(entry.problem.items())) for entry in table.entries]
    if len(set(problems)) < len(problems):
        node.fail("answers one problem twice", "entries")
    answers = (*table.entries, *table.defaults)
    if len({tuple(sorted(answer.config)) for answer in answers}) > 1:
        node.fail("has configs that differ in their parameters")
    for field in table.exact_fields:
        if len({type(answer.problem[field]) for answer in answers}) > 1:
            node.fail(f"has whole numbers and text for {field}")


def _refuse_half_a_certificate(root: Node, version: int, contents: Contents) -> None:
    """Refuse a table some of which is certified: it would be taken for one that all is."""
    tables = contents.kernels.values()
    answers = [answer for table in tables for answer in (*table.entries, *table.defaults)]
    count = sum(answer.certificate is not None for answer in answers)
    certified = contents.certificate
    if (certified is not None or count) and version < CERTIFICATES_SINCE:
        root.fail(f"is {version}, which knows no certificates", "schema_version")
    if certified is None and count:
        root.fail(f"is missing, and {count} of its configs have one", "certificate")
    if certified is not None and not certified.configs == count == len(answers):
        told = f"says {certified.configs} configs; {count} of {len(answers)} have one of their own"
        root.fail(told, "certificate")
