"""Tune CUDA kernels, keep every measurement, and look the best one up at run time.

Importing this package is cheap and needs no GPU: each room (``autotune.study``,
``autotune.dispatch``, …) is imported by the program that uses it, and ``autotune.Dispatcher`` is
found when it is asked for.
"""

from __future__ import annotations

TYPE_CHECKING = False  # ``typing`` would cost as much to import as a lookup
if TYPE_CHECKING:
    from autotune.launcher import Dispatcher

    __version__: str

__all__ = ["Dispatcher", "__version__"]


def __getattr__(name: str) -> object:
    """Find what costs more than a whole lookup when it is asked for."""
    if name == "Dispatcher":
        from importlib import import_module  # a room's import here would be one of every room

        return import_module("autotune.launcher").Dispatcher
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _version()


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("autotune-kernels")
    except PackageNotFoundError:  # a checkout on sys.path that nobody installed
        return "0+unknown"
