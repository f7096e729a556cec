"""What a search knows before it begins, and what that saves, from what is committed.

In ``search.md`` the part ``prior`` is a table of trials.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from marked import FOLDER, command, extents, filled, link, table, told

PAGE = FOLDER / "search.md"
FILE = "prior_h200.json"
ARMS = {
    "`gp`": "gp, off",
    "`gp`, prediction": "gp, on",
    "`gp`, elsewhere": "gp, elsewhere",
    "`gp`, both": "gp, both",
    "`gp`, misled": "gp, misleading",
    "`gp`, misled elsewhere": "gp, misleading elsewhere",
    "`tpe`": "tpe, off",
    "`tpe`, prediction": "tpe, on",
    "`local`": "local, off",
}


def search_page() -> str:
    """Return ``search.md`` with every figure as it was measured."""
    return filled(PAGE, {"prior": _prior})


def _prior() -> str:
    content = told(FILE)
    about = content["provenance"]
    lines = table(_lines(content["rows"], about["budget"]))
    source = f"{about['date']}, `{command(about)}` ({link(FILE, 'JSON', page=PAGE)})."
    return "\n".join((*lines, "", source))


def _lines(rows: Sequence[Mapping[str, Any]], budget: int) -> Iterator[Sequence[str]]:
    yield ["problem", *ARMS]
    for row in rows:
        medians = (row[arm]["median"] for arm in ARMS.values())
        cells = (f"{trials:g}" if trials <= budget else f"> {budget}" for trials in medians)
        yield [extents(row["problem"]), *cells]
