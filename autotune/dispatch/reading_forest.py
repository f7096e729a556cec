"""From JSON to the trees of a kernel's table. No walk can leave one, or go round in it."""

from __future__ import annotations

from autotune.dispatch.records import Forest, KernelTable, Measure, Step, Tree
from autotune.dispatch.strict_json import Node

KINDS = ("tiles", "rest")
MOST_SIZE = 1 << 30  # what a larger size counts as, so that two of them multiply in 64 bits
MOST_FIELDS = 2  # of a measure


def read_forest(node: Node, table: KernelTable) -> Forest:
    """Return the trees that ``node`` describes; ``table`` has the entries that they lead to.

    Raises:
        InvalidTable: A step leads backwards or out of its tree, or to an entry of other fields.
    """
    measures = tuple(_measure(child, table) for child in node.nodes("measures"))
    trees = tuple(_tree(child, table, len(measures)) for child in node.nodes("trees"))
    if len({tuple(sorted(tree.exact.items())) for tree in trees}) < len(trees):
        node.fail("has two trees for the same exact fields", "trees")
    node.end()
    return Forest(measures, trees)


def _measure(node: Node, table: KernelTable) -> Measure:
    kind, child = node.text("kind", among=KINDS), node.node("units")
    named = [field for field in table.scaled_fields if field in child.left]
    if not 1 <= len(child.left) <= MOST_FIELDS or len(named) < len(child.left):
        node.fail(f"must name one or two of {', '.join(table.scaled_fields)}", "units")
    units = [(field, child.whole(field, at_least=1, at_most=MOST_SIZE)) for field in named]
    node.end()
    return Measure(kind, tuple(units))


def _tree(node: Node, table: KernelTable, measures: int) -> Tree:
    exact = node.scalars("exact")
    if set(exact) != set(table.exact_fields):
        node.fail(f"must have the fields {', '.join(table.exact_fields) or 'of none'}", "exact")
    mine = [all(entry.problem[name] == exact[name] for name in exact) for entry in table.entries]
    children = node.nodes("steps")
    steps = tuple(
        _end(child, mine)
        if "entry" in child.left
        else _question(child, at, len(children), measures)
        for at, child in enumerate(children)
    )
    if not steps:
        node.fail("is empty", "steps")
    ways = sorted(way for step in steps if step.next for way in (step.next, step.next + 1))
    if ways != [*range(1, len(steps))]:
        node.fail("must lead to each step but the first in one way", "steps")
    node.end()
    return Tree(exact, steps)


def _end(node: Node, mine: list[bool]) -> Step:
    entry = node.whole("entry", at_least=0)
    if entry >= len(mine) or not mine[entry]:
        node.fail("is no entry with the tree's exact fields", "entry")
    node.end()
    return Step(-1, 0, 0, entry)


def _question(node: Node, at: int, count: int, measures: int) -> Step:
    step = Step(
        measure=node.whole("measure", at_least=0, at_most=measures - 1),
        at_most=node.whole("at_most", at_least=0),
        next=node.whole("next", at_least=at + 1, at_most=count - 2),
        entry=-1,
    )
    node.end()
    return step
