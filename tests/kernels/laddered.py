"""A ladder with a rung of each fate, and a library to be measured beside it."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np

from autotune.records import Config, LibraryKernel, Rung, Toolchain, load_kernel
from autotune.space import Parameter, Space

HERE = Path(__file__)


def _rung(name, fault, *, twins=(0,)):
    return Rung(
        name=name,
        where={"fault": fault},
        preferred=tuple(Config(fault=fault, twin=twin) for twin in twins),
        change=f"{name} is new",
        why=f"because of {name}",
    )


class Laddered(type(load_kernel(f"{HERE.with_name('faulty_matmul.py')}:FaultyMatmul"))):
    name = "laddered"
    peer = f"{HERE}:ByNumpy"

    def ladder(self, problem, target):
        return (
            _rung("right", "none"),
            _rung("wrong", "half_of_k"),
            _rung("unbuilt", "compile_error"),
            _rung("unknown", "no_such_fault"),
            _rung("unheard", "none", twins=(99, 7)),
        )


class Alone(Laddered):
    """One rung, and a peer that is not installed."""

    name = "alone"
    peer = "no_such_kernel"

    def ladder(self, problem, target):
        return super().ladder(problem, target)[:1]


class Talkative(Alone):
    """It prints where it is asked for its rungs, and for the source of a config."""

    name = "talkative"

    def ladder(self, problem, target):
        sys.stdout.write("a word on rungs\n")
        return super().ladder(problem, target)

    def unit(self, problem, config, target):
        sys.stdout.write("a word on sources\n")
        return super().unit(problem, config, target)


class Twofold(Alone):
    """Two rungs that the same configs may stand for."""

    name = "twofold"

    def ladder(self, problem, target):
        return (_rung("right", "none"), _rung("as right", "none"))


class Doubled(Alone):
    """Two rungs of one name."""

    name = "doubled"

    def ladder(self, problem, target):
        return super().ladder(problem, target) * 2


class Untidy(Laddered):
    """Its rungs are words."""

    name = "untidy"

    def ladder(self, problem, target):
        return ("right", "wrong")


class Hopeless(Laddered):
    """No rung of it is right."""

    name = "hopeless"

    def ladder(self, problem, target):
        return super().ladder(problem, target)[1:4]


class Product:
    """Calls numpy on memory that others own."""

    def __init__(self, problem):
        m, n, k = problem.m, problem.n, problem.k
        self._shapes = {"a": (m, k), "b": (k, n), "c": (m, n)}

    def start(self, pointers, stream):
        a, b, c = (self._array(name, pointers[name]) for name in "abc")
        np.matmul(a, b, out=c)

    def _array(self, name, address):
        rows, columns = self._shapes[name]
        memory = (ctypes.c_float * (rows * columns)).from_address(address)
        return np.frombuffer(memory, np.float32).reshape(rows, columns)


class ByNumpy(LibraryKernel):
    """C = A·B by numpy."""

    name = "by_numpy"
    problem_type = Laddered.problem_type
    device_language = "c++"

    def toolchain(self):
        return Toolchain(compiler="numpy", version=np.__version__)

    def routine(self, problem, config, target):
        return Product(problem)

    def space(self, problem, target):
        return Space((Parameter("call", ("matmul",)),))

    def default(self, problem, target):
        return Config(call="matmul")

    def operands(self, problem):
        return Laddered().operands(problem)

    def reference(self, problem, inputs, xp):
        return Laddered().reference(problem, inputs, xp)

    def tolerance(self, problem):
        return Laddered().tolerance(problem)

    def cost(self, problem):
        return Laddered().cost(problem)
