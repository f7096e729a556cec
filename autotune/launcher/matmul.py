"""Which GEMM problem two matrices pose."""

from __future__ import annotations

from typing import NamedTuple

from autotune.errors import InvalidInput
from autotune.launcher.view import View


class Product(NamedTuple):
    """A GEMM problem and its operands as they are stored."""

    problem: dict[str, int | str]
    a: View
    b: View


def product(a: View, b: View, layout: str | None, *, out: View | None = None) -> Product:
    """Return the problem of ``a @ b``, or of matrices stored as ``layout`` says.

    Args:
        a: A matrix; M×K without a layout, else as stored.
        b: A matrix; K×N without a layout, else as stored.
        layout: ``nn``, ``nt``, ``tn`` or ``tt``: ``t`` means that the matrix that is passed
            holds the transpose, row-major: A as K×M, B as N×K.
        out: Where the product goes; None means an array of their dtype.

    Raises:
        InvalidInput: They do not fit together, or have gaps between their elements.
    """
    for matrix in (a, b):
        if len(matrix.shape) != 2:
            raise InvalidInput(f"{matrix.name} has {len(matrix.shape)} axes; a matrix has 2")
    if a.dtype != b.dtype:
        raise InvalidInput(f"a is {a.dtype} and b is {b.dtype}; they must be of one dtype")
    if a.dtype == "e4m3":
        raise InvalidInput(
            "a is e4m3, whose product is scaled; matmul takes no scale",
            hint="pass the arrays a, b, scale and c to Dispatcher.run",
        )
    if layout is None:
        layout, a, b = _found_layout(a, b)
    elif layout not in ("nn", "nt", "tn", "tt"):
        raise InvalidInput(f"layout must be nn, nt, tn or tt, not {layout!r}")
    k_a, m = a.shape if layout[0] == "t" else a.shape[::-1]
    n, k = b.shape if layout[1] == "t" else b.shape[::-1]
    if k_a != k:
        raise InvalidInput(f"a has {k_a} elements along k and b has {k}; they must agree")
    dtype = _dtype(a, out)
    fields: dict[str, int | str] = {"m": m, "n": n, "k": k, "dtype": dtype, "layout": layout}
    return Product(fields, a, b)


def _dtype(a: View, out: View | None) -> str:
    """Return the dtype of the problem, which names that of the product where it is another."""
    if out is None or out.dtype == a.dtype:
        return a.dtype
    if out.dtype != "fp32":
        raise InvalidInput(f"out is {out.dtype}; this product is {a.dtype} or fp32")
    return f"{a.dtype}-{out.dtype}"


def _found_layout(a: View, b: View) -> tuple[str, View, View]:
    letter_a, stored_a = _stored(a)
    letter_b, stored_b = _stored(b)
    return letter_a + letter_b, stored_a, stored_b


def _stored(matrix: View) -> tuple[str, View]:
    """Return a letter and the matrix as its memory holds it.

    A vector is stored both ways at once; the one with the longer rows copies in wider pieces.
    """
    rows, columns = matrix.shape
    if matrix.dense and (columns > 1 or columns >= rows):
        return "n", matrix
    flipped = matrix.transposed
    if flipped.dense:
        return "t", flipped
    raise InvalidInput(
        f"{matrix.name} has strides {matrix.strides} for shape {matrix.shape}: neither it nor "
        "its transpose is row-major without gaps",
        hint="copy it first: numpy-like libraries call that ascontiguousarray",
    )
