"""What rules lose on problems that nobody tuned: the part ``unseen`` of ``table.md``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from marked import FOLDER, NOT_YET, RESULTS, command, filled, link, table, told, where

PAGE = FOLDER / "table.md"
FILE = "unseen_h200.json"
SHARES = ("mean", "p95", "worst")
Row = Mapping[str, Any]


def table_page() -> str:
    """Return ``table.md`` with every figure as it was measured."""
    return filled(PAGE, {"unseen": _unseen})


def lines(rows: Sequence[Row]) -> Iterator[Sequence[str]]:
    """Yield the lines of the table: a line for each rule, a column for each family."""
    judged = [row for row in rows if row.get("judged")]
    families = sorted({name for row in judged for name in row["families"]})
    yield ["rule", "problems", "mean", "95 %", "worst", "cuBLAS's time over its", *families]
    for row in judged:
        ratio = row["against_cublas"]
        shares = [row[name] for name in SHARES], [row["families"].get(name) for name in families]
        first, others = (list(map(_percent, some)) for some in shares)
        against = "" if ratio is None else f"{ratio:.3f}"
        yield [f"`{row['rule']}`", str(row["judged"]), *first, against, *others]


def _unseen() -> str:
    if not (RESULTS / FILE).exists():
        return NOT_YET
    content = told(FILE)
    about = content["provenance"]
    source = f"{where(about)}, `{command(about)}` ({link(FILE, 'JSON', page=PAGE)})."
    return "\n".join((*table(lines(content["rows"])), "", source))


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
