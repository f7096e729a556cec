"""Products on a GPU, by torch: what the tests of known calls share."""

from __future__ import annotations

LAYOUTS = ("nn", "nt", "tn", "tt")
TUNED = (*(("bf16", layout) for layout in LAYOUTS), ("fp16", "nt"), ("fp32", "nt"))
M, N, K = 256, 384, 512
NAMES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}


def assert_near(torch, found, expected, *, relative=0.01):
    """Compare by norm: both sides round sums of their own order."""
    assert found.shape == expected.shape
    assert torch.isfinite(found).all()
    error = (found.double() - expected.double()).norm() / expected.double().norm()
    assert float(error.detach()) < relative


def assert_product(torch, found, a, b):
    assert_near(torch, found, a.double() @ b.double())
