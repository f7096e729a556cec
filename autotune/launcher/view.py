"""Where an array lies: CuPy, torch, ``__cuda_array_interface__`` and DLPack, made alike."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from autotune.errors import InvalidInput
from autotune.records import ELEMENT_BYTES

# Names of element types by the names that numpy, ml_dtypes and torch give them.
DTYPES = {
    "bfloat16": "bf16",
    "float16": "fp16",
    "float32": "fp32",
    "float64": "fp64",
    "int32": "int32",
    "float8_e4m3fn": "e4m3",
}
_INTERFACE_DTYPES = {"<f2": "fp16", "<f4": "fp32", "<f8": "fp64", "<i4": "int32"}


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """An array in device memory.

    Attributes:
        name: What messages call it.
        pointer: Address of its first element.
        shape: Extents.
        strides: Distance between neighbours along each axis, in elements.
        dtype: ``bf16``, ``fp16``, ``fp32``, ``fp64``, ``int32`` or ``e4m3``.
        device: Index of its GPU, or None if only its address tells.
        producer: Stream on which it may still be written, or None if its owner waits.
        read_only: True if it must not be written.
        owner: What keeps the memory alive.
    """

    name: str
    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: int | None = None
    producer: int | None = None
    read_only: bool = False
    owner: Any = None

    @property
    def dense(self) -> bool:
        """True if it is row-major without gaps. Axes of one element may have any stride."""
        expected = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if extent not in (1, 0) and stride != expected:
                return 0 in self.shape
            expected *= extent
        return True

    @property
    def transposed(self) -> View:
        """The same memory with its axes in reverse order."""
        return dataclasses.replace(self, shape=self.shape[::-1], strides=self.strides[::-1])

    @property
    def bytes(self) -> int:
        """Size of a dense array of this shape, in bytes."""
        return prod(self.shape) * ELEMENT_BYTES[self.dtype]

    def overlaps(self, other: View) -> bool:
        """Return True if the two share memory; both must be dense."""
        return (
            self.pointer < other.pointer + other.bytes and other.pointer < self.pointer + self.bytes
        )


def view(name: str, array: Any) -> View:
    """Return where ``array`` lies. Nothing is copied.

    Raises:
        InvalidInput: It is not on a GPU, or of a type or kind that no kernel takes.
    """
    torch = sys.modules.get("torch")  # never imported here: whoever has a tensor has torch
    if torch is not None and isinstance(array, torch.Tensor):
        return _of_tensor(name, array, torch)
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(array, cupy.ndarray):
        return _of_cupy(name, array)
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        return _of_interface(name, array, interface)
    if hasattr(array, "__dlpack__"):
        return _of_dlpack(name, array)
    raise InvalidInput(
        f"{name} is a {type(array).__name__}, not an array on a GPU",
        hint="pass a CuPy array, a torch tensor, or anything with DLPack",
    )


def _of_tensor(name: str, tensor: Any, torch: Any) -> View:
    if tensor.device.type != "cuda":
        raise InvalidInput(f"{name} is on {tensor.device}, not on a GPU")
    if tensor.layout is not torch.strided:
        layout = str(tensor.layout).removeprefix("torch.")
        raise InvalidInput(f"{name} is {layout}; kernels read strided tensors")
    if tensor.requires_grad and torch.is_grad_enabled():
        raise InvalidInput(
            f"{name} requires a gradient, and the dispatcher computes none",
            hint="call it under torch.no_grad(), or use Dispatcher.torch_op, which has gradients",
        )
    if tensor.is_neg():
        raise InvalidInput(f"{name} is lazily negated", hint="pass tensor.resolve_neg()")
    return View(
        name=name,
        pointer=tensor.data_ptr(),
        shape=tuple(tensor.shape),
        strides=tuple(tensor.stride()),
        dtype=_dtype(name, str(tensor.dtype).removeprefix("torch.")),
        device=tensor.device.index,
        owner=tensor,
    )


def _of_cupy(name: str, array: Any) -> View:
    dtype = _dtype(name, array.dtype.name)
    return View(
        name=name,
        pointer=array.data.ptr,
        shape=array.shape,
        strides=_in_elements(name, array.strides, dtype),
        dtype=dtype,
        device=array.device.id,
        owner=array,
    )


def _of_interface(name: str, array: Any, interface: Mapping[str, Any]) -> View:
    if interface.get("mask") is not None:
        raise InvalidInput(f"{name} is a masked array")
    typestr = interface["typestr"]
    own_dtype = getattr(getattr(array, "dtype", None), "name", typestr)  # some have no typestr
    dtype = _INTERFACE_DTYPES.get(typestr) or _dtype(name, own_dtype)
    shape, strides = tuple(interface["shape"]), interface.get("strides")
    pointer, read_only = interface["data"]
    return View(
        name=name,
        pointer=pointer,
        shape=shape,
        strides=_row_major(shape) if strides is None else _in_elements(name, strides, dtype),
        dtype=dtype,
        producer=interface.get("stream"),
        read_only=read_only,
        owner=array,
    )


def _of_dlpack(name: str, array: Any) -> View:
    kind, _ = array.__dlpack_device__()
    if kind not in (2, 13):  # kDLCUDA, kDLCUDAManaged
        raise InvalidInput(f"{name} is a {type(array).__name__} that is not on a GPU")
    import cupy

    found = _of_cupy(name, cupy.from_dlpack(array))  # now it is ready on CuPy's current stream
    return dataclasses.replace(found, producer=cupy.cuda.get_current_stream(found.device).ptr)


def _dtype(name: str, own: str) -> str:
    if own not in DTYPES:
        raise InvalidInput(f"{name} has elements of {own}; allowed: {', '.join(DTYPES)}")
    return DTYPES[own]


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _in_elements(name: str, strides_bytes: tuple[int, ...], dtype: str) -> tuple[int, ...]:
    size = ELEMENT_BYTES[dtype]
    if any(stride % size for stride in strides_bytes):
        raise InvalidInput(f"{name} has strides of {strides_bytes} bytes between {dtype} elements")
    return tuple(stride // size for stride in strides_bytes)
