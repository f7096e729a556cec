"""What a call takes, from the measurements that are committed: ``calls`` in ``dispatch.md``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from marked import FOLDER, command, filled, link, table, told, where

PAGE = FOLDER / "dispatch.md"
FILE = "dispatch_h200.json"
PEERS = {"call": "torch.mm(out=)", "forward": "torch, eager"}  # that others are set beside
Row = Mapping[str, Any]


def dispatch_page() -> str:
    """Return ``dispatch.md`` with every figure as it was measured."""
    return filled(PAGE, {"calls": _calls})


def _calls() -> str:
    content = told(FILE)
    about = content["provenance"]
    source = f"{where(about)}, `{command(about)}` ({link(FILE, 'JSON', page=PAGE)})."
    return "\n".join((*table(lines(content["rows"])), "", source))


def lines(rows: Sequence[Row]) -> Iterator[Sequence[str]]:
    """Yield the lines of the table, each time also as a share of the peer's of its kind."""
    yield ["kind", "what", "µs, median", "fastest", "share of torch's", "apart"]
    peers = {kind: row["us"] for kind, name in PEERS.items() for row in rows if row["name"] == name}
    for row in rows:
        kind = row["kind"]
        share = f"{row['us'] / peers[kind]:.2f}" if kind in peers else ""
        apart = f"{row['apart']:.4f}" if "apart" in row else ""
        figures = (f"{row[name]:.{1 if row[name] >= 10 else 2}f}" for name in ("us", "low_us"))
        yield [kind, f"`{row['name']}`", *figures, share, apart]
