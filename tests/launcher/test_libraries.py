"""What a glance at tensors of torch tells apart."""

from __future__ import annotations

import threading
import weakref

import pytest

torch = pytest.importorskip("torch")

from autotune.launcher.libraries import library_of  # noqa: E402 - needs torch


def tensor():
    return torch.zeros(4, 6)


@pytest.fixture
def library():
    return library_of(tensor())


OTHERS = {
    "extents": lambda: torch.zeros(6, 4),
    "strides": lambda: torch.zeros(6, 4).t(),
    "a type": lambda: torch.zeros(4, 6, dtype=torch.half),
    "a kind": lambda: tensor().to_sparse(),
    "a sign": lambda: torch._neg_view(tensor()),
    "a gradient": lambda: tensor().requires_grad_(),
}


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_what_counts_is_told_apart(library, other, count):
    usual = [tensor() for _ in range(count)]
    same, described = library.same(usual), library.describe(usual)
    for arrays in (usual, [tensor(), *usual[1:]]):
        assert same(*arrays)
        assert library.describe(arrays) == described
    for place in range(count):
        arrays = usual.copy()
        arrays[place] = other()
        assert not same(*arrays)
        assert library.describe(arrays) != described


@pytest.mark.parametrize("asked", ["same", "describe"])
def test_a_gradient_counts_only_where_it_is_computed(library, asked):
    wants = [torch.nn.Parameter(tensor()), tensor()]
    with torch.no_grad():
        known, described = library.same(wants), library.describe(wants)
    for wanted in (False, True):
        with torch.set_grad_enabled(wanted):
            found = known(*wants) if asked == "same" else library.describe(wants) == described
            assert found is not wanted


def test_an_array_that_comes_twice_is_as_good_as_two(library):
    twice = [tensor()] * 2
    assert library.describe(twice) == library.describe([tensor(), tensor()])
    assert library.same(twice)(*twice)


def test_a_tensor_that_is_changed_in_place_is_another(library):
    a, b = tensor(), tensor()
    same = library.same([a, b])
    a.t_()
    assert not same(a, b)
    b.requires_grad_()
    assert not same(a.t_(), b)
    assert same(a, b.detach())


@pytest.mark.parametrize("shape", [(4, 6), (4, 1), (0, 6), (4, 0)])
def test_what_is_made_lies_as_torch_would_lay_it(library, shape):
    like = torch.zeros(6, 4, dtype=torch.half).t()
    made, expected = library.empty(shape, like)(), like.new_empty(shape)
    assert (made.shape, made.dtype, made.device) == (expected.shape, expected.dtype, like.device)
    assert made.stride() == expected.stride()


def test_no_tensor_is_kept_alive(library):
    a, b = tensor(), tensor()
    known = library.same([a, b]), library.describe([a, b])
    gone = weakref.ref(a)
    del a
    assert gone() is None
    assert known


def test_threads_and_modes_change_nothing_but_gradients(library):
    a, b = tensor(), tensor()
    same = library.same([a, b])
    found = []
    thread = threading.Thread(target=lambda: found.append(same(a, b)))
    thread.start()
    thread.join()
    with torch.no_grad():
        found.append(same(a, b))
    assert found == [True, True]


def test_only_plain_tensors_are_known():
    class Own(torch.Tensor):
        pass

    assert library_of(tensor(), torch.nn.Parameter(tensor())) is library_of(tensor())
    assert library_of(tensor(), tensor().as_subclass(Own)) is None
    assert library_of(tensor(), [[1.0]]) is None
