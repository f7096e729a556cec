"""Names of kernels, fields and values as C++ takes them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

# Words that a field, a parameter or a value may be called in Python, and nothing in C++.
_KEYWORDS = """
    alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const
    constexpr continue decltype default delete do double else enum explicit export extern false
    float for friend goto if inline int long mutable namespace new noexcept not nullptr operator or
    private protected public register requires return short signed sizeof static struct switch
    template this throw true try typedef typeid typename union unsigned using virtual void volatile
    wchar_t while xor
"""


def identifier(name: str) -> str:
    """Return ``name`` with all that C++ does not take in a name replaced."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    plain = re.sub(r"__+", "_", plain)  # reserved
    if not re.match("[a-z]", plain, flags=re.IGNORECASE):
        plain = f"v{plain}"
    return f"{plain}_" if plain in _KEYWORDS.split() else plain


def identifiers(names: Iterable[str]) -> list[str]:
    """Return a name for each of ``names``, all different."""
    found: list[str] = []
    for name in names:
        plain, tries = identifier(name), 1
        unique = plain
        while unique in found:
            tries += 1
            unique = f"{plain}_{tries}"
        found.append(unique)
    return found


def literal(value: int | str) -> str:
    """Return ``value`` as C++ writes it."""
    if isinstance(value, int):
        return f"{value}" if abs(value) < 1 << 31 else f"{value}LL"
    ascii_text = "".join(_octal(value))
    return f'"{ascii_text}"'


def _octal(text: str) -> Iterable[str]:
    """Yield each byte of ``text``; three octal digits end an escape, whatever follows."""
    for byte in text.encode():
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        yield chr(byte) if plain else f"\\{byte:03o}"


def comment(text: str) -> str:
    """Return ``text`` as it may stand behind ``//``."""
    return json.dumps(text)[1:-1].rstrip("\\")
