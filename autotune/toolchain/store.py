"""The content-addressed store of binaries: right across processes, crashes and damage.

Layout: ``<root>/<first two digits>/<key>/`` holds ``image.cubin`` (or ``.so``) and
``meta.json``. An entry is written beside, synced and renamed into place as a whole, so that it
is there complete or not at all; whoever loses that race uses the winner's. What was damaged
later fails its checksum, counts as missing and is replaced.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autotune.errors import ToolchainBroken
from autotune.records import Binary, Resources, canonical_json
from autotune.toolchain.compiler import Compiled

META_VERSION = 1
ORPHAN_AGE_S = 3600.0
LOG_CHARS = 1 << 16  # every look at an entry reads it
_META = "meta.json"
_UNFINISHED = "unfinished"


def default_root() -> Path:
    """Return ``AUTOTUNE_CACHE``, else the platform's cache folder.

    Raises:
        ToolchainBroken: ``AUTOTUNE_CACHE`` names the home of nobody.
    """
    chosen = os.environ.get("AUTOTUNE_CACHE", "")
    if chosen:
        try:
            return Path(chosen).expanduser()
        except RuntimeError as error:
            raise ToolchainBroken(f"AUTOTUNE_CACHE={chosen!r}: {error}") from error
    from platformdirs import user_cache_path

    return user_cache_path("autotune", appauthor=False)


class BinaryStore:
    """Binaries by key.

    It has no ``in``: between such a test and the use the entry may vanish. Ask ``find``.

    Args:
        root: Its folder; None means ``default_root()``.
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = (root if root is not None else default_root()).absolute()

    def find(self, key: str) -> Binary | None:
        """Return the binary of ``key`` if it is there and whole."""
        folder = self._folder(key)
        try:
            meta = json.loads((folder / _META).read_bytes())
            return _checked_binary(folder, key, meta)
        except (OSError, ValueError, KeyError, TypeError):  # absent, torn, or of another version
            return None

    def publish(
        self,
        key: str,
        compiled: Compiled,
        *,
        name: str,
        compile_ns: int,
        made_of: Mapping[str, Any],
    ) -> Binary:
        """Store what was compiled and return it.

        Args:
            key: Digest of ``made_of``.
            compiled: The image, which must not be empty.
            name: File name of the image, such as ``image.cubin``.
            compile_ns: Time that the compiler took, in ns.
            made_of: The ingredients, with at least ``entry``; kept for people to compare.

        Raises:
            ToolchainBroken: The folder cannot be written.
        """
        meta = _meta(compiled, name=name, compile_ns=compile_ns, made_of=made_of)
        try:
            self._sweep()
            return self._place(key, compiled.image, meta)
        except OSError as error:
            raise ToolchainBroken(
                f"cannot write to the binary store {str(self.root)!r}: {error.strerror}",
                hint="set AUTOTUNE_CACHE to a folder that you can write",
            ) from error

    def _folder(self, key: str) -> Path:
        return self.root / key[:2] / key

    def _place(self, key: str, image: bytes, meta: Mapping[str, Any]) -> Binary:
        final = self._folder(key)
        final.parent.mkdir(parents=True, exist_ok=True)
        draft = self._draft()
        try:
            _write(draft / meta["image"], image)
            _write(draft / _META, canonical_json(meta).encode())
            _sync_folder(draft)
            while not _renamed(draft, final):
                winner = self.find(key)
                if winner is not None:
                    return winner
                self._discard(final)
            _sync_folder(final.parent)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return _binary(final, key, meta)

    def _draft(self) -> Path:
        unfinished = self.root / _UNFINISHED
        unfinished.mkdir(parents=True, exist_ok=True)
        draft = unfinished / uuid.uuid4().hex
        draft.mkdir()  # not mkdtemp: what lands in a shared store must be readable for all
        return draft

    def _discard(self, damaged: Path) -> None:
        """Move a damaged entry away in one step, so that nobody sees it half removed."""
        grave = self._draft()
        with suppress(FileNotFoundError):  # another process was faster
            damaged.rename(grave / damaged.name)
        shutil.rmtree(grave, ignore_errors=True)

    def _sweep(self) -> None:
        """Remove what processes that were killed while they wrote have left."""
        with suppress(FileNotFoundError):
            for draft in (self.root / _UNFINISHED).iterdir():
                with suppress(FileNotFoundError):
                    if time.time() - draft.stat().st_mtime > ORPHAN_AGE_S:
                        shutil.rmtree(draft, ignore_errors=True)


def _meta(
    compiled: Compiled, *, name: str, compile_ns: int, made_of: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "version": META_VERSION,
        "image": name,
        "length_bytes": len(compiled.image),
        "sha256": hashlib.sha256(compiled.image).hexdigest(),
        "entry": made_of["entry"],
        "resources": asdict(compiled.resources),
        "compile_ns": compile_ns,
        "log": compiled.log[:LOG_CHARS],
        "made_of": made_of,
    }


def _checked_binary(folder: Path, key: str, meta: Mapping[str, Any]) -> Binary:
    if meta["version"] != META_VERSION:
        raise ValueError(meta["version"])
    image = (folder / Path(meta["image"]).name).read_bytes()
    whole = (len(image), hashlib.sha256(image).hexdigest())
    if whole != (meta["length_bytes"], meta["sha256"]):
        raise ValueError("the image is damaged")
    return _binary(folder, key, meta, cached=True)


def _binary(folder: Path, key: str, meta: Mapping[str, Any], *, cached: bool = False) -> Binary:
    resources = dict(meta["resources"])
    resources["warnings"] = tuple(resources["warnings"])
    return Binary(
        key=key,
        path=str(folder / Path(meta["image"]).name),
        entry=meta["entry"],
        resources=Resources(**resources),
        compile_ns=meta["compile_ns"],
        cached=cached,
    )


def _renamed(draft: Path, final: Path) -> bool:
    try:
        draft.rename(final)
    except OSError as error:
        # Not whether it is there: another process may have moved it away meanwhile.
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
            return False
        raise
    return True


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
