"""Tune CUDA kernels, keep every measurement, and look the best one up at run time.

Importing this package is cheap and needs no GPU: each room (``autotune.study``,
``autotune.dispatch``, …) is imported by the program that uses it.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("autotune-kernels")
except PackageNotFoundError:  # a checkout on sys.path that nobody installed
    __version__ = "0+unknown"

__all__ = ["__version__"]
