"""GPUs that spaces are tested for, on machines without them."""

from __future__ import annotations

from autotune.records import Target

A100 = Target(
    arch="sm_80",
    sm_count=108,
    shared_bytes_per_block=166912,
    shared_bytes_per_sm=167936,
    l2_bytes=40 << 20,
)
RTX_3090 = Target(
    arch="sm_86",
    sm_count=82,
    shared_bytes_per_block=101376,
    shared_bytes_per_sm=102400,
    l2_bytes=6 << 20,
)
H200 = Target(
    arch="sm_90a",
    sm_count=132,
    shared_bytes_per_block=232448,
    shared_bytes_per_sm=233472,
    l2_bytes=60 << 20,
)
