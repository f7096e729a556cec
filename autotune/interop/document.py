"""Read a file of JSON, packed or not, finished or not. Nothing in it is ever executed."""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autotune.errors import InvalidInput

Json = dict[str, Any]

_GZIP = b"\x1f\x8b"
_BEYOND_FLOAT = re.compile(r"[eE]\+?\d{3}")


def read_document(path: Path) -> tuple[Json, bool]:
    """Return the JSON object in ``path``, and whether the file has its end.

    A tuner that still runs, or was killed, leaves its cache without the last braces. Numbers that
    JSON does not know come back as the words ``NaN``, ``Infinity`` and ``-Infinity``.

    Raises:
        InvalidInput: It cannot be read, or is not such a file.
    """
    text = _text(path)
    faults: list[ValueError] = []
    for candidate in _as_finished(text):
        try:
            return as_object(_parsed(candidate), str(path)), not faults
        except RecursionError:
            raise InvalidInput(f"{path}: nested too deeply") from None
        except ValueError as error:
            faults.append(error)
    raise InvalidInput(f"{path}: not JSON: {faults[0]}")


def as_object(value: Any, where: str) -> Json:
    """Return ``value`` if it is a JSON object.

    Raises:
        InvalidInput: It is not; the message begins with ``where``.
    """
    if not isinstance(value, dict):
        raise InvalidInput(f"{where}: must be an object, not {value!r:.40}")
    return value


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
        if content.startswith(_GZIP):
            content = gzip.decompress(content)
        return content.decode("utf-8-sig")
    except FileNotFoundError:
        raise InvalidInput(f"{path}: there is no such file") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidInput(f"{path}: damaged gzip file: {error}") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read: {error.strerror}") from None


def _as_finished(text: str) -> Iterator[str]:
    """Yield the text as it is, then as it may have been meant: closed, or closed a row earlier."""
    yield text
    body = text.rstrip().removesuffix(",")
    if '"cache"' in body:
        yield f"{body}}}}}"
        yield f"{body[: body.rfind('},') + 1]}}}}}"


def _parsed(text: str) -> Any:
    if _BEYOND_FLOAT.search(text):  # rare, and asking at every number is slow
        return json.loads(text, parse_constant=str, parse_float=_number)
    return json.loads(text, parse_constant=str)


def _number(text: str) -> float | str:
    number = float(text)
    if math.isfinite(number):
        return number
    return "Infinity" if number > 0 else "-Infinity"
