"""Find every file that a unit is made of, so that its key can cover each byte."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from autotune.errors import InvalidInput
from autotune.records import SourceUnit, digest_bytes

LIBRARY = "library"  # the language of a unit that nothing compiles

_SPLICE = re.compile(rb"\\\r?\n")
_TOKEN = re.compile(
    rb"""(?P<raw>\bu?8?[LuU]?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")"""
    rb"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
    rb"""|(?P<comment>//[^\n]*|/\*.*?\*/)""",
    re.DOTALL,
)
_DIRECTIVE = re.compile(
    rb"^[ \t]*(?:\#|%:)[ \t]*(include|include_next|import|embed)\b[ \t]*([^\n]*)"
    rb"|__has_include\s*\(\s*(<[^>\n]+>|\"[^\"\n]+\")",
    re.MULTILINE,
)
_OPERAND = re.compile(r'"([^"]+)"|<([^>]+)>')


@dataclass(frozen=True, slots=True, kw_only=True)
class Include:
    """One include directive.

    Attributes:
        name: The header as it is spelled, or empty if a macro or an extension names it.
        text: The directive's operand.
        angled: True for ``<...>``.
        optional: True if the source only asks whether the header exists.
    """

    name: str
    text: str
    angled: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What a unit is made of.

    Attributes:
        parts: Spelling and digest of the main file and of each header, as they are met.
        system: The ``<...>`` headers that are in none of the unit's own folders.
        chosen: Those of them that the generated header alone asks for: they depend on the config.
        folders: The folders of the files in ``parts``.
    """

    parts: tuple[tuple[str, str], ...]
    system: tuple[str, ...]
    chosen: tuple[str, ...]
    folders: frozenset[Path]


def own_dirs(unit: SourceUnit) -> tuple[Path, ...]:
    """Return the folders to search for headers, absolute: the main file's, then the unit's."""
    return tuple(folder.absolute() for folder in (unit.main.parent, *unit.include_dirs))


def scan(unit: SourceUnit) -> Sources:
    """Read the main file and every header that it reaches, whatever conditions guard them.

    Quoted names are looked up beside the including file, then as ``<...>`` names are: in the
    main file's folder and in ``include_dirs``. The generated header is followed too, but is
    not a part: its text depends on the config. What calls a library is one file of Python, where
    ``# include`` begins a comment.

    Raises:
        InvalidInput: A file is missing, or a directive does not spell out what it reads.
    """
    if unit.language == LIBRARY:
        part = (unit.main.name, digest_bytes(_read(unit.main)))
        return Sources(parts=(part,), system=(), chosen=(), folders=frozenset({unit.main.parent}))
    scanner = Scanner(own_dirs(unit), generated=(unit.header_name, unit.header))
    scanner.enter(unit.main.name, unit.main.absolute())
    return scanner.found()


class Scanner:
    """Walks from file to file along their includes; cycles are fine.

    Args:
        dirs: Folders to search, first match wins.
        generated: Name and text of a header that is not on disk, or None.
        strict: Refuse what cannot be found; else pass over it.
    """

    def __init__(
        self,
        dirs: Sequence[Path],
        *,
        generated: tuple[str, str] | None = None,
        strict: bool = True,
    ) -> None:
        self._dirs = dirs
        self._generated = generated
        self._strict = strict
        self._parts: list[tuple[str, str]] = []
        self._system: set[str] = set()
        self._chosen: set[str] = set()
        self._folders: set[Path] = set()
        self._digests: dict[Path, str] = {}
        self._seen: set[tuple[int, ...] | str] = set()

    def found(self) -> Sources:
        """Return what was met so far."""
        return Sources(
            parts=tuple(self._parts),
            system=tuple(sorted(self._system | self._chosen)),
            chosen=tuple(sorted(self._chosen - self._system)),
            folders=frozenset(self._folders),
        )

    def enter(self, name: str, path: Path) -> None:
        """Take up the file at ``path``, spelled ``name``, and all that it includes."""
        if path in self._digests:
            self._parts.append((name, self._digests[path]))
            return
        text = _read(path)
        self._digests[path] = digest_bytes(text)
        self._parts.append((name, self._digests[path]))
        place = _place(path)
        if place not in self._seen:
            self._seen.add(place)
            self._folders.add(path.parent)
            self._follow(text, where=str(path), beside=path.parent)

    def _follow(self, text: bytes, *, where: str, beside: Path | None) -> None:
        for include in includes(text, strict=self._strict):
            if self._generated is not None and include.name == self._generated[0]:
                self._enter_generated(*self._generated)
                continue
            path = self._find(include, beside)
            if path is not None:
                self.enter(include.name, path)
            elif include.angled:
                generated = beside is None
                (self._chosen if generated else self._system).add(include.name)
            elif self._strict and not include.optional:
                raise self._refusal(include, where)

    def _enter_generated(self, name: str, text: str) -> None:
        if name not in self._seen:
            self._seen.add(name)
            self._follow(text.encode(), where=name, beside=None)

    def _find(self, include: Include, beside: Path | None) -> Path | None:
        if not include.name:
            return None
        near = () if beside is None or include.angled else (beside,)
        paths = (folder / include.name for folder in (*near, *self._dirs))
        return next((path for path in paths if os.path.isfile(path)), None)  # noqa: PTH113 - Path.is_file raises where the name is too long

    def _refusal(self, include: Include, where: str) -> InvalidInput:
        if not include.name:
            return InvalidInput(
                f"{where}: {include.text!r} does not spell out which file it reads, so that no "
                "key could cover it",
                hint='write #include "name" or #include <name>',
            )
        searched = ", ".join(str(folder) for folder in self._dirs)
        return InvalidInput(
            f'{where}: no file for #include "{include.name}"; searched beside it and in {searched}',
            hint="add its folder to include_dirs; headers of the toolkit are included as <...>",
        )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot read source file '{path}': {error.strerror}") from error


def _place(path: Path) -> tuple[int, ...]:
    """Identify a file in its folder: one that is linked into two finds others beside it."""
    file, folder = path.stat(), path.parent.stat()
    return file.st_dev, file.st_ino, folder.st_dev, folder.st_ino


@lru_cache(maxsize=2048)
def includes(text: bytes, *, strict: bool = True) -> tuple[Include, ...]:
    """Return the include directives of a source text, in order.

    Comments and raw strings are left out if ``strict``; else they may add to the list.
    """
    plain = _SPLICE.sub(b"", text)
    if strict:
        plain = _TOKEN.sub(_without_prose, plain)
    return tuple(_include(*match.groups()) for match in _DIRECTIVE.finditer(plain))


def _without_prose(match: re.Match[bytes]) -> bytes:
    if match["comment"]:
        return b" "
    return b'""' if match["raw"] else match[0]


def _include(directive: bytes | None, operand: bytes | None, asked: bytes | None) -> Include:
    text = (operand or asked or b"").decode(errors="replace").strip()
    spelled = _OPERAND.match(text)
    if directive not in (b"include", None) or spelled is None:
        shown = f"#{(directive or b'').decode()} {text}"
        return Include(name="", text=shown)
    quoted, angled = spelled.groups()
    return Include(
        name=quoted or angled, text=text, angled=angled is not None, optional=directive is None
    )
