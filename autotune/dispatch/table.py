"""A table in memory, and the lookup in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from autotune.dispatch.finder import Considered, Finder
from autotune.dispatch.reading import SCHEMA_VERSION, Contents, read
from autotune.dispatch.records import Certified, Choice, Device, KernelTable
from autotune.errors import InvalidProblem, InvalidTable

__all__ = ["SCHEMA_VERSION", "Table"]

_MAX_BYTES = 64 << 20


class Table:
    """The best configs of one device, and the rule for problems that were not tuned.

    Attributes:
        name: What messages call it, such as its path.
        device: The device that was measured.
        created: When it was exported: ISO 8601, UTC.
        generator: The program that wrote it.
        database_revision: Schema revision of the database that it came from.
        kernels: What it says of each kernel, by name.
        certificate: That all of it was verified again, or None.
        preference: What decided where goals pull apart; empty if it was time alone.
    """

    __slots__ = (
        "_finders", "certificate", "created", "database_revision", "device", "generator", "kernels",
        "name", "preference",
    )  # fmt: skip

    def __init__(self, contents: Contents, name: str) -> None:
        self.name = name
        self.device: Device = contents.device
        self.created = contents.created
        self.generator = contents.generator
        self.database_revision = contents.database_revision
        self.certificate: Certified | None = contents.certificate
        self.preference = contents.preference
        self.kernels: Mapping[str, KernelTable] = MappingProxyType(contents.kernels)
        self._finders = {key: Finder(kernel, name) for key, kernel in contents.kernels.items()}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Table:
        """Read a table file.

        Raises:
            InvalidTable: There is no such file, or it is not one whole, sound table of a
                schema that this package knows. The message says where.
        """
        name = os.fspath(path)
        return cls.parse(content_of(name), name)

    @classmethod
    def parse(cls, text: str | bytes, name: str = "table") -> Table:
        """Read the text of a table; ``name`` is what messages call it.

        Raises:
            InvalidTable: As for ``load``.
        """
        return cls(read(text, name), name)

    def lookup(self, kernel: str | None = None, /, **problem: Any) -> Choice:
        """Choose a config for a problem: exact, else tree, else nearest, else default.

        Args:
            kernel: The kernel's name; may be left out if the table has one kernel.
            problem: Every field of the problem. Whole numbers may also come as text.

        Raises:
            InvalidProblem: A field is unknown, missing or of the wrong type.
            NoValidConfig: Nothing in the table may serve this problem.
        """
        finder = self.finder(kernel)
        return finder[finder.values_of(problem)]

    def choices(self, kernel: str | None = None, /, **problem: Any) -> Iterator[Choice]:
        """Yield every choice for a problem, best first, so that a program can try the next.

        Raises:
            InvalidProblem: As for ``lookup``.
        """
        finder = self.finder(kernel)
        return finder.choices(finder.values_of(problem))

    def considered(self, kernel: str | None = None, /, **problem: Any) -> Iterator[Considered]:
        """Yield what a lookup looks at, best first, each with why it may not serve.

        Raises:
            InvalidProblem: As for ``lookup``.
        """
        finder = self.finder(kernel)
        return finder.considered(finder.values_of(problem))

    def finder(self, kernel: str | None = None) -> Finder:
        """Return the lookup of one kernel by position, for programs that ask often.

        Raises:
            InvalidProblem: The table has no such kernel, or several and none was named.
        """
        if kernel is None and len(self._finders) == 1:
            return next(iter(self._finders.values()))
        if kernel is None or kernel not in self._finders:
            known = ", ".join(self._finders) or "none"
            asked = "name a kernel" if kernel is None else f"no kernel named {kernel!r}"
            raise InvalidProblem(f"{self.name}: {asked}; the table has: {known}")
        return self._finders[kernel]

    def __repr__(self) -> str:
        return f"Table({self.name!r}, device={self.device.name!r}, kernels={[*self.kernels]})"


def content_of(name: str) -> bytes:
    """Return the bytes of a table file.

    Raises:
        InvalidTable: It cannot be read, or is too large.
    """
    try:
        with open(name, "rb") as file:  # noqa: PTH123 - pathlib would slow the import by a third
            content = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InvalidTable(
            f"table {name!r} cannot be read: {why}", hint="write one with: autotune export"
        ) from None
    if len(content) > _MAX_BYTES:
        raise InvalidTable(f"table {name!r} is larger than {_MAX_BYTES >> 20} MiB")
    return content
