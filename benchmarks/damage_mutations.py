"""Ways to damage a table or a bundle: each takes what is sound, and a source of randomness."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from autotune.dispatch.bundle import MANIFEST, SCHEMA_VERSION, TABLE, digest_of

Draw = random.Random
Step = str | int

OTHERS: tuple[Any, ...] = (None, True, -1, 0, 1.5, "", "x", [], {}, [[]], {"a": 1}, 2**31, 2**62)
HUGE = ("1" + "0" * 400, "1e999", "-1e999", "NaN", "Infinity", "9" * 5000, "1e-400", str(2**63))
TRICKS = (
    "../table.json", "/etc/hostname", "a/b", "", ".", "..", "....", ".hidden", "A", "a b", "é",
    "a\0b", "~", "-", "con:", "\\\\server", "x" * 300, "./table.json", "..%2f", "table.json\n",
)  # fmt: skip
_KEY = re.compile(r'"(\w+)": ')
_PLACE = "@@"


def flipped(draw: Draw, content: bytes) -> bytes:
    """Flip one to three bits."""
    changed = bytearray(content)
    for _ in range(draw.randint(1, 3)):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def cut(draw: Draw, content: bytes) -> bytes:
    """Leave the end out, as a copy that was interrupted does."""
    return content[: draw.randrange(len(content))]


def shuffled(draw: Draw, content: bytes) -> bytes:
    """Drop, repeat or add some bytes in the middle."""
    begin = draw.randrange(len(content))
    end = min(len(content), begin + draw.randint(1, 64))
    middle = draw.choice((b"", content[begin:end] * 2, draw.randbytes(end - begin)))
    return content[:begin] + middle + content[end:]


def other_type(draw: Draw, content: bytes) -> bytes:
    """Put a value of another type in some place."""
    return _replaced(draw, content, lambda _: draw.choice(OTHERS))


def huge_number(draw: Draw, content: bytes) -> bytes:
    """Put a number that no field can hold in some place."""
    text = _replaced(draw, content, lambda _: _PLACE).decode()
    return text.replace(f'"{_PLACE}"', draw.choice(HUGE), 1).encode()


def key_twice(draw: Draw, content: bytes) -> bytes:
    """Give one key twice."""
    text = content.decode()
    match = draw.choice(list(_KEY.finditer(text)))
    again = f'"{match[1]}": {draw.choice(("0", "null", "{}"))}, '
    return (text[: match.start()] + again + text[match.start() :]).encode()


def key_gone(draw: Draw, content: bytes) -> bytes:
    """Leave one key or element out, or rename it."""
    document = json.loads(content)
    holder, step = draw.choice(list(_places(document)))
    value = holder.pop(step)
    if isinstance(holder, dict) and draw.random() < 0.5:
        holder[draw.choice(("", "x", f"{step} ", str(step).upper()))] = value
    return _text(document)


def newer(draw: Draw, content: bytes) -> bytes:
    """State a schema that does not exist yet, with a field that it may bring."""
    document = json.loads(content)
    document["schema_version"] += draw.randint(1, 1000)
    document["news"] = draw.choice(OTHERS)
    return _text(document)


TEXTS: dict[str, Callable[[Draw, bytes], bytes]] = {
    "bits flipped": flipped,
    "cut short": cut,
    "bytes moved": shuffled,
    "another type": other_type,
    "huge number": huge_number,
    "key twice": key_twice,
    "key gone": key_gone,
    "newer schema": newer,
}


def damaged_file(draw: Draw, folder: Path) -> None:
    """Damage the bytes of any file."""
    victim = draw.choice(sorted(folder.iterdir()))
    victim.write_bytes(draw.choice((flipped, cut, shuffled))(draw, victim.read_bytes()))


def damaged_manifest(draw: Draw, folder: Path) -> None:
    """Damage the manifest in a way that its own digest must show."""
    manifest = folder / MANIFEST
    manifest.write_bytes(draw.choice(list(TEXTS.values()))(draw, manifest.read_bytes()))


def forged_manifest(draw: Draw, folder: Path) -> None:
    """Change the manifest, and state the right digest of what it then says."""
    manifest = folder / MANIFEST
    kind = draw.choice((other_type, key_gone))
    document = json.loads(kind(draw, manifest.read_bytes()))
    _sealed(manifest, document)


def path_trick(draw: Draw, folder: Path) -> None:
    """Let the manifest name a file outside, or one that is none, under the right digest."""
    manifest = folder / MANIFEST
    document = json.loads(manifest.read_bytes())
    trick, name = draw.choice(TRICKS), draw.choice([TABLE, *document["files"]])
    document["files"][trick] = document["files"].pop(name)
    for binary in document["binaries"].values():
        binary["file"] = trick if binary["file"] == name else binary["file"]
    _sealed(manifest, document)


def not_a_file(draw: Draw, folder: Path) -> None:
    """Put a link, a pipe, a folder or nothing where a file was; a link leads to its content."""
    victim = draw.choice(sorted(folder.iterdir()))
    content = victim.read_bytes()
    victim.unlink()
    outside = folder.parent / "outside"
    outside.write_bytes(content)
    match draw.randrange(5):
        case 0:
            victim.symlink_to(outside)
        case 1:
            victim.symlink_to(Path("..") / folder.name / "missing")
        case 2:
            os.mkfifo(victim)
        case 3:
            victim.mkdir()


def newer_manifest(draw: Draw, folder: Path) -> None:
    """State a newer schema, with the right digest."""
    manifest = folder / MANIFEST
    document = json.loads(newer(draw, manifest.read_bytes()))
    assert document["schema_version"] > SCHEMA_VERSION, "it is newer"
    _sealed(manifest, document)


FOLDERS: dict[str, Callable[[Draw, Path], None]] = {
    "file damaged": damaged_file,
    "manifest damaged": damaged_manifest,
    "manifest forged": forged_manifest,
    "path trick": path_trick,
    "no regular file": not_a_file,
    "newer manifest": newer_manifest,
}


def _sealed(manifest: Path, document: Any) -> None:
    if isinstance(document, dict):
        document.pop("sha256", None)
        document["sha256"] = digest_of(document)
    manifest.write_bytes(_text(document))


def _replaced(draw: Draw, content: bytes, change: Callable[[Any], Any]) -> bytes:
    document = json.loads(content)
    holder, step = draw.choice(list(_places(document)))
    holder[step] = change(holder[step])
    return _text(document)


def _places(value: Any) -> Iterator[tuple[Any, Step]]:
    """Yield every place in a document: the object or list, and the key or index."""
    steps: Any = value if isinstance(value, dict) else range(len(value))
    for step in steps:
        yield value, step
        if isinstance(value[step], dict | list):
            yield from _places(value[step])


def _text(document: Any) -> bytes:
    return json.dumps(document, indent=1).encode()
