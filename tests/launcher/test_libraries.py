"""What a glance at tensors of torch tells apart."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from autotune.launcher.libraries import library_of  # noqa: E402 - needs torch


def tensor():
    return torch.zeros(4, 6)


@pytest.fixture
def describe():
    return library_of(tensor()).describe


OTHERS = {
    "extents": lambda: torch.zeros(6, 4),
    "strides": lambda: torch.zeros(6, 4).t(),
    "a type": lambda: torch.zeros(4, 6, dtype=torch.half),
    "a kind": lambda: tensor().to_sparse(),
    "a sign": lambda: torch._neg_view(tensor()),
    "a gradient": lambda: tensor().requires_grad_(),
}


@pytest.mark.parametrize("made", [False, True])
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_what_counts_is_told_apart(describe, other, made):
    usual = [tensor(), tensor(), None if made else tensor()]
    seen = {describe(*usual), describe(tensor(), *usual[1:])}
    assert len(seen) == 1
    for place in range(2 if made else 3):
        arrays = usual.copy()
        arrays[place] = other()
        seen.add(describe(*arrays))
    whose = 1 if other in (OTHERS["a sign"], OTHERS["a gradient"]) else len(usual) - made
    assert len(seen) == 1 + whose


def test_a_gradient_counts_only_where_it_is_computed(describe):
    wants = torch.nn.Parameter(tensor())
    with torch.no_grad():
        assert describe(wants, wants, None) == describe(tensor(), tensor(), None)
    assert describe(wants, wants, None) != describe(tensor(), tensor(), None)


def test_only_plain_tensors_are_known():
    class Own(torch.Tensor):
        pass

    assert library_of(tensor(), torch.nn.Parameter(tensor())) is library_of(tensor())
    assert library_of(tensor(), tensor().as_subclass(Own)) is None
    assert library_of(tensor(), [[1.0]]) is None
