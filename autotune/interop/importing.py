"""From files of other tuners to studies of a result database."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from autotune.errors import InvalidInput, StoreError
from autotune.interop import kernel_tuner, ktt, t1, t4
from autotune.interop.document import Json, read_document
from autotune.interop.harvest import Harvest, named_device
from autotune.interop.results import trial_of
from autotune.interop.values import Codec
from autotune.records import Config, Policy, Status, Trial, digest
from autotune.store import Context, Entry, Store, StoredProblem

IMPORTED = "imported"  # sampler, cache state and key of a study's specification

# How another tuner measured is not known: nothing of it was warmed up or verified by us.
POLICY = Policy(
    warmup_ms=0.0,
    min_samples=1,
    max_samples=1,
    budget_ms=0.0,
    sample_us=0.0,
    cache=IMPORTED,
    verify=False,
    draws=0,
    repeats=0,
)

_Reader = Callable[..., Harvest]
_READERS: Mapping[str, tuple[str, _Reader]] = {  # by the key that gives a file away
    "cache": ("Kernel Tuner", kernel_tuner.read),
    "results": ("T4", t4.read),
    "Results": ("KTT", ktt.read),
    "ConfigurationSpace": ("T1", t1.read),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a person knows that the files do not say; empty where they say it.

    Attributes:
        kernel: Name of the kernel, in place of the file's.
        device: Product name of what measured, in place of the file's.
        problem: What was computed, in place of the file's.
        study: Name of the study, in place of the file's own name.
    """

    kernel: str = ""
    device: str = ""
    problem: Mapping[str, int | str] = dataclasses.field(default_factory=dict)
    study: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One file that is in the database now.

    Attributes:
        path: The file.
        format: What it was: ``Kernel Tuner``, ``T4``, ``T1`` or ``KTT``.
        study: The study that holds it.
        kernel: The kernel's name.
        device: Product name of what measured.
        problem: What was computed.
        statuses: How many configurations ended how.
        best_ns: Time of the fastest, in ns, or None.
        median_ns: Median of the times of all that are ``ok``, in ns, or None.
        repeated: Results left out, as their configuration came before.
        finished: False if the file lacks its end.
    """

    path: Path
    format: str
    study: str
    kernel: str
    device: str
    problem: Mapping[str, int | str]
    statuses: Mapping[Status, int]
    best_ns: float | None
    median_ns: float | None
    repeated: int
    finished: bool


def import_files(
    paths: Sequence[Path], store: Store, known: Known | None = None
) -> Iterator[Imported]:
    """Record each file as a study, all of it or nothing of it.

    T1 files are read first: they describe the T4 results that are imported with them.

    Args:
        paths: The files.
        store: The database to write to.
        known: What the files do not say.

    Raises:
        InvalidInput: A file cannot be used; those before it are in the database.
        StoreError: A study of that name is there, or the database cannot be written.
    """
    known = known or Known()
    read = sorted((_read(path) for path in paths), key=lambda each: each.format != "T1")
    spaces = [each.harvest for each in read if each.format == "T1"]
    if len(spaces) > 1 and len(spaces) < len(read):
        raise InvalidInput("only one T1 file can describe the results that are imported with it")
    for each in read:
        harvest = each.harvest
        if each.format == "T4" and spaces:
            harvest = t1.described_by(harvest, spaces[0], str(each.path))
        yield _record(dataclasses.replace(each, harvest=harvest), store, known)


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    path: Path
    format: str
    harvest: Harvest


def _read(path: Path) -> _File:
    document, finished = read_document(path)
    for key, (name, reader) in _READERS.items():
        if key in document:
            harvest = reader(document, str(path), finished=finished)
            return _File(path=path, format=name, harvest=harvest)
    keys = ", ".join(f"{key!r} ({name})" for key, (name, _) in _READERS.items())
    raise InvalidInput(f"{path}: no results of a tuner: it must have one of the keys {keys}")


def _record(file: _File, store: Store, known: Known) -> Imported:
    harvest, where = file.harvest, str(file.path)
    study = known.study or _stem(file.path)
    kernel = _kernel_name(known.kernel or harvest.kernel or _stem(file.path), where)
    device = named_device(known.device) if known.device else harvest.device
    problem = dict(known.problem or harvest.problem)
    codec = Codec(harvest.parameters, where)
    trials, entries, repeated = _entries(harvest, codec, where)
    context = Context(
        kernel=kernel,
        kernel_ref=f"{_home(store)}:{kernel}",
        source_digest=digest({"imported": kernel, "toolchain": harvest.toolchain.key}),
        problem=StoredProblem(tuple(problem.items())),
        device=device,
        toolchain=harvest.toolchain,
        policy=POLICY,
    )
    spec = _spec(file, study, context, default=_default(harvest, codec, trials))
    try:
        store.import_study(
            study,
            spec=spec,
            sampler=IMPORTED,
            context=context if trials else None,
            entries=entries,
        )
    except StoreError as error:
        raise type(error)(f"{where}: {error.message}", error.hint or _ANOTHER) from None
    return _told(file, study, context, trials=trials, repeated=repeated)


_ANOTHER = "name the study with --study, or another database with --db"


def _entries(harvest: Harvest, codec: Codec, where: str) -> tuple[list[Trial], list[Entry], int]:
    """Return the trials, each with its note, and how many results repeat a configuration."""
    found: dict[Config, Entry] = {}
    for index, result in enumerate(harvest.results):
        place = f"{where}: result {index}"
        config = codec.config(result["configuration"], place)
        if config in found:
            continue
        number = len(found)
        trial = trial_of(result, number=number, config=config, unit_ns=harvest.unit_ns)
        found[config] = trial, {k: v for k, v in result.items() if k != "configuration"}
    entries = list(found.values())
    return [trial for trial, _ in entries], entries, len(harvest.results) - len(entries)


def _default(harvest: Harvest, codec: Codec, trials: Sequence[Trial]) -> Config | None:
    """Return the configuration that the file names, or the first that was right."""
    if harvest.default is not None:
        return codec.config(dict(harvest.default), "default")
    right = (trial.config for trial in trials if trial.status is Status.OK)
    return next(right, trials[0].config if trials else None)


def _spec(file: _File, study: str, context: Context, *, default: Config | None) -> Json:
    harvest = file.harvest
    return {
        "name": study,
        "kernel": context.kernel_ref,
        "problems": [context.problem.as_dict()],
        IMPORTED: {
            "file": file.path.name,
            "format": file.format,
            "finished": harvest.finished,
            "kernel": context.kernel,
            "parameters": dict(harvest.parameters),
            "default": None if default is None else default.as_dict(),
            "unit_ns": harvest.unit_ns,
            "header": dict(harvest.header),
        },
    }


def _told(
    file: _File, study: str, context: Context, *, trials: Sequence[Trial], repeated: int
) -> Imported:
    times = [trial.median_ns for trial in trials if trial.median_ns is not None]
    return Imported(
        path=file.path,
        format=file.format,
        study=study,
        kernel=context.kernel,
        device=context.device.name,
        problem=context.problem.as_dict(),
        statuses=Counter(trial.status for trial in trials),
        best_ns=min(times, default=None),
        median_ns=median(times) if times else None,
        repeated=repeated,
        finished=file.harvest.finished,
    )


def _home(store: Store) -> str:
    """Return how a study file names the database, by its path; a server has none."""
    _, sqlite, path = store.url.partition("sqlite:///")
    return str(Path(path).resolve()) if sqlite else IMPORTED


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".json")


def _kernel_name(name: str, where: str) -> str:
    if not name.isprintable() or name != name.strip() or ":" in name:
        raise InvalidInput(
            f"{where}: {name!r} cannot be a kernel's name here: it must be printable, without ':'",
            hint="choose one with --kernel NAME",
        )
    return name
