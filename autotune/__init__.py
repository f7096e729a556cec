"""Tune CUDA kernels, keep every measurement, and look the best one up at run time.

Importing this package is cheap and needs no GPU: each room (``autotune.study``,
``autotune.dispatch``, …) is imported by the program that uses it.
"""

from __future__ import annotations

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """Find ``__version__`` when asked: reading the metadata costs more than a whole lookup."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("autotune-kernels")
    except PackageNotFoundError:  # a checkout on sys.path that nobody installed
        return "0+unknown"
