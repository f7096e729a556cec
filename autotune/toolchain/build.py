"""Find a unit's binary in the store, or make it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from autotune.errors import AutotuneError, InvalidInput, ToolchainBroken
from autotune.records import Binary, Failure, SourceUnit, Status, digest
from autotune.toolchain.compiler import Compiled, Compiler, compile_error
from autotune.toolchain.machine import require_space, sound_machine
from autotune.toolchain.recipe import Recipe
from autotune.toolchain.store import BinaryStore

ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A ``ToolchainBroken`` as a value, to be raised in the process that asked."""

    message: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """What a compiler answered, and the time that it took, in ns."""

    outcome: Compiled | Failure | Broken
    compile_ns: int


def timed_compile(compiler: Compiler, unit: SourceUnit, arch: str) -> Timed:
    """Compile ``unit`` once, in this process."""
    started = time.perf_counter_ns()
    outcome = _outcome(compiler, unit, arch)
    return Timed(outcome=outcome, compile_ns=time.perf_counter_ns() - started)


def _outcome(compiler: Compiler, unit: SourceUnit, arch: str) -> Compiled | Failure | Broken:
    try:
        with sound_machine():
            outcome = compiler.compile(unit, arch)
            if isinstance(outcome, Failure):
                require_space(outcome)
    except ToolchainBroken as error:
        return Broken(message=error.message, hint=error.hint)
    except (InvalidInput, OSError) as error:  # a source vanished or became unkeyable
        return refused(error)
    return outcome


def refused(error: Exception) -> Failure:
    """Return the failure of a unit that cannot be keyed or read."""
    return compile_error(error.message if isinstance(error, AutotuneError) else str(error))


def compile_now(
    compiler: Compiler, store: BinaryStore, unit: SourceUnit, arch: str
) -> Binary | Failure:
    """Return the binary of ``unit``; compile it in this process if it is not stored.

    Raises:
        ToolchainBroken: There is no compiler, or the store cannot be written.
    """
    return build(
        Recipe(compiler=compiler, unit=unit, arch=arch),
        store,
        lambda: timed_compile(compiler, unit, arch),
    )


def build(
    recipe: Recipe, store: BinaryStore, compile_once: Callable[[], Timed]
) -> Binary | Failure:
    """Return the stored binary of ``recipe``, or make it with ``compile_once`` and store it.

    A source that is edited while it is compiled would put an image under the key of another
    text, or fail half written, so that the files are read again afterwards.

    Raises:
        ToolchainBroken: The compiler cannot work on this machine, or the store not be written.
    """
    for _ in range(ATTEMPTS):
        try:
            made_of = recipe.ingredients()
            stored = store.find(key := digest(made_of))
            if stored is not None:
                return stored
            made = compile_once()
            if isinstance(made.outcome, Broken):
                raise ToolchainBroken(made.outcome.message, made.outcome.hint)
            if recipe.ingredients() != made_of:
                continue
            if isinstance(made.outcome, Failure):
                return made.outcome
        except (InvalidInput, OSError) as error:
            return refused(error)
        name = f"image{recipe.compiler.suffix}"
        return store.publish(
            key, made.outcome, name=name, compile_ns=made.compile_ns, made_of=made_of
        )
    return Failure(
        status=Status.COMPILE_ERROR,
        message=f"{recipe.unit.main}: its sources changed {ATTEMPTS} times while they compiled",
    )
