"""Options that several commands share, and the types of what people type."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from autotune.errors import InvalidProblem

Command = TypeVar("Command", bound=Callable[..., Any])
Fields = dict[str, int | str]

FORMATS = ("table", "json", "csv")
_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)


@dataclass(slots=True)
class Verbosity:
    """How much is said on stderr: -1 is quiet, 0 normal, 1 and 2 add log lines."""

    level: int = 0


def verbosity(command: Command) -> Command:
    """Add ``-v`` and ``-q``; they may stand before or after the command's name."""
    louder = click.option(
        "-v",
        "--verbose",
        count=True,
        expose_value=False,
        callback=_set_verbosity,
        help="Say more on stderr; twice for debugging.",
    )
    quieter = click.option(
        "-q",
        "--quiet",
        is_flag=True,
        expose_value=False,
        callback=_set_verbosity,
        help="Show results and errors only.",
    )
    return louder(quieter(command))


def _set_verbosity(context: click.Context, parameter: click.Parameter, value: int) -> None:
    state = context.find_root().ensure_object(Verbosity)
    if value:
        state.level = -1 if parameter.name == "quiet" else value
        level = _LEVELS[max(state.level, 0)] if state.level < len(_LEVELS) else logging.DEBUG
        logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", force=True)
        logging.getLogger("autotune").setLevel(level)


def is_quiet() -> bool:
    """Return True if ``-q`` was given."""
    return click.get_current_context().find_root().ensure_object(Verbosity).level < 0


def format_option(command: Command) -> Command:
    """Add ``--format``."""
    return click.option(
        "--format",
        "layout",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help="What to write on stdout. Messages go to stderr.",
    )(command)


def device_option(command: Command) -> Command:
    """Add ``--device``."""
    return click.option(
        "--device",
        default="auto",
        show_default=True,
        metavar="DEVICE",
        help="auto, cuda:N, host, recording:NAME or recording:/path/to/database.",
    )(command)


def db_option(command: Command) -> Command:
    """Add ``--db``; without it ``AUTOTUNE_DB`` counts, then the default database."""
    return click.option(
        "--db",
        "url",
        metavar="URL",
        envvar="AUTOTUNE_DB",
        show_envvar=True,
        help="Result database as an SQLAlchemy URL.  [default: SQLite in your data folder]",
    )(command)


class Whole(click.IntRange):
    """A whole number in a range, refused in words."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            at_most = "" if self.max is None else f" to {self.max}"
            wanted = f"from {self.min}{at_most}" if at_most else f"of at least {self.min}"
            self.fail(f"must be a whole number {wanted}, not {value!r}", param, ctx)


class ProblemFields(click.ParamType[Fields]):
    """``m=4096,dtype=bf16``: problem fields by name."""

    name = "FIELD=VALUE,…"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Fields:
        """Return the fields, with whole numbers as ``int``."""
        if isinstance(value, dict):
            return value
        fields: Fields = {}
        for part in filter(None, (piece.strip() for piece in value.split(","))):
            name, equals, text = (piece.strip() for piece in part.partition("="))
            if not (name and equals and text):
                self.fail(f"{part!r} is not FIELD=VALUE, such as m=4096", param, ctx)
            if name in fields:
                self.fail(f"{name!r} is given twice", param, ctx)
            fields[name] = int(text) if re.fullmatch(r"[+-]?\d+", text) else text
        return fields


def merged(parts: Sequence[Fields]) -> Fields:
    """Return the fields of every part.

    Raises:
        InvalidProblem: A field is in two of them.
    """
    fields: Fields = {}
    for part in parts:
        for name, value in part.items():
            if name in fields:
                raise InvalidProblem(f"problem: {name!r} is given twice")
            fields[name] = value
    return fields


class Duration(click.ParamType[float]):
    """``90s``, ``5m``, ``1.5h``: a time, in seconds, as study files write it."""

    name = "TIME"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the time in seconds."""
        from autotune.study import parse_duration_s

        if isinstance(value, float):
            return value
        try:
            return parse_duration_s(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
