"""From what a person names to landscapes: result databases, and files of other tuners."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from autotune.device import recordings
from autotune.device.recording import RecordingDevice
from autotune.errors import InvalidInput, NoValidConfig
from autotune.interop import import_files
from autotune.records import Config, Kernel, Problem, Target, Trial, ask, load_kernel
from autotune.score.landscape import Landscape, landscape_of
from autotune.space import Space
from autotune.store import Context, Filter, Store

_SQLITE = b"SQLite format 3\0"


def read_landscapes(names: Sequence[str], wanted: Filter, *, prior: bool) -> list[Landscape]:
    """Return every problem that the recordings called ``names`` hold, in this order.

    Args:
        names: Recordings that ship with the package, result databases, or files of other tuners.
        wanted: Which kernels and problems.
        prior: Let searches begin as a study does: with the kernel's default and its estimates.

    Raises:
        InvalidInput: One cannot be read, or holds no results.
        NoValidConfig: None of them holds what is wanted.
    """
    found = [each for name in dict.fromkeys(names) for each in _read(name, wanted, prior=prior)]
    if not found:
        raise NoValidConfig("nothing to score: no recorded problem matches")
    return found


def _read(name: str, wanted: Filter, *, prior: bool) -> list[Landscape]:
    shipped = recordings().get(name)
    path = shipped or Path(name)
    if not path.is_file():
        known = ", ".join(recordings())
        raise InvalidInput(f"no recording {name!r}, nor a file of that name; shipped are {known}")
    if _is_database(path):
        return _of_database(name, path, wanted, immutable=shipped is not None, prior=prior)
    with tempfile.TemporaryDirectory(prefix="autotune-") as folder:
        imported = Path(folder) / "imported.sqlite"
        with Store.open(str(imported)) as store:
            told = list(import_files([path], store))
        if not any(each.statuses for each in told):
            raise InvalidInput(f"{name}: it describes a space, and holds no results")
        return _of_database(name, imported, wanted, immutable=True, prior=prior)


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read: {error.strerror}") from None


def _of_database(
    name: str, path: Path, wanted: Filter, *, immutable: bool, prior: bool
) -> list[Landscape]:
    store = Store.open(str(path), read_only=True, immutable=immutable)
    with closing(RecordingDevice(name, store)) as device:
        return [
            _landscape(Path(name).name, context, trials, prior=prior)
            for context, trials in device.answers()
            if _matches(context, wanted)
        ]


def _matches(context: Context, wanted: Filter) -> bool:
    fields = context.problem.as_dict()
    return wanted.kernel in {None, context.kernel} and all(
        str(fields.get(name)) == str(value) for name, value in wanted.problem.items()
    )


def _landscape(
    recording: str, context: Context, trials: Mapping[str, Trial], *, prior: bool
) -> Landscape:
    kernel = load_kernel(context.kernel_ref)
    problem = kernel.problem_type.parse(context.problem.as_dict())
    target = context.device.target
    space = ask(kernel, "space", problem, target, gives=Space)
    kept = [trial for trial in trials.values() if space.broken(trial.config) is None]
    configs = [trial.config for trial in kept]
    return landscape_of(
        kept,
        space=space,
        recording=recording,
        kernel=context.kernel,
        problem=context.problem.as_dict(),
        device=context.device.name,
        first=tuple(_default(kernel, problem, target, configs)) if prior else (),
        estimates=_estimates(kernel, problem, target, configs) if prior else {},
    )


def _default(
    kernel: Kernel, problem: Problem, target: Target, configs: Sequence[Config]
) -> Iterator[Config]:
    default = ask(kernel, "default", problem, target, gives=Config)
    if default in configs:
        yield default


def _estimates(
    kernel: Kernel, problem: Problem, target: Target, configs: Sequence[Config]
) -> dict[Config, float]:
    found = ask(kernel, "estimates", problem, configs, target, gives=dict)
    return {config: ns for config, ns in found.items() if abs(ns) < math.inf}
