"""y = x by a library that every Linux machine has: the C library, called through ctypes."""

from __future__ import annotations

import ctypes
import platform
from dataclasses import dataclass

from autotune.errors import InvalidInput, ToolchainBroken
from autotune.records import (
    Config,
    Cost,
    LibraryKernel,
    Operand,
    Problem,
    Tolerance,
    Toolchain,
)
from autotune.space import Parameter, Space

FP32_BYTES = 4


@dataclass(frozen=True)
class Count(Problem):
    count: int


class Copy:
    """Calls ``memcpy`` on each of some parts of x, given in bytes."""

    def __init__(self, *parts):
        self._parts = parts
        self._copy = ctypes.CDLL(None).memcpy
        self._copy.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)

    def start(self, pointers, stream):
        assert stream == 0
        for part in self._parts:
            self._copy(pointers["y"] + part.start, pointers["x"] + part.start, len(part))


class Copied(LibraryKernel):
    """y = x."""

    name = "copied"
    problem_type = Count
    device_language = "c++"
    scaled_fields = ("count",)

    def toolchain(self):
        return Toolchain(compiler="libc", version=" ".join(platform.libc_ver()))

    def routine(self, problem, config, target):
        size, half = FP32_BYTES * problem.count, FP32_BYTES * (problem.count // 2)
        match config["call"]:
            case "whole":
                return Copy(range(size))
            case "halves":
                return Copy(range(half), range(half, size))
            case "half":
                return Copy(range(half))
            case "absent":
                raise InvalidInput("libc has no such call")

    def space(self, problem, target):
        calls = ("whole", "halves", "half", "absent")
        return Space((Parameter("call", calls, ordered=False),), ())

    def default(self, problem, target):
        return Config(call="whole")

    def operands(self, problem):
        return (
            Operand(name="x", dtype="fp32", shape=(problem.count,)),
            Operand(name="y", dtype="fp32", shape=(problem.count,), output=True),
        )

    def reference(self, problem, inputs, xp):
        return {"y": inputs["x"]}

    def tolerance(self, problem):
        return Tolerance(relative=1e-7, absolute=0.0)

    def cost(self, problem):
        return Cost(flop=0, bytes=2 * FP32_BYTES * problem.count)


class Unlinked(Copied):
    """The same, of a library that is not here."""

    name = "unlinked"

    def toolchain(self):
        raise ToolchainBroken("libnone cannot be loaded", hint="install it")
