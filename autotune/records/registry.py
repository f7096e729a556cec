"""Find a kernel: by the name of an installed one, or in a Python file."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from autotune.errors import InvalidInput
from autotune.records.asking import described
from autotune.records.identity import digest_bytes
from autotune.records.kernel import Kernel
from autotune.records.problem import Problem

GROUP = "autotune.kernels"
DATABASES = "autotune.kernel_databases"  # who finds a kernel in a file that holds no Python
_SQLITE = b"SQLite format 3\0"


def installed_kernels() -> dict[str, EntryPoint]:
    """Return the entry point of each installed kernel, by name."""
    return {point.name: point for point in sorted(entry_points(group=GROUP))}


def absolute_reference(reference: str, folder: Path) -> str:
    """Return a kernel's reference as any process may use it, read from ``folder``.

    Raises:
        InvalidInput: It cannot be the name of a file.
    """
    file, separator, class_name = reference.rpartition(":")
    if "\0" in file:
        raise InvalidInput(f"kernel: {reference!r} is not the name of a file")
    return f"{(folder / file).resolve()}:{class_name}" if separator else reference


def load_kernel(reference: str) -> Kernel:
    """Load ``gemm`` (installed), ``file.py:ClassName`` or ``results.db:NAME`` (imported).

    A Python file is executed, as any program is: name only files that you trust.

    Raises:
        InvalidInput: No such kernel, file or class, or one that fails as it is loaded.
    """
    path, separator, class_name = reference.rpartition(":")
    kernel_class = _from_file(Path(path), class_name) if separator else _installed(reference)
    if not (isinstance(kernel_class, type) and issubclass(kernel_class, Kernel)):
        raise InvalidInput(f"kernel {reference!r} is not a subclass of autotune.records.Kernel")
    try:
        kernel: Kernel = kernel_class()
    except Exception as error:
        raise InvalidInput(f"kernel {reference!r} cannot be made: {described(error)}") from error
    _check_statements(kernel, reference)
    return kernel


def _check_statements(kernel: Kernel, reference: str) -> None:
    """Refuse a class whose attributes are not what every reader of them relies on."""
    name = getattr(kernel, "name", None)
    if not (isinstance(name, str) and name and name.isprintable() and name == name.strip()):
        raise InvalidInput(f"kernel {reference!r}: name must be a printable word, not {name!r}")
    problem_type = getattr(kernel, "problem_type", None)
    if not (isinstance(problem_type, type) and issubclass(problem_type, Problem)):
        raise InvalidInput(
            f"kernel {reference!r}: problem_type must be a subclass of autotune.records.Problem, "
            f"not {problem_type!r}"
        )
    if not (isinstance(kernel.peer, str) and kernel.peer.isprintable()):
        raise InvalidInput(
            f"kernel {reference!r}: peer must be the name of a kernel, not {kernel.peer!r}"
        )
    fields = [field.name for field in dataclasses.fields(problem_type)]
    unknown = [field for field in kernel.scaled_fields if field not in fields]
    if unknown:
        raise InvalidInput(
            f"kernel {reference!r}: scaled_fields names {unknown[0]!r}; a problem has "
            f"{', '.join(fields) or 'no fields'}"
        )


def _installed(name: str) -> object:
    points = installed_kernels()
    if name not in points:
        raise InvalidInput(
            f"no kernel named {name!r}; installed: {', '.join(points) or 'none'}",
            hint="to use a file, write path/to/file.py:ClassName",
        )
    try:
        return points[name].load()
    except Exception as error:
        raise InvalidInput(f"kernel {name!r} cannot be loaded: {described(error)}") from error


def _from_file(path: Path, class_name: str) -> object:
    if not os.path.isfile(path):  # noqa: PTH113 - Path.is_file raises where the name is too long
        raise InvalidInput(f"kernel file {str(path)!r} does not exist")
    if _is_database(path):
        return _from_database(path, class_name)
    module_name = f"autotune_kernel_{digest_bytes(str(path.resolve()).encode())}"
    if module_name not in sys.modules:
        spec = importlib.util.spec_from_file_location(module_name, path)
        if spec is None or spec.loader is None:
            raise InvalidInput(f"kernel file {str(path)!r} is not a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module  # dataclasses look their module up while it loads
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            del sys.modules[module_name]
            if isinstance(error, Exception | SystemExit):
                why = f"kernel file {str(path)!r} cannot be loaded: {described(error)}"
                raise InvalidInput(why) from error
            raise
    kernel_class = getattr(sys.modules[module_name], class_name, None)
    if kernel_class is None:
        raise InvalidInput(f"kernel file {str(path)!r} has no class {class_name!r}")
    return kernel_class


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError as error:
        raise InvalidInput(f"kernel file {str(path)!r} cannot be read: {error.strerror}") from None


def _from_database(path: Path, name: str) -> object:
    finder = next(iter(entry_points(group=DATABASES)), None)
    if finder is None:
        raise InvalidInput(
            f"kernel file {str(path)!r} is a database, and nothing installed finds kernels in one",
            hint="install the package again: its entry points are out of date",
        )
    return finder.load()(path, name)
