"""How many registers a config takes, before it is compiled.

Fitted to some 850 configs compiled by NVRTC 13.0 for sm_80 and sm_90a (every dtype, layout,
mechanism and copy width, most of them near the limit): of those that it lets through, none spilled.
"""

from __future__ import annotations

from kernel_space.gemm.ampere.mechanisms import TRAITS
from kernel_space.gemm.problem import GemmProblem

REGISTER_BYTES = 4
COPIES_OF_A_REGISTER = 2  # among FFMA: their addresses are computed early


def estimated_registers(
    problem: GemmProblem, *, warp: tuple[int, int], mechanism: str, copied: int, piece: int
) -> int:
    """Return about how many registers one thread needs so as not to spill.

    Args:
        problem: Its dtype says how fragments are held.
        warp: Rows and columns of the warp's tile.
        mechanism: How tiles travel; some hold them in registers on the way.
        copied: Bytes of one stage that each thread copies.
        piece: Bytes that one copy moves; a small one still takes a register.
    """
    warp_m, warp_n = warp
    traits = TRAITS[mechanism]
    sums = warp_m * warp_n // 32
    held = 0 if traits.asynchronous else copied // min(piece, REGISTER_BYTES)
    if problem.uses_tensor_cores:
        fragments = (warp_m + warp_n) // 4
        return sums + _live(mechanism, fragments, held) + traits.tensor_overhead
    fragments = (warp_m // 8 + warp_n // 4) * 4
    other = copied // piece // COPIES_OF_A_REGISTER + traits.ffma_overhead
    if mechanism == "sync2":  # FFMA takes values one by one, so a second set is hardly ever whole
        return sums + fragments + held + other
    return sums + _live(mechanism, fragments, held) + other


def _live(mechanism: str, fragments: int, held: int) -> int:
    """Return what is live beside the sums, given the registers of one set of fragments."""
    if mechanism == "sync1":  # pieces are stored before fragments are read
        return max(fragments, held)
    return TRAITS[mechanism].fragment_sets * fragments + held
