"""Errors a user can meet. Each says what is wrong, where, and what to do next.

Tree::

    AutotuneError
    ├── InvalidInput          a study file, problem, option or URL that cannot be used   (exit 2)
    │   ├── InvalidProblem    a problem field is missing, unknown or out of range
    │   └── InvalidTable      a lookup table that is damaged or of a newer schema
    ├── NoValidConfig         nothing in the space can run, or nothing that ran was right (exit 3)
    ├── SchemaOutOfDate       the database is older or newer than this package            (exit 4)
    ├── ToolchainBroken       no compiler, no headers, or every candidate fails alike
    ├── DeviceUnavailable     no such GPU, recording or host compiler
    └── StoreError            the database cannot be opened, read or written
"""

from __future__ import annotations

import os

_CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - a lookup imports this, and pathlib is slow


def install_hint(extra: str) -> str:
    """Return what to type for the packages of ``extra``: in a checkout, or of the distribution."""
    checkout = os.path.isfile(os.path.join(_CHECKOUT, "pyproject.toml"))  # noqa: PTH113, PTH118
    what = f"-e '{_CHECKOUT}" if checkout else "'autotune-kernels"
    return f"pip install {what}[{extra}]'"


def cuda_hint() -> str:
    """Return what to type for all that a GPU needs, or to compile for one elsewhere."""
    return f"{install_hint('cuda13')} ([cuda12] for an older driver, [nvrtc13] without a GPU)"


class AutotuneError(Exception):
    """Base of every error that this package raises on purpose.

    Args:
        message: One line that says what is wrong and where.
        hint: What to type or change next, or an empty string.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class InvalidInput(AutotuneError):
    """Input from a person or a file that cannot be used as it is."""

    exit_code = 2


class InvalidProblem(InvalidInput):
    """A problem with a missing, unknown or impossible field."""


class InvalidTable(InvalidInput):
    """A lookup table that is damaged, incomplete or of a newer schema."""


class NoValidConfig(AutotuneError):
    """No configuration can run here, or none that ran gave the right result."""

    exit_code = 3


class SchemaOutOfDate(AutotuneError):
    """The database's schema is not the one that this package writes."""

    exit_code = 4


class ToolchainBroken(AutotuneError):
    """The compiler or its headers cannot be used, whatever the candidate."""


class DeviceUnavailable(AutotuneError):
    """The named device is not on this machine."""


class StoreError(AutotuneError):
    """The database cannot be opened, read or written."""
