"""Write the parts of the documentation that follow from the code and from measurements.

``make docs`` runs this; a test fails when the written text is out of date.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from calls import dispatch_page
from knowledge import search_page
from losses import table_page
from measured import ladder_page
from scores import score_page
from speed import readme, speed_page
from trust import trust_page

from autotune.cli.app import cli

ROOT = Path(__file__).parents[1]
_WIDTH = 96


def command_reference() -> str:
    """Return ``cli.md``: the help of every command."""
    parts = [
        "# Command line\n",
        "Written by `make docs` from the commands themselves. The [README](../README.md) shows how",
        "they are used together.\n",
    ]
    for context in _contexts(cli, "autotune", parent=None):
        help_text = context.command.get_help(context)
        parts.append(f"## {context.command_path}\n\n```text\n{help_text}\n```\n")
    return "\n".join(parts)


def _contexts(
    command: click.Command, name: str, parent: click.Context | None
) -> Iterator[click.Context]:
    context = click.Context(
        command, info_name=name, parent=parent, terminal_width=_WIDTH, **command.context_settings
    )
    yield context
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            yield from _contexts(command.commands[child], child, context)


GENERATED = {
    "docs/cli.md": command_reference,
    "docs/dispatch.md": dispatch_page,
    "docs/ladder.md": ladder_page,
    "docs/score.md": score_page,
    "docs/search.md": search_page,
    "docs/speed.md": speed_page,
    "docs/table.md": table_page,
    "docs/trust.md": trust_page,
    "README.md": readme,
}


if __name__ == "__main__":
    for name, text in GENERATED.items():
        (ROOT / name).write_text(text(), encoding="utf-8")
