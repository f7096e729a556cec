"""Products that were launched before: asked for again, they cost little of the host's time.

A call is known by all that the careful way looks at but the addresses: extents, strides, types,
GPUs, and whether a tensor wants a gradient. What is known was found sound, so that only addresses
are left to check, and what was packed for addresses is kept too. Whatever is in doubt is not
answered here: the careful way then launches it, or says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from autotune.launcher import gpu
from autotune.launcher.libraries import Library, library_of
from autotune.launcher.operands import ALIGNMENT_BYTES
from autotune.launcher.view import View

MOST_KEPT = 4096  # of calls, and of addresses on streams

Arrays = tuple[Any, Any, Any]
Addresses = tuple[int, int, int]
Bound = tuple[Callable[[], int], ...]  # what launches, step by step; none if that is not safe


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One kind of call, whatever the addresses.

    Attributes:
        program: What is launched.
        device: The GPU.
        context: The CUDA context that the program is loaded in.
        sizes: Bytes of a, b and out.
        empty: Makes an array for the product like ``a``, on the current stream of its library.
        stream: Returns the handle of that stream.
    """

    program: gpu.Program
    device: int
    context: int
    sizes: tuple[int, int, int]
    empty: Callable[[Any], Any]
    stream: Callable[[], int]

    def apart(self, a: int, b: int, out: int) -> bool:
        """Return True if operands lie at aligned addresses, and none shares memory with out.

        It is what ``operands.check`` asks of addresses.
        """
        bytes_a, bytes_b, bytes_out = self.sizes
        if not (a and b and out) or (a | b | out) % ALIGNMENT_BYTES:
            return False
        end = out + bytes_out
        return (out >= a + bytes_a or a >= end) and (out >= b + bytes_b or b >= end)


class Recall:
    """What a dispatcher has launched. It may be shared between threads."""

    def __init__(self) -> None:
        self._libraries: dict[Any, Library] = {}
        self._calls: dict[Any, Call] = {}
        self._bound: dict[tuple[Call, Addresses, int], Bound] = {}

    def launch(self, a: Any, b: Any, out: Any, layout: Any, stream: Any) -> Any:
        """Launch as before, and return the product; or None if this takes the careful way."""
        library = self._libraries.get((type(a), type(b), type(out)))
        if library is None:
            return None
        try:
            call = self._calls[library.describe(a, b, out), layout]
            at_a, at_b = library.address(a), library.address(b)
        except (KeyError, TypeError, RuntimeError):  # new, or nothing that lies in plain memory
            return None
        if gpu.context() != call.context or (out is None and stream is not None):
            return None
        made = call.empty(a) if out is None else out
        at = (at_a, at_b, library.address(made))
        handle = call.stream() if stream is None else gpu.stream_pointer(stream, a, call.device)
        bound = self._bound.get((call, at, handle)) or self._bind(call, at, handle)
        for start in bound:
            if start():
                return None
        return made if bound else None

    def keep(
        self,
        arrays: Arrays,
        layout: Any,
        *,
        program: gpu.Program,
        views: Mapping[str, View],
        device: int,
    ) -> None:
        """Remember a launch that has just gone well, in the context that is current.

        Args:
            arrays: a, b and out, as they were passed: out is None if it was made.
            layout: As it was passed.
            program: What was launched.
            views: Where a, b and c, the product, lie.
            device: The GPU.
        """
        library = library_of(*(each for each in arrays if each is not None))
        if library is None or not program.repeats:
            return
        call = Call(
            program=program,
            device=device,
            context=gpu.context(),
            sizes=(views["a"].bytes, views["b"].bytes, views["c"].bytes),
            empty=library.empty(views["c"].shape),
            stream=library.stream(device),
        )
        self._libraries[tuple(map(type, arrays))] = library
        _bounded(self._calls)[library.describe(*arrays), layout] = call

    def forget(self) -> None:
        """Take the careful way again for every call: one of them cannot be launched any more."""
        self._calls.clear()
        self._bound.clear()

    def _bind(self, call: Call, at: Addresses, stream: int) -> Bound:
        if not call.apart(*at):
            return ()
        bound = call.program.bound(dict(zip("abc", at, strict=True)), stream)
        _bounded(self._bound)[call, at, stream] = bound
        return bound


def _bounded(memory: dict[Any, Any]) -> dict[Any, Any]:
    """Return ``memory``, emptied if it is full: what is still in use comes back soon."""
    if len(memory) >= MOST_KEPT:
        memory.clear()
    return memory
