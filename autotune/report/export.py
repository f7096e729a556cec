"""Write a table and say what is in it, and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autotune.interop import export_results
from autotune.report import console
from autotune.report.fields import problem_text
from autotune.report.losses import losses_sheet, regret_line
from autotune.report.sheet import show
from autotune.report.units import NOISY, counted, time_text
from autotune.store import Filter, Store
from autotune.table import Preference, build_table, write_table

if TYPE_CHECKING:
    from autotune.table import Export


def write_and_tell(
    path: Path,
    store: Store,
    studies: Sequence[str],
    *,
    device: str | None = None,
    unverified: bool = False,
    kernels: int | None = None,
    prefer: str | None = None,
    layout: str = "table",
) -> None:
    """Export to ``path``; say on stderr how much it holds and what was left out.

    With ``kernels``, at most so many configs are used; what 1, 2, … of them lose is shown on
    stdout as ``layout``. With ``prefer``, that decides in place of time alone.

    Raises:
        NoValidConfig: No row may be offered; nothing is written.
        InvalidInput: No such study, rows that do not go into one table, or no preference.
    """
    table = build_table(
        store,
        studies,
        device=device,
        unverified=unverified,
        kernels=kernels,
        prefer=None if prefer is None else Preference.parse(prefer),
    )
    write_table(table, path)
    if kernels:
        show(losses_sheet(table.portfolios), layout)
    _tell(table, path)


def _tell(table: Export, path: Path) -> None:
    messages = console.messages()
    for line in table.left_out:
        messages.print(f"left out: {line}")
    for line in table.remarks:
        messages.print(f"took: {line}")
    messages.print(f"wrote {path}: {counted(table.entries, 'problem')}")
    for name, kernel in table.document["kernels"].items():
        for entry in kernel["entries"]:
            messages.print(f"  {_told(entry)}", soft_wrap=True)
        messages.print(f"  {name}: {regret_line(kernel)}", soft_wrap=True)


def results_and_tell(path: Path, store: Store, wanted: Filter, *, layout: str) -> None:
    """Write every result that ``wanted`` matches for another tuner; say on stderr how many.

    Raises:
        NoValidConfig: There are none; nothing is written.
        InvalidInput: They do not go into one file.
    """
    written = export_results(path, store, wanted, layout=layout)
    count = counted(len(written.results), "configuration")
    told = f"{written.context.kernel} {written.context.problem} on {written.context.device.name}"
    console.messages().print(f"wrote {path}: {count} of {told}", soft_wrap=True)


def _told(entry: dict[str, Any]) -> str:
    """Return the problem, the time of what was exported for it, and how that was chosen."""
    evidence = entry["evidence"]
    told = f"{problem_text(entry['problem'])}: row {evidence['row_id']}"
    told += f", {time_text(evidence['time_ns'])}"
    if evidence["spread"] > NOISY:
        told += f" (noisy: spread {evidence['spread']:.0%})"
    if evidence["tied"]:
        told += f", tied with {counted(evidence['tied'], 'other')}"
    if evidence["loss"]:
        told += f", {evidence['loss']:.1%} slower than its own best"
    return told
