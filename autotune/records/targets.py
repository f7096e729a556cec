"""Targets by architecture, to look at a space on a machine without that GPU."""

from __future__ import annotations

from autotune.records.device import Target

_KIB, _MIB = 1 << 10, 1 << 20


def _cuda(arch: str, *, sm_count: int, shared_kib: int, l2_mib: int) -> Target:
    """Return a GPU's limits. CUDA keeps 1 KiB of shared memory of each block for itself."""
    return Target(
        arch=arch,
        sm_count=sm_count,
        shared_bytes_per_block=(shared_kib - 1) * _KIB,
        shared_bytes_per_sm=shared_kib * _KIB,
        l2_bytes=l2_mib * _MIB,
    )


TARGETS: dict[str, Target] = {
    target.arch: target
    for target in (
        _cuda("sm_80", sm_count=108, shared_kib=164, l2_mib=40),  # A100
        _cuda("sm_86", sm_count=84, shared_kib=100, l2_mib=6),  # A40
        _cuda("sm_89", sm_count=142, shared_kib=100, l2_mib=96),  # L40S
        _cuda("sm_90a", sm_count=132, shared_kib=228, l2_mib=60),  # H200, as its driver says
        _cuda("sm_100a", sm_count=148, shared_kib=228, l2_mib=126),  # B200
    )
}
