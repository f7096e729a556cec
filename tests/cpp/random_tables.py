"""Tables with every kind of condition, weight and tie, drawn at random."""

from __future__ import annotations

import json
import random

from made_table import CONTEXT, EVIDENCE, document

from autotune.records.targets import TARGETS

SIZES = ("m", "n", "k")
CONDITIONS = (
    [],
    [{"field": "k", "multiple_of": 8, "at_least": 1, "at_most": None}],
    [{"field": "n", "multiple_of": 16, "at_least": None, "at_most": 1 << 14}],
    [{"field": "m", "multiple_of": 12, "at_least": None, "at_most": None}],
    [{"field": "k", "multiple_of": 16, "at_least": 65, "at_most": None}],  # and so of 8
    [{"field": "n", "multiple_of": 1, "at_least": 33, "at_most": None}],
)


def table_text(draw: random.Random, *, entries: int, weights=(1, 1, 1), trees=False) -> str:
    """Return the text of a table of a kernel with three sizes and two exact fields."""
    problems = {}
    for _ in range(entries):
        problem = random_problem(draw)
        problems[tuple(problem.values())] = problem
    kernel = {
        "kernel_ref": "gemm",
        "scaled_fields": list(SIZES),
        "exact_fields": ["dtype", "batch"],
        "contexts": {"made": CONTEXT},
        "entries": [_answer(draw, problem, EVIDENCE) for problem in problems.values()],
        "defaults": [_answer(draw, random_problem(draw), None) for _ in range(6)],
        "weights": dict(zip(SIZES, weights, strict=True)),
    }
    if trees:
        kernel["forest"] = forest(draw, kernel["entries"])
    made = document(TARGETS["sm_90a"], {"gemm": kernel})
    made["device"]["name"] = "a GPU \\"  # a line of C++ must not end so
    return json.dumps(made)


def forest(draw, entries):
    """Return random trees for most of the entries' exact fields."""
    measures = [
        {
            "kind": draw.choice(("tiles", "rest")),
            "units": {
                field: draw.choice((1, 8, 48, 128, 1 << 30))
                for field in draw.sample(SIZES, draw.choice((1, 2)))
            },
        }
        for _ in range(9)
    ]
    members = {}
    for at, entry in enumerate(entries):
        key = entry["problem"]["dtype"], entry["problem"]["batch"]
        members.setdefault(key, []).append(at)
    trees = [
        {"exact": {"dtype": dtype, "batch": batch}, "steps": _steps(draw, some, len(measures))}
        for (dtype, batch), some in members.items()
        if dtype != "fp16" or batch == 1
    ]
    return {"measures": measures, "trees": trees}


def _steps(draw, entries, measures):
    """Return a tree that grew at random ends."""
    ends, steps = [0], [{"entry": draw.choice(entries)}]
    for _ in range(draw.choice((0, 3, 40))):
        at = ends.pop(draw.randrange(len(ends)))
        most = draw.choice((0, 1, draw.randrange(1 << draw.randrange(1, 50))))
        steps[at] = {"measure": draw.randrange(measures), "at_most": most, "next": len(steps)}
        ends += [len(steps), len(steps) + 1]
        steps += [{"entry": draw.choice(entries)} for _ in range(2)]
    return steps


def random_problem(draw: random.Random) -> dict[str, int | str]:
    """Return a problem: powers of two, whose distances tie, as often as any other size."""
    return {
        **{name: _size(draw) for name in SIZES},
        "dtype": draw.choice(("bf16", "bf16-fp32", "fp16")),
        "batch": draw.choice((1, 2)),
    }


def _size(draw: random.Random) -> int:
    kind = draw.random()
    if kind < 0.4:
        return 1 << draw.randrange(15)
    if kind < 0.5:
        return draw.choice((0, 1, 3, (1 << 30) - 1, 1 << 30, (1 << 53) + 1, 10**17))
    return draw.randrange(1, 1 << draw.randrange(1, 31)) * draw.choice((1, 8, 48))


def _answer(draw, problem, evidence):
    bound = problem["batch"] == 2 and evidence is not None
    fitting = [
        some
        for some in CONDITIONS
        if all(
            problem[c["field"]] % c["multiple_of"] == 0
            and problem[c["field"]] >= (c["at_least"] or 0)
            and problem[c["field"]] <= (c["at_most"] or problem[c["field"]])
            for c in some
        )
    ]
    return {
        "problem": problem,
        "config": {"tile": draw.choice((32, 64, 1 << 40)), "new": draw.choice(('a"\\b?', "c"))},
        "conditions": draw.choice(fitting) + (_own(problem) if bound else []),
        "evidence": evidence,
    }


def _own(problem):
    """Return a bound that few other problems keep."""
    bound = min(1 << problem["m"].bit_length(), 10**17)
    return [{"field": "m", "multiple_of": 1, "at_least": None, "at_most": bound}]
