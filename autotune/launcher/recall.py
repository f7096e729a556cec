"""Products that were launched before: asked for again, they cost little of the host's time.

A call is known by all that the careful way looks at but the addresses: extents, strides, types,
GPUs, and whether a tensor wants a gradient. What is known was found sound, so that only addresses
are left to check, and what was packed for addresses is kept too. A call with addresses that were
seen before is not even described: a glance tells whether the arrays there are still the same.
Whatever is in doubt is not answered here: the careful way then launches it, or says what is wrong.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autotune.device.loaded import Bound
from autotune.launcher import gpu
from autotune.launcher.libraries import Library, Same, library_of
from autotune.launcher.operands import check_places
from autotune.launcher.view import View

MOST_KEPT = 4096  # of calls, of addresses, and of addresses on streams


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One kind of call, whatever the addresses.

    Attributes:
        program: What is launched.
        device: The GPU.
        current: Returns this thread's GPU.
        views: a, b and c, the product, as they lay in the first such call.
        empty: Makes an array for the product, on the current stream of its library.
        stream: Returns the handle of that stream.
    """

    program: gpu.Program
    device: int
    current: Callable[[], int]
    views: Mapping[str, View]
    empty: Callable[[], Any]
    stream: Callable[[], int]

    def bound(self, pointers: Mapping[str, int], stream: int) -> Bound:
        """Return what launches on a stream for operands at these addresses.

        Raises:
            InvalidInput: The operands may not lie there.
        """
        views = self.views.items()
        there = {name: dataclasses.replace(each, pointer=pointers[name]) for name, each in views}
        check_places(there, outputs="c")
        return self.program.bound(pointers, stream)


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A call with arrays at certain addresses.

    Attributes:
        same: Tells whether arrays are described as those were.
        call: The call that it was.
        a: Address of a.
        b: Address of b.
    """

    same: Same
    call: Call
    a: int
    b: int


class Recall:
    """What a dispatcher has launched. It may be shared between threads."""

    def __init__(self) -> None:
        self._libraries: dict[type, Library] = {}
        self._calls: dict[Any, Call] = {}
        self._seen: dict[Any, Seen] = {}
        self._bound: dict[tuple[Seen, int, int], Bound] = {}

    def launch(self, a: Any, b: Any, out: Any, layout: Any, stream: Any) -> Any:
        """Launch as before, and return the product; or None if this takes the careful way.

        Raises:
            InvalidInput: The arrays lie where they must not.
        """
        try:
            library = self._libraries[type(a)]
            address = library.address
            at = type(a), address(a), address(b), 0 if out is None else address(out), layout
            seen = self._seen.get(at)
            if seen is None or not (seen.same(a, b) if out is None else seen.same(a, b, out)):
                seen = self._see(library, (a, b) if out is None else (a, b, out), at)
        except (AttributeError, KeyError, RuntimeError, TypeError):
            return None  # new, of two libraries, or nothing that lies in plain memory
        call = seen.call
        if call.current() != call.device or (out is None and stream is not None):
            return None
        made = call.empty() if out is None else out
        at_out = at[3] or address(made)
        handle = call.stream() if stream is None else gpu.stream_pointer(stream, a, call.device)
        bound = self._bound.get((seen, at_out, handle)) or self._bind(seen, at_out, handle)
        for start in bound.starts:
            if start():
                self._seen.clear()
                return None
        return made

    def keep(
        self,
        arrays: Sequence[Any],
        layout: Any,
        *,
        program: gpu.Program,
        views: Mapping[str, View],
        device: int,
    ) -> None:
        """Remember a launch that has just gone well.

        Args:
            arrays: a, b and, unless it was made, out, as they were passed.
            layout: As it was passed.
            program: What was launched.
            views: Where a, b and c, the product, lie.
            device: The GPU.
        """
        library = library_of(*arrays)
        if library is None or not program.repeats:
            return
        call = Call(
            program=program,
            device=device,
            current=gpu.device_teller(),
            views={name: dataclasses.replace(each, owner=None) for name, each in views.items()},
            empty=library.empty(views["c"].shape, arrays[0]),
            stream=library.stream(device),
        )
        self._libraries[type(arrays[0])] = library
        _bounded(self._calls)[library.describe(arrays), layout] = call

    def forget(self) -> None:
        """Take the careful way again for every call: one of them cannot be launched any more."""
        self._calls.clear()
        self._seen.clear()
        self._bound.clear()

    def _see(self, library: Library, arrays: Sequence[Any], at: Any) -> Seen:
        """Return what is known of ``arrays`` by their description, and remember where they lie."""
        call = self._calls[library.describe(arrays), at[-1]]
        seen = Seen(library.same(arrays), call, at[1], at[2])
        _bounded(self._seen)[at] = seen
        return seen

    def _bind(self, seen: Seen, at_out: int, stream: int) -> Bound:
        with gpu.current(seen.call.device, stream):  # a thread that is new to CUDA has no context
            bound = seen.call.bound({"a": seen.a, "b": seen.b, "c": at_out}, stream)
        _bounded(self._bound)[seen, at_out, stream] = bound
        return bound


def _bounded(memory: dict[Any, Any]) -> dict[Any, Any]:
    """Return ``memory``, emptied if it is full: what is still in use comes back soon."""
    if len(memory) >= MOST_KEPT:
        memory.clear()
    return memory
