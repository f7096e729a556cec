"""A table as a C++17 header, and the headers that answer and launch from it."""

from __future__ import annotations

from autotune.cpp.header import header_text
from autotune.cpp.write import INCLUDE, write_header

__all__ = ["INCLUDE", "header_text", "write_header"]
