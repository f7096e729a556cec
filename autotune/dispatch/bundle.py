"""Open a bundle: a folder with a table, its binaries and a manifest with a digest of each.

Every byte that the manifest names is read and checked before anything is used, and nothing else
is: names are plain names of regular files, and the folder is entered once.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from autotune.dispatch import strict_json
from autotune.dispatch.strict_json import Node
from autotune.dispatch.table import Table
from autotune.errors import InvalidTable

SCHEMA = "autotune.bundle"
SCHEMA_VERSION = 1
MANIFEST = "manifest.json"
TABLE = "table.json"
ROLES = ("entries", "defaults")
MAX_MANIFEST_BYTES = 64 << 20
MAX_FILE_BYTES = 1 << 30
MAX_EXTENT = (1 << 31) - 1
_NAME = re.compile(r"[a-z0-9_][a-z0-9._-]{0,127}", re.ASCII)
_HEX = re.compile(r"[0-9a-f]{64}", re.ASCII)
_SCALARS = ("int32", "int64", "fp32")

Made = TypeVar("Made")


class PackedFile(NamedTuple):
    """What a file must be: its SHA-256, as hexadecimal digits, and its size in bytes."""

    sha256: str
    bytes: int


class PackedBinary(NamedTuple):
    """One binary of a bundle.

    Attributes:
        unit: Key of what it was compiled from (``autotune.bundle.unit_key``).
        file: Its name in the folder.
        kernel: The kernel's name.
        arch: What it was compiled for.
        entry: The symbol to launch.
        compiler: The compiler's name.
        compiler_version: Its version.
        registers: 32-bit registers of a thread.
        spill_bytes: Bytes spilled to local memory.
        static_shared_bytes: Statically allocated shared memory, in bytes.
    """

    unit: str
    file: str
    kernel: str
    arch: str
    entry: str
    compiler: str
    compiler_version: str
    registers: int
    spill_bytes: int
    static_shared_bytes: int


class Argument(NamedTuple):
    """One argument of a launch.

    Attributes:
        kind: ``pointer``, ``tensor_map``, ``int32``, ``int64`` or ``fp32``.
        operand: The array that a pointer or a tensor map is of, else empty.
        box: Rows and columns that one copy of a tensor map moves, in elements.
        swizzle_bytes: How its chunks lie in shared memory.
        l2_promotion_bytes: How much of a line a miss of it brings into L2.
    """

    kind: str
    operand: str = ""
    box: tuple[int, int] = (0, 0)
    swizzle_bytes: int = 0
    l2_promotion_bytes: int = 0


class PackedLaunch(NamedTuple):
    """What is fixed when a binary runs an answer of the table, whatever the sizes.

    Attributes:
        kernel: The kernel's name.
        role: ``entries`` or ``defaults``.
        at: Which of them.
        unit: The binary's key.
        block: Threads in x, y and z.
        shared_bytes: Dynamic shared memory of a block, in bytes.
        overlaps: It may start while the launch before it still runs.
        arguments: In the order of the kernel's parameters.
    """

    kernel: str
    role: str
    at: int
    unit: str
    block: tuple[int, int, int]
    shared_bytes: int
    overlaps: bool
    arguments: tuple[Argument, ...]


class Bundle:
    """A table with the binaries of every config in it.

    Attributes:
        name: What messages call it: its path.
        folder: The folder, absolute.
        table: The table.
        files: What the folder holds beside the manifest, by name.
        binaries: The binaries, by the key of their unit.
        launches: What is fixed in a launch of each answer with each of its binaries.
    """

    __slots__ = ("binaries", "files", "folder", "launches", "name", "table")

    def __init__(self, name: str, table: Table, contents: _Contents) -> None:
        self.name = name
        self.folder = os.path.abspath(name)  # noqa: PTH100 - a lookup imports this, and pathlib is slow
        self.table = table
        self.files: Mapping[str, PackedFile] = MappingProxyType(contents.files)
        self.binaries: Mapping[str, PackedBinary] = MappingProxyType(contents.binaries)
        self.launches = contents.launches

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Bundle:
        """Read a bundle's manifest and table, and check every file of it.

        Raises:
            InvalidTable: There is no such folder, or it is not one whole, sound bundle of a
                schema that this package knows. The message says where.
        """
        name = os.fspath(path)
        folder = _entered(name)
        try:
            manifest = _content(folder, name, MANIFEST, MAX_MANIFEST_BYTES)
            contents = _read(manifest, f"{name}/{MANIFEST}")
            table = Table.parse(_checked(folder, name, contents.files), f"{name}/{TABLE}")
        finally:
            os.close(folder)
        _refuse_strangers(contents, table, f"{name}/{MANIFEST}")
        return cls(name, table, contents)

    def path(self, binary: PackedBinary) -> str:
        """Return where the image of ``binary`` lies."""
        return os.path.join(self.folder, binary.file)  # noqa: PTH118 - as above

    def __repr__(self) -> str:
        return f"Bundle({self.name!r}, binaries={len(self.binaries)})"


def opened(path: str | os.PathLike[str]) -> Table | Bundle:
    """Open a folder as a bundle and anything else as a table.

    Raises:
        InvalidTable: It is not sound.
    """
    return Bundle.open(path) if os.path.isdir(path) else Table.load(path)  # noqa: PTH112 - Path.is_dir raises where the name is too long


def digest_of(manifest: Mapping[str, Any]) -> str:
    """Return what a manifest states as its ``sha256``: of its canonical JSON without that key."""
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class _Contents(NamedTuple):
    files: dict[str, PackedFile]
    binaries: dict[str, PackedBinary]
    launches: tuple[PackedLaunch, ...]


def _entered(name: str) -> int:
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InvalidTable(
            f"bundle {name!r} cannot be opened: {why}", hint="write one with: autotune bundle"
        ) from None


def _checked(folder: int, name: str, files: Mapping[str, PackedFile]) -> bytes:
    """Compare every file with its digest, and return the table."""
    table = b""
    for file, stated in files.items():
        content = _content(folder, name, file, stated.bytes)
        if len(content) != stated.bytes:
            raise InvalidTable(f"{name}/{file}: has {len(content)} of {stated.bytes} bytes")
        if hashlib.sha256(content).hexdigest() != stated.sha256:
            raise InvalidTable(f"{name}/{file}: is damaged: its SHA-256 is another")
        if file == TABLE:
            table = content
    return table


def _content(folder: int, name: str, file: str, most_bytes: int) -> bytes:
    """Read one regular file of the folder; a link, a pipe or a device is none."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(file, flags, dir_fd=folder)
    except OSError as error:
        raise InvalidTable(f"{name}/{file}: cannot be read: {error.strerror}") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise InvalidTable(f"{name}/{file}: is not a regular file")
        if status.st_size > most_bytes:
            raise InvalidTable(f"{name}/{file}: is larger than {most_bytes} bytes")
        with os.fdopen(descriptor, "rb", closefd=False) as opened:
            return opened.read(most_bytes + 1)
    except OSError as error:
        raise InvalidTable(f"{name}/{file}: cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)


def _read(text: bytes, name: str) -> _Contents:
    root = strict_json.parse(text, name)
    said = {key: value for key, value in root.left.items() if key != "sha256"}
    root.text("schema", among=(SCHEMA,))
    version = root.whole("schema_version", at_least=1)
    if version > SCHEMA_VERSION:
        root.fail(f"is {version}, newer than {SCHEMA_VERSION}; upgrade autotune", "schema_version")
    if root.text("sha256") != digest_of(said):
        root.fail("is damaged: its SHA-256 is another")
    root.text("generator")
    root.text("created")
    files = {key: _file(node, key) for key, node in root.named_nodes("files").items()}
    if TABLE not in files:
        root.fail(f"must name {TABLE}", "files")
    binaries = {key: _binary(node, key) for key, node in root.named_nodes("binaries").items()}
    launches = tuple([_launch(node) for node in root.nodes("launches")])
    root.end()
    return _Contents(files, binaries, launches)


def _file(node: Node, name: str) -> PackedFile:
    if _NAME.fullmatch(name) is None or name == MANIFEST:
        node.fail("must be a plain name of a-z, 0-9, '.', '_' and '-'")
    digest = node.text("sha256")
    if _HEX.fullmatch(digest) is None:
        node.fail("must be 64 hexadecimal digits", "sha256")
    return _ended(node, PackedFile(digest, node.whole("bytes", at_least=0, at_most=MAX_FILE_BYTES)))


def _binary(node: Node, unit: str) -> PackedBinary:
    binary = PackedBinary(
        unit=unit,
        file=node.text("file"),
        kernel=node.text("kernel"),
        arch=node.text("arch"),
        entry=node.text("entry"),
        compiler=node.text("compiler"),
        compiler_version=node.text("compiler_version"),
        registers=_extent(node, "registers"),
        spill_bytes=_extent(node, "spill_bytes"),
        static_shared_bytes=_extent(node, "static_shared_bytes"),
    )
    return _ended(node, binary)


def _launch(node: Node) -> PackedLaunch:
    block = node.node("block")
    launch = PackedLaunch(
        kernel=node.text("kernel"),
        role=node.text("role", among=ROLES),
        at=node.whole("at", at_least=0),
        unit=node.text("unit"),
        block=_ended(block, (_extent(block, "x"), _extent(block, "y"), _extent(block, "z"))),
        shared_bytes=_extent(node, "shared_bytes"),
        overlaps=node.flag("overlaps"),
        arguments=tuple([_argument(each) for each in node.nodes("arguments")]),
    )
    return _ended(node, launch)


def _argument(node: Node) -> Argument:
    kind = node.text("kind", among=("pointer", "tensor_map", *_SCALARS))
    if kind in _SCALARS:
        return _ended(node, Argument(kind))
    if kind == "pointer":
        return _ended(node, Argument(kind, node.text("operand")))
    box = _extent(node, "box_rows"), _extent(node, "box_columns")
    argument = Argument(
        kind,
        node.text("operand"),
        box,
        _extent(node, "swizzle_bytes"),
        _extent(node, "l2_promotion_bytes"),
    )
    return _ended(node, argument)


def _extent(node: Node, key: str) -> int:
    return node.whole(key, at_least=0, at_most=MAX_EXTENT)


def _ended(node: Node, made: Made) -> Made:
    node.end()
    return made


def _refuse_strangers(contents: _Contents, table: Table, name: str) -> None:
    """Refuse a manifest that speaks of what is not there."""
    for unit, binary in contents.binaries.items():
        if binary.file not in contents.files or binary.file == TABLE:
            raise InvalidTable(f"{name}: binaries.{unit}.file is not one of files")
        if binary.kernel not in table.kernels or binary.arch != table.device.arch:
            raise InvalidTable(f"{name}: binaries.{unit} is not of the table's kernels and device")
    for place, launch in enumerate(contents.launches):
        kernel = table.kernels.get(launch.kernel)
        if kernel is None or launch.at >= len(getattr(kernel, launch.role)):
            raise InvalidTable(f"{name}: launches[{place}] is of no answer of the table")
        binary_of = contents.binaries.get(launch.unit)
        if binary_of is None or binary_of.kernel != launch.kernel:
            raise InvalidTable(f"{name}: launches[{place}].unit is not one of binaries")
