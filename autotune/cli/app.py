"""The ``autotune`` command, and the one place that turns errors into exit codes."""

from __future__ import annotations

import errno
import gc
import io
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from autotune.cli.bundle import bundle
from autotune.cli.certify import certify
from autotune.cli.db import db
from autotune.cli.doctor import doctor
from autotune.cli.export import export
from autotune.cli.header import header
from autotune.cli.import_ import import_
from autotune.cli.interrupts import heeded
from autotune.cli.kernels import kernels
from autotune.cli.ladder import ladder
from autotune.cli.lookup import lookup
from autotune.cli.options import verbosity
from autotune.cli.query import query
from autotune.cli.score import score
from autotune.cli.studies import studies
from autotune.cli.table import table
from autotune.cli.tune import tune
from autotune.errors import AutotuneError

FAILED = 1
INTERRUPTED = 130


def _print_version(context: click.Context, parameter: click.Parameter, asked: bool) -> None:  # noqa: FBT001 - click's way
    del parameter
    if asked and not context.resilient_parsing:
        from autotune import __version__  # reading the metadata takes longer than all of --help

        click.echo(f"autotune {__version__}")
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@verbosity
def cli() -> None:
    """Tune CUDA kernels, keep every measurement, and look the best one up at run time.

    Exit codes: 0 ok, 1 failure, 2 invalid input, 3 no valid configuration, 4 database schema out
    of date, 130 interrupted.
    """


for _command in (
    tune,
    ladder,
    query,
    studies,
    kernels,
    export,
    import_,
    certify,
    lookup,
    table,
    bundle,
    header,
    score,
    db,
    doctor,
):
    cli.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code.

    Args:
        arguments: Words after the program's name; ``None`` takes those of this process.
    """
    # The matrices of a search are small, and compilers want the cores. NumPy reads it when loaded.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(50_000)  # configs by the thousand, and none of them in a cycle
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without "µ" still gets the number
    with heeded():
        sys.exit(_run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = cli.main(arguments, prog_name="autotune", standalone_mode=False)
        sys.stdout.flush()
    except AutotuneError as error:
        return _refused(error.message, error.hint, error.exit_code)
    except click.ClickException as error:
        return _misused(error)
    except (click.Abort, KeyboardInterrupt) as stop:
        click.echo(str(stop) or "interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        return _reader_left()
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) or error.filename:
            raise
        _refused(f"the output cannot be written: {error.strerror}", "", FAILED)
        return _reader_left()
    return code if isinstance(code, int) else 0


def _misused(error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return error.exit_code
    context = error.ctx if isinstance(error, click.UsageError) else None
    hint = f"{context.command_path} --help" if context else "autotune --help"
    return _refused(_in_our_words(error), hint, error.exit_code)


def _in_our_words(error: click.ClickException) -> str:
    """Return the message, led by the option or argument that it is about."""
    if not isinstance(error, click.BadParameter) or error.param is None:
        message = error.format_message().rstrip(".")
        return message[:1].lower() + message[1:]
    named = (
        error.param.opts[0]
        if isinstance(error.param, click.Option)
        else error.param.human_readable_name
    )
    if isinstance(error, click.MissingParameter):
        return f"{named} is missing"
    return f"{named}: {error.message.rstrip('.')}"


def _refused(message: str, hint: str, exit_code: int) -> int:
    click.echo(f"error: {message}", err=True)
    if hint:
        click.echo(f"hint: {_as_called(hint)}", err=True)
    return exit_code


def _as_called(hint: str) -> str:
    """Return ``hint`` as it can be typed here: with the program's path, if ``PATH`` lacks it."""
    program, space, words = hint.partition(" ")
    called = os.path.basename(sys.argv[0]) == program == "autotune"  # noqa: PTH119 - pathlib is slow
    if not called or shutil.which(program):
        return hint
    return f"{shlex.quote(sys.argv[0])}{space}{words}"


def _reader_left() -> int:
    """Drop what is still to be written: the reader (``| head``) has gone, or the disk is full."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.dup2(nowhere, sys.stderr.fileno())
    return FAILED
