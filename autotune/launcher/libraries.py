"""What can be asked of arrays in well under a microsecond: those of CuPy and of torch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from autotune.device.gpus import require_cupy

Same = Callable[..., bool]  # of arrays, as many as it was made for


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A library whose arrays are known at a glance.

    Attributes:
        types: Its plain arrays; others that derive from them may mean anything.
        address: Returns where an array lies.
        describe: Returns all but addresses that decides whether and how arrays can be multiplied:
            equal arrays are described by equal values.
        same: Returns what tells whether arrays would be described as these are, much sooner. It
            may say no where they would.
        empty: Returns what makes arrays of this shape like another, on the current stream.
        stream: Returns what returns the handle of a GPU's current stream.
    """

    types: tuple[type, ...]
    address: Callable[[Any], int]
    describe: Callable[[Sequence[Any]], Any]
    same: Callable[[Sequence[Any]], Same]
    empty: Callable[[tuple[int, ...], Any], Callable[[], Any]]
    stream: Callable[[int], Callable[[], int]]


def library_of(*arrays: Any) -> Library | None:
    """Return the library that all ``arrays`` are plain arrays of, or None."""
    for name, library in (("torch", _torch), ("cupy", _cupy)):
        if name in sys.modules and all(type(each) in library().types for each in arrays):
            return library()
    return None


def current_stream(like: Any, device: int) -> int:
    """Return the handle of a GPU's current stream in ``like``'s library, which may be any."""
    torch = sys.modules.get("torch")
    library = _torch if torch is not None and isinstance(like, torch.Tensor) else _cupy
    return library().stream(device)()


@cache
def _torch() -> Library:
    import torch

    grads = torch.is_grad_enabled

    def one(tensor: Any) -> Any:
        return (
            type(tensor),
            tensor.shape,
            tensor.stride(),
            tensor.dtype,
            tensor.get_device(),
            tensor.is_neg(),
            grads() and tensor.requires_grad,
        )

    def describe(tensors: Sequence[Any]) -> Any:
        return tuple(map(one, tensors))

    def same(tensors: Sequence[Any]) -> Same:
        check = _guards(tensors) or _by_description(describe, tensors)
        if any(each.requires_grad for each in tensors):
            return lambda *others: not grads() and check(*others)
        return check

    def empty(shape: tuple[int, ...], like: Any) -> Callable[[], Any]:
        strides = (max(1, shape[1]), 1)  # given, it is made sooner
        return partial(torch.empty_strided, shape, strides, dtype=like.dtype, device=like.device)

    def stream(device: int) -> Callable[[], int]:
        return partial(torch._C._cuda_getCurrentRawStream, device)  # noqa: SLF001 - 40 times as fast as the public way

    return Library(
        types=(torch.Tensor, torch.nn.Parameter),
        address=torch.Tensor.data_ptr,
        describe=describe,
        same=same,
        empty=empty,
        stream=stream,
    )


def _guards(tensors: Sequence[Any]) -> Same | None:
    """Return what torch itself asks before it runs what it has compiled for ``tensors``.

    In one call it compares types, dispatch keys (what is sparse, negated or on another kind of
    device has others), dtypes, devices, whether gradients are wanted, extents and strides. It
    takes no tensor twice, and is not in every torch: None then.
    """
    if len(set(map(id, tensors))) < len(tensors):
        return None
    sizes = [list(each.shape) for each in tensors]
    strides = [list(each.stride()) for each in tensors]
    try:
        from torch._C._dynamo.guards import TensorGuards

        guards = TensorGuards(*tensors, dynamic_dims_sizes=sizes, dynamic_dims_strides=strides)
    except (ImportError, TypeError):
        return None
    check: Same = guards.check
    return check


def _by_description(describe: Callable[[Sequence[Any]], Any], arrays: Sequence[Any]) -> Same:
    described = describe(arrays)
    return lambda *others: describe(others) == described


@cache
def _cupy() -> Library:
    cupy = require_cupy()
    current = cupy.cuda.get_current_stream

    def one(array: Any) -> Any:
        return type(array), array.shape, array.strides, array.dtype, array.data.device_id

    def describe(arrays: Sequence[Any]) -> Any:
        return tuple(map(one, arrays))

    return Library(
        types=(cupy.ndarray,),
        address=lambda array: int(array.data.ptr),
        describe=describe,
        same=lambda arrays: _by_description(describe, arrays),
        empty=lambda shape, like: partial(cupy.empty, shape, like.dtype),
        stream=lambda device: lambda: int(current(device).ptr),
    )
