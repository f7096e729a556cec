"""Find a unit's binary in the store, or make it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from autotune.errors import AutotuneError, InvalidInput
from autotune.records import Binary, Failure, SourceUnit, Status, digest
from autotune.toolchain.compiler import Compiled, Compiler, compile_error
from autotune.toolchain.recipe import Recipe
from autotune.toolchain.store import BinaryStore

ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """What a compiler answered, and the time that it took, in ns."""

    outcome: Compiled | Failure
    compile_ns: int


def timed_compile(compiler: Compiler, unit: SourceUnit, arch: str) -> Timed:
    """Compile ``unit`` once, in this process."""
    started = time.perf_counter_ns()
    try:
        outcome = compiler.compile(unit, arch)
    except (InvalidInput, OSError) as error:  # a source vanished or became unkeyable
        outcome = refused(error)
    return Timed(outcome=outcome, compile_ns=time.perf_counter_ns() - started)


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
    """
    for _ in range(ATTEMPTS):
        try:
            made_of = recipe.ingredients()
            stored = store.find(key := digest(made_of))
            if stored is not None:
                return stored
            made = compile_once()
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
