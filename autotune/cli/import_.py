"""``autotune import``: what other tuners recorded, as studies."""

from __future__ import annotations

from pathlib import Path

import click

from autotune.cli.options import Fields, ProblemFields, db_option, format_option, verbosity


@click.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=click.Path(path_type=Path))
@click.option("--study", default="", metavar="NAME", help="Name of the study.  [default: FILE's]")
@click.option("--kernel", default="", metavar="NAME", help="Kernel, in place of what FILE says.")
@click.option("--device", default="", metavar="NAME", help="Product name, likewise.")
@click.option("--problem", type=ProblemFields(), default="", help="Such as m=4096,n=64, likewise.")
@db_option
@format_option
@verbosity
def import_(
    files: tuple[Path, ...],
    study: str,
    kernel: str,
    *,
    device: str,
    problem: Fields,
    url: str | None,
    layout: str,
) -> None:
    """Record each FILE of another tuner as a study: all of it, or nothing.

    It may be a cache of Kernel Tuner, finished or not, T4, or JSON of KTT, also packed with gzip.
    A T1 file describes the T4 files that are imported with it. Nothing in a file is executed.
    """
    from autotune.interop import Known, import_files
    from autotune.report.imported import imported_sheet
    from autotune.report.sheet import show
    from autotune.store import Store, default_url

    if study and len(files) > 1:
        raise click.UsageError("--study names one study: import the files one by one")
    known = Known(kernel=kernel, device=device, problem=problem, study=study)
    with Store.open(url or default_url()) as store:
        show(imported_sheet([*import_files(files, store, known)]), layout)
