"""cublasLt through ctypes: the algorithms that its heuristic ranks, and a call with one of them.

The library's matrices are column-major. A row-major matrix is, as it lies in memory, the
column-major one of its transpose, so that C = A·B is asked for as Cᵀ = Bᵀ·Aᵀ: B comes first.

Products of e4m3 are asked for with fast accumulation: tensor cores keep the sums all the way, as
those of ``gemm`` do, and are not relieved of them from time to time for precision's sake.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Mapping
from functools import cache
from typing import Any

from autotune.errors import InvalidInput, ToolchainBroken, cuda_hint
from autotune.records import one_line
from kernel_space.gemm import GemmProblem

HINT = cuda_hint()
MOST_RANKS = 32
WORKSPACE_BYTES = 32 << 20  # what NVIDIA recommends for sm_90

# Values of the library's enumerations, as its headers define them.
_DTYPES = {"bf16": 14, "fp16": 2, "fp32": 0, "e4m3": 28}
_COMPUTE_FP32, _FP32 = 68, 0
_TRANSPOSE_FIRST, _TRANSPOSE_SECOND = 3, 4
_SCALE_OF_FIRST, _FAST_ACCUMULATION = 17, 25
_MOST_WORKSPACE = 1
_SUCCESS, _NOT_SUPPORTED = 0, 15

_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_size_t
_ARGUMENTS = {  # of functions that take more than ctypes would guess from what they are given
    "cublasLtMatrixLayoutCreate": (
        *(_POINTER, ctypes.c_int),
        *(ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int64),
    ),
    "cublasLtMatmulDescSetAttribute": (_POINTER, ctypes.c_int, _POINTER, _SIZE),
    "cublasLtMatmulPreferenceSetAttribute": (_POINTER, ctypes.c_int, _POINTER, _SIZE),
    "cublasLtMatmul": (*[_POINTER] * 14, _SIZE, _POINTER),
}
_ONE, _ZERO = ctypes.c_float(1.0), ctypes.c_float(0.0)


class _Ranked(ctypes.Structure):
    """An algorithm as the heuristic answers it: ``cublasLtMatmulHeuristicResult_t``."""

    _fields_ = (
        ("algorithm", ctypes.c_uint64 * 8),
        ("workspace_bytes", ctypes.c_size_t),
        ("status", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    )


class Product:
    """C = A·B for one problem by one algorithm, on the GPU that is current.

    Args:
        problem: What is computed; k and both extents of C are at least 1.
        rank: Place of the algorithm in the heuristic's list, from 0.

    Raises:
        InvalidInput: The library offers fewer algorithms.
        MemoryError: There is no room for the algorithm's workspace.
    """

    def __init__(self, problem: GemmProblem, *, rank: int) -> None:
        self._operation = _operation(problem)
        read, written = _DTYPES[problem.input_dtype], _DTYPES[problem.output_dtype]
        self._b = _matrix(read, problem.shape_b)
        self._a = _matrix(read, problem.shape_a)
        self._c = _matrix(written, (problem.m, problem.n))
        ranked = self._ranked()
        if rank >= len(ranked):
            raise InvalidInput(
                f"cublasLt offers {len(ranked)} algorithms for {problem}; none has rank {rank}"
            )
        self._chosen = ranked[rank]
        self._workspace = _Workspace(self._chosen.workspace_bytes)

    def start(self, pointers: Mapping[str, int], stream: int) -> None:
        """Start the product on ``stream``."""
        if "scale" in pointers:
            _scale(self._operation, pointers["scale"])
        result = pointers["c"], self._c.handle
        _call(
            "Matmul",
            *(_handle(), self._operation.handle),
            *(ctypes.byref(_ONE), pointers["b"], self._b.handle, pointers["a"], self._a.handle),
            *(ctypes.byref(_ZERO), *result, *result),
            ctypes.byref(self._chosen.algorithm),
            *(self._workspace.address, self._chosen.workspace_bytes, stream),
        )

    def _ranked(self) -> list[_Ranked]:
        preference = _Owned("MatmulPreference")
        preference.set(_MOST_WORKSPACE, ctypes.c_uint64(WORKSPACE_BYTES))
        found, count = (_Ranked * MOST_RANKS)(), ctypes.c_int(0)
        matrices = (each.handle for each in (self._b, self._a, self._c, self._c))
        _call(
            "MatmulAlgoGetHeuristic",
            *(_handle(), self._operation.handle, *matrices, preference.handle),
            *(MOST_RANKS, found, ctypes.byref(count)),
            also=_NOT_SUPPORTED,  # then it found none
        )
        return [each for each in found[: count.value] if each.status == _SUCCESS]


class _Owned:
    """Something that the library makes, and must destroy when it is no longer used."""

    def __init__(self, kind: str, *arguments: Any) -> None:
        self._kind = kind
        self.handle = ctypes.c_void_p()
        _call(f"{kind}Create", ctypes.byref(self.handle), *arguments)
        destroy = getattr(_library(), f"cublasLt{kind}Destroy")
        weakref.finalize(self, destroy, self.handle).atexit = False  # the driver is gone by then

    def set(self, attribute: int, value: Any) -> None:
        size = ctypes.sizeof(value)
        _call(f"{self._kind}SetAttribute", self.handle, attribute, ctypes.byref(value), size)


def version() -> str:
    """Return the version of the library, such as 13.1.0.

    Raises:
        ToolchainBroken: It cannot be loaded.
    """
    parts = [ctypes.c_int(0) for _ in range(3)]  # major, minor, patch
    for index, part in enumerate(parts):
        _call("GetProperty", index, ctypes.byref(part))
    return ".".join(str(part.value) for part in parts)


def _operation(problem: GemmProblem) -> _Owned:
    operation = _Owned("MatmulDesc", _COMPUTE_FP32, _FP32)
    operation.set(_TRANSPOSE_FIRST, ctypes.c_int32(problem.b_transposed))
    operation.set(_TRANSPOSE_SECOND, ctypes.c_int32(problem.a_transposed))
    if problem.scaled:
        operation.set(_FAST_ACCUMULATION, ctypes.c_int8(1))
    return operation


def _scale(operation: _Owned, pointer: int) -> None:
    """Let the product be multiplied by the number that lies at ``pointer`` when it runs."""
    operation.set(_SCALE_OF_FIRST, ctypes.c_void_p(pointer))


def _matrix(dtype: int, shape: tuple[int, int]) -> _Owned:
    """Describe a row-major matrix as the column-major one of its transpose."""
    rows, columns = shape
    return _Owned("MatrixLayout", dtype, columns, rows, columns)


class _Workspace:
    """Device memory that belongs to one product: two may run on two streams at a time."""

    def __init__(self, size_bytes: int) -> None:
        from cuda.bindings import driver

        self.address = 0
        if size_bytes:
            status, address = driver.cuMemAlloc(size_bytes)
            if status != driver.CUresult.CUDA_SUCCESS:
                raise MemoryError(f"no {size_bytes} bytes of workspace: {status.name}")
            self.address = int(address)
            weakref.finalize(self, driver.cuMemFree, address).atexit = False


def _call(function: str, *arguments: Any, also: int = _SUCCESS) -> None:
    """Call a function of the library, which may answer success or ``also``.

    Raises:
        InvalidInput: It answers something else.
    """
    library = _library()
    status = getattr(library, f"cublasLt{function}")(*arguments)
    if status not in (_SUCCESS, also):
        name = library.cublasLtGetStatusName(status).decode()
        raise InvalidInput(f"cublasLt{function} answers {name}")


@cache
def _handle() -> ctypes.c_void_p:
    """Return the library's handle for the GPU that is current; a lane has one GPU."""
    handle = ctypes.c_void_p()
    _call("Create", ctypes.byref(handle))
    return handle


@cache
def _library() -> ctypes.CDLL:
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib

        found = load_nvidia_dynamic_lib("cublasLt")
        library = ctypes.CDLL(found.abs_path)
    except (ImportError, RuntimeError, OSError) as error:
        reason = one_line(str(error))
        raise ToolchainBroken(f"cublasLt cannot be loaded: {reason}", hint=HINT) from error
    for name, types in _ARGUMENTS.items():
        getattr(library, name).argtypes = types
    library.cublasLtGetStatusName.restype = ctypes.c_char_p
    return library
