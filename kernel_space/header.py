"""The generated header through which a config reaches a CUDA source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def config_header(
    constants: Mapping[str, bool | int | str], *, directives: Iterable[str] = ()
) -> str:
    """Return the text of ``config.h``.

    Args:
        constants: What stands in namespace ``config``: C++ type and name, and the value.
        directives: Lines of the preprocessor that go before it.
    """
    lines = [f"constexpr {name} = {_cpp(value)};" for name, value in constants.items()]
    return "\n".join(["#pragma once", *directives, "namespace config {", *lines, "}", ""])


def _cpp(value: bool | int | str) -> str:  # noqa: FBT001 - it is what is written
    return str(value).lower() if isinstance(value, bool) else str(value)
