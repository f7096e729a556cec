"""A persistent GEMM in Triton to measure against: through TMA, else through masked loads.

As many programs as the device holds walk through the tiles of C, bands of rows at a time, so
that a tile's stores lie beside the next one's loads. ``triton_gemm.py`` launches it.
"""

# Triton knows types from the arguments, and each of these is one of a kernel's parameters:
# ruff: noqa: ANN001, ANN202, PLR0913, PLR0917

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _place(tile, m, n, bm: tl.constexpr, bn: tl.constexpr, band: tl.constexpr):
    """Return the first row and column of a tile, counted down and up in bands of rows."""
    tiles_n = tl.cdiv(n, bn)
    before = tile // (band * tiles_n) * band
    height = min(tl.cdiv(m, bm) - before, band)
    within = tile - before * tiles_n
    return (before + within % height) * bm, (within // height) * bn


@triton.jit(do_not_specialize=["m", "n", "k"])
def by_tma(
    a,
    b,
    c,
    m,
    n,
    k,
    a_t: tl.constexpr,
    b_t: tl.constexpr,
    bm: tl.constexpr,
    bn: tl.constexpr,
    bk: tl.constexpr,
    band: tl.constexpr,
    halves: tl.constexpr,
    flat: tl.constexpr,
) -> None:
    """C = A·B through tensor descriptors of the matrices as they are stored."""
    tiles = tl.cdiv(m, bm) * tl.cdiv(n, bn)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=flat):
        row, column = _place(tile, m, n, bm, bn, band)
        sums = tl.zeros((bm, bn), tl.float32)
        for step in range(tl.cdiv(k, bk)):
            depth = step * bk
            left = a.load([depth, row]).T if a_t else a.load([row, depth])
            right = b.load([column, depth]).T if b_t else b.load([depth, column])
            sums = tl.dot(left, right, sums)
        if halves:  # half a tile waits in shared memory, which leaves room for another stage
            pair = tl.permute(tl.reshape(sums, (bm, 2, bn // 2)), (0, 2, 1))
            first, second = tl.split(pair)
            c.store([row, column], first.to(c.dtype))
            c.store([row, column + bn // 2], second.to(c.dtype))
        else:
            c.store([row, column], sums.to(c.dtype))


@triton.jit(do_not_specialize=["m", "n", "k"])
def by_pointers(
    a,
    b,
    c,
    m,
    n,
    k,
    a_t: tl.constexpr,
    b_t: tl.constexpr,
    bm: tl.constexpr,
    bn: tl.constexpr,
    bk: tl.constexpr,
    band: tl.constexpr,
    unit: tl.constexpr,
) -> None:
    """C = A·B through masked loads, for rows that TMA cannot address; extents are in units.

    A unit of several elements tells the compiler how wide its copies may be.
    """
    m, n, k = m * unit, n * unit, k * unit
    tiles = tl.cdiv(m, bm) * tl.cdiv(n, bn)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0)):
        row, column = _place(tile, m, n, bm, bn, band)
        rows, columns, steps = row + tl.arange(0, bm), column + tl.arange(0, bn), tl.arange(0, bk)
        row_a, deep_a = (1, m) if a_t else (k, 1)
        deep_b, column_b = (1, k) if b_t else (n, 1)
        # A row that is out of range reads one that is not; what comes of it is not stored.
        left = a + (rows % m)[:, None] * row_a + steps[None, :] * deep_a
        right = b + steps[:, None] * deep_b + (columns % n)[None, :] * column_b
        sums = tl.zeros((bm, bn), tl.float32)
        for step in range(tl.cdiv(k, bk)):
            rest = k - step * bk
            some = tl.load(left, mask=steps[None, :] < rest, other=0.0)
            more = tl.load(right, mask=steps[:, None] < rest, other=0.0)
            sums = tl.dot(some, more, sums)
            left += bk * deep_a
            right += bk * deep_b
        inside = (rows < m)[:, None] & (columns < n)[None, :]
        place = rows.to(tl.int64)[:, None] * n + columns[None, :]
        tl.store(c + place, sums.to(c.dtype.element_ty), mask=inside)
