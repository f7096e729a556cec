"""Write a bundle: the whole folder, or nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune import __version__
from autotune.bundle.units import Need, needs
from autotune.dispatch import Device as Measured
from autotune.dispatch import Table
from autotune.dispatch.bundle import MANIFEST, SCHEMA, SCHEMA_VERSION, TABLE, Bundle, digest_of
from autotune.dispatch.table import content_of
from autotune.errors import AutotuneError, InvalidInput, NoValidConfig
from autotune.records import Binary, Failure, Launch, Scalar, Target, TensorMap
from autotune.toolchain import COMPILERS, BinaryStore, CompilePool, source_digest

LIMIT_S = 300.0  # for one binary

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a bundle holds.

    Attributes:
        answers: Entries and defaults of the table.
        binaries: Different binaries for them.
        size_bytes: Size of all files together.
        warnings: One line for each kernel whose source has changed since it was measured.
    """

    answers: int
    binaries: int
    size_bytes: int
    warnings: tuple[str, ...]


def write_bundle(
    table: Path, folder: Path, *, store: BinaryStore | None = None, created: str = ""
) -> Written:
    """Compile every answer of a table for its own device, and write them as ``folder``.

    Args:
        table: The table file.
        folder: The new folder, which appears whole or not at all.
        store: Where binaries are looked for and kept; None means the usual place.
        created: The moment to state.

    Raises:
        InvalidTable: The table is not sound.
        InvalidInput: ``folder`` is there already, or cannot be made.
        NoValidConfig: A config of the table does not compile.
        ToolchainBroken: There is no compiler.
    """
    draft = _draft(folder)
    text = content_of(os.fspath(table))
    loaded = Table.parse(text, os.fspath(table))
    needed = _needed(loaded)
    binaries = _compiled(needed, loaded.device.arch, store or BinaryStore())
    files = {TABLE: text, **{_file_name(path): path.read_bytes() for path in _paths(binaries)}}
    manifest = _manifest(loaded, needed, binaries, created) | {"files": _digests(files)}
    manifest["sha256"] = digest_of(manifest)
    files[MANIFEST] = (json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode()
    _place(draft, folder, files)
    return Written(
        answers=len({(need.kernel, need.role, need.at) for need in needed}),
        binaries=len(files) - 2,
        size_bytes=sum(map(len, files.values())),
        warnings=tuple(_changed(loaded, needed)),
    )


def target_of(device: Measured) -> Target:
    """Return what code for the device of a table is compiled for."""
    return Target(
        arch=device.arch,
        sm_count=device.sm_count,
        shared_bytes_per_block=device.shared_bytes_per_block,
        shared_bytes_per_sm=device.shared_bytes_per_sm,
        registers_per_sm=device.registers_per_sm,
        threads_per_block=device.threads_per_block,
        l2_bytes=device.l2_bytes,
    )


def _needed(table: Table) -> list[Need]:
    target = target_of(table.device)
    return [need for kernel in table.kernels.values() for need in needs(kernel, target)]


def _compiled(needed: Iterable[Need], arch: str, store: BinaryStore) -> dict[str, Binary]:
    """Return the binary of each unit by its key, compiled by as many processes as may run."""
    of_language: dict[str, dict[str, Need]] = {}
    for need in needed:
        of_language.setdefault(need.unit.language, {}).setdefault(need.key, need)
    binaries: dict[str, Binary] = {}
    for language, some in of_language.items():
        pool = CompilePool(COMPILERS[language](), store, arch=arch, limit_s=LIMIT_S)
        with pool:
            pending = {key: pool.submit(need.unit) for key, need in some.items()}
            for key, future in pending.items():
                binaries[key] = _sound(future.result(), some[key])
    return binaries


def _sound(made: Binary | Failure, need: Need) -> Binary:
    if isinstance(made, Failure):
        raise NoValidConfig(
            f"{need.kernel}.{need.role}[{need.at}] does not compile: {made.status}: {made.message}",
            hint="tune again, then export",
        )
    return made


def _paths(binaries: Mapping[str, Binary]) -> list[Path]:
    return [Path(binary.path) for binary in binaries.values()]


def _file_name(image: Path) -> str:
    return f"{hashlib.sha256(image.read_bytes()).hexdigest()[:32]}{image.suffix}"


def _manifest(
    table: Table, needed: Iterable[Need], binaries: Mapping[str, Binary], created: str
) -> Json:
    kernels = {need.key: need for need in needed}
    arch = table.device.arch
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "generator": f"autotune {__version__}",
        "created": created,
        "binaries": {key: _binary(kernels[key], made, arch) for key, made in binaries.items()},
        "launches": [_launch(need) for need in needed],
    }


def _binary(need: Need, made: Binary, arch: str) -> Json:
    toolchain = COMPILERS[need.unit.language]().toolchain
    return {
        "file": _file_name(Path(made.path)),
        "kernel": need.kernel,
        "arch": arch,
        "entry": made.entry,
        "compiler": toolchain.compiler,
        "compiler_version": toolchain.version,
        "registers": made.resources.registers,
        "spill_bytes": made.resources.spill_bytes,
        "static_shared_bytes": made.resources.static_shared_bytes,
    }


def _launch(need: Need) -> Json:
    where = {"kernel": need.kernel, "role": need.role, "at": need.at, "unit": need.key}
    return where | described(need.launch)


def described(launch: Launch) -> Json:
    """Return what a manifest says of a launch: all that does not follow from sizes."""
    return {
        "block": dict(zip("xyz", map(int, launch.block), strict=True)),
        "shared_bytes": int(launch.shared_bytes),
        "overlaps": launch.overlaps,
        "arguments": [_argument(each) for each in launch.arguments],
    }


def _argument(argument: str | Scalar | TensorMap) -> Json:
    match argument:
        case Scalar():
            return {"kind": argument.dtype}
        case TensorMap():
            rows, columns = argument.box
            return {
                "kind": "tensor_map",
                "operand": argument.operand.name,
                "box_rows": rows,
                "box_columns": columns,
                "swizzle_bytes": argument.swizzle_bytes,
                "l2_promotion_bytes": argument.l2_promotion_bytes,
            }
        case _:
            return {"kind": "pointer", "operand": argument}


def _digests(files: Mapping[str, bytes]) -> Json:
    return {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        for name, content in files.items()
    }


def _changed(table: Table, needed: Iterable[Need]) -> Iterable[str]:
    first = {need.kernel: need for need in reversed(list(needed))}
    for name, need in first.items():
        measured = {each.source_digest for each in table.kernels[name].contexts.values()}
        if source_digest(need.unit) not in measured:
            yield f"{name}: its source is not the one that {table.name} was measured with"


def _draft(folder: Path) -> Path:
    """Return the name of a folder beside ``folder``, which must not be there yet."""
    if os.path.lexists(folder):
        raise InvalidInput(f"bundle {str(folder)!r} is there already", hint="choose another --out")
    parent = folder.absolute().parent
    if not parent.is_dir():
        raise InvalidInput(f"bundle {str(folder)!r}: there is no folder {str(parent)!r}")
    return parent / f".{folder.name}.{uuid.uuid4().hex}.part"


def _place(draft: Path, folder: Path, files: Mapping[str, bytes]) -> None:
    try:
        draft.mkdir()
        for name, content in files.items():
            with (draft / name).open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        Bundle.open(draft)  # what cannot be opened does not appear
        draft.rename(folder)
    except OSError as error:
        raise AutotuneError(
            f"bundle {str(folder)!r} cannot be written: {error.strerror}",
            hint="nothing of it is there",
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
