"""What another table, or another rule, would have lost on problems that ``unseen.py`` has timed.

    python benchmarks/unseen_again.py benchmarks/results/unseen_h200.json table.json

Nothing is measured: what each config took when ``unseen.py`` timed it briefly decides, so that all
figures are coarser than those of the run in turns. An answer that was not timed there is not
judged: let that run time more with ``--crossed``.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ratios import Row
from unseen_rules import BEST_OF_TABLE, LIBRARY, Rules, lines, summary

from autotune.dispatch import Table
from autotune.records import Config, Target
from kernel_space.gemm import GemmProblem


def main() -> None:
    """Print what each rule loses with the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, help="what unseen.py wrote")
    parser.add_argument("table", type=Path)
    arguments = parser.parse_args()
    rows = json.loads(arguments.results.read_text(encoding="utf-8"))["rows"]
    table = Table.load(arguments.table)
    print("\n".join(lines(summary([*again(rows, Rules(table, target_of(table)))]))))


def target_of(table: Table) -> Target:
    """Return the device that a table is of."""
    names = (field.name for field in dataclasses.fields(Target))
    return Target(**{name: getattr(table.device, name) for name in names})


def again(rows: Sequence[Mapping[str, Any]], rules: Rules) -> Iterator[Row]:
    """Yield a row for each problem, as ``unseen.py`` would from its brief times alone."""
    names = {Config(row["config"]): row["name"] for row in rows if "config" in row}
    for row in rows:
        if row.get("best"):  # not a rule's figures, and somebody was right
            yield _judged(row, rules, names)


def _judged(row: Mapping[str, Any], rules: Rules, names: Mapping[Config, str]) -> Row:
    fields = [field.name for field in dataclasses.fields(GemmProblem)]
    problem = GemmProblem.parse({name: row[name] for name in fields})
    brief_us = {name: us for name, us in row["brief_us"].items() if name not in row["wrong"]}
    answers = {rule: names.get(config) for rule, config in rules.answers(problem).items()}
    held = [brief_us[name] for c in rules.portfolio(problem) if (name := names.get(c)) in brief_us]
    us = {rule: brief_us[name] for rule, name in answers.items() if name in brief_us}
    us |= {BEST_OF_TABLE: min(held)} if held else {}
    us |= {LIBRARY: row["us"][LIBRARY]} if LIBRARY in row["us"] else {}
    return {"family": row["family"], "best_us": min(brief_us.values()), "us": us}


if __name__ == "__main__":
    main()
