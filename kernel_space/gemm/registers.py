"""How many registers a config takes, before it is compiled."""

from __future__ import annotations

from kernel_space.gemm.problem import GemmProblem


def estimated_registers(
    problem: GemmProblem, *, warp: tuple[int, int], mechanism: str, copied: int, piece: int
) -> int:
    """Return an upper estimate of the registers of one thread.

    Args:
        problem: Its dtype decides how fragments are held.
        warp: Rows and columns of the warp's tile.
        mechanism: How tiles travel; staged ones pass through registers.
        copied: Bytes of one stage that each thread copies.
        piece: Bytes that one copy moves.
    """
    warp_m, warp_n = warp
    sets = 1 if mechanism == "sync1" else 2
    sums = warp_m * warp_n // 32
    if problem.uses_tensor_cores:
        fragments = sets * (warp_m + warp_n) // 4
    else:
        fragments = sets * (warp_m // 8 + warp_n // 4) * 4
    held = 0 if mechanism == "cp_async" else copied // min(piece, 4)
    return sums + fragments + (held // 2 if mechanism == "sync2" else 0) + 30
