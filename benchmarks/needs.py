"""What benchmarks need beside this package: missed in one line, and not before ``--help``.

Modules take torch from here, so that a script can say what it is for where there is none.
"""

from __future__ import annotations

from importlib.util import find_spec

from autotune.errors import cuda_hint

try:
    import torch
except ModuleNotFoundError:
    torch = None  # type: ignore[assignment]  # and ``require`` leaves before anything asks it

__all__ = ["require", "torch"]


def require(*modules: str) -> None:
    """Leave with one line unless torch and its GPU, CuPy and ``modules`` are there.

    Raises:
        SystemExit: Something is missing; the message says what, and what to type.
    """
    needed = dict.fromkeys(("torch", "cupy", *modules))
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        packages = " ".join(name for name in missing if name != "cupy")
        how = [f"pip install {packages}"] if packages else []
        how += [cuda_hint()] if "cupy" in missing else []
        raise SystemExit(f"not installed: {', '.join(missing)}; {'; '.join(how)}")
    if not torch.cuda.is_available():
        raise SystemExit("torch finds no GPU here, and a benchmark measures one")
