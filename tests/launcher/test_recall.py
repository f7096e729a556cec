"""Calls that were made before: launched at once, and no less safely, without a GPU."""

from __future__ import annotations

import dataclasses
import threading

import pytest

from autotune.errors import InvalidInput
from autotune.launcher import Dispatcher, recall
from autotune.launcher.libraries import Library

SQUARE = {"m": 64, "n": 64, "k": 64, "dtype": "fp16", "layout": "nn"}
CURRENT = 7


@pytest.fixture(autouse=True)
def _glance(monkeypatch, foreign, stand_in):
    """Make the arrays of these tests as well known as those of CuPy."""

    def seen(array):
        return {**array.__cuda_array_interface__, "data": array.read_only}

    def describe(arrays):
        return str([seen(each) for each in arrays])

    def same(arrays):
        known = describe(arrays)
        return lambda *others: describe(others) == known

    library = Library(
        types=(foreign,),
        address=lambda array: array.pointer,
        describe=describe,
        same=same,
        empty=lambda shape, like: lambda: foreign(shape),
        stream=lambda device: lambda: CURRENT,
    )
    monkeypatch.setattr(recall, "library_of", lambda *arrays: library)


@pytest.fixture
def dispatcher(gemm, make_table, target, binaries):
    default = gemm.default(gemm.problem_type.parse(SQUARE), target)
    large = SQUARE | {"m": 4096, "n": 4096, "k": 4096}
    answers = ((SQUARE, default.replace(stages=2)), (large, default.replace(stages=4)))
    return Dispatcher(make_table(*answers), store=binaries)


@pytest.fixture
def square(foreign):
    return lambda **changes: foreign((64, 64), **changes)


def test_the_same_call_on_other_arrays_is_only_launched(stand_in, dispatcher, square, monkeypatch):
    dispatcher.matmul(square(), square(), out=square())
    monkeypatch.setattr(dispatcher, "_matmul", None)  # the careful way is closed
    a, b, out = square(), square(), square()
    assert dispatcher.matmul(a, b, out=out) is out
    first, second = stand_in.started
    assert second[:2] == first[:2]
    assert second[2] == {"a": a.pointer, "b": b.pointer, "c": out.pointer}


def test_what_was_packed_for_addresses_serves_again(stand_in, dispatcher, square):
    a, b, out, other = square(), square(), square(), square()
    for given in (out, other, out, other, out):
        dispatcher.matmul(a, b, out=given)
    assert stand_in.bound == 2
    last = [pointers["c"] for *_, pointers in stand_in.started]
    assert last == [each.pointer for each in (out, other, out, other, out)]


def test_other_arrays_at_the_same_addresses_are_told_apart(stand_in, dispatcher, square, foreign):
    a, b, out = square(), square(), square()
    half = foreign((32, 64), pointer=a.pointer), foreign((32, 64), pointer=out.pointer)
    for _ in range(3):
        dispatcher.matmul(a, b, out=out)
        dispatcher.matmul(half[0], b, out=half[1])
    grids = [launch.arguments for _, launch, _ in stand_in.started]
    assert grids[::2] == [grids[0]] * 3
    assert grids[1::2] == [grids[1]] * 3
    assert grids[0] != grids[1]
    assert len(stand_in.streams) == 4


def test_libraries_that_share_memory_are_both_known(
    stand_in, dispatcher, square, foreign, monkeypatch
):
    """What one of them asks of its arrays those of the other may not have."""

    class Other(foreign):
        own = True

    plain = recall.library_of()
    other = dataclasses.replace(
        plain, types=(Other,), same=lambda _: lambda *arrays: all(each.own for each in arrays)
    )
    monkeypatch.setattr(recall, "library_of", lambda a, *_: other if type(a) is Other else plain)
    ones = square(), square(), square()
    others = [Other((64, 64), pointer=each.pointer) for each in ones]
    for a, b, out in (ones, others):
        dispatcher.matmul(a, b, out=out)
    monkeypatch.setattr(dispatcher, "_matmul", None)  # the careful way is closed
    for a, b, out in (ones, others, ones, others):
        assert dispatcher.matmul(a, b, out=out) is out


def test_it_goes_to_the_stream_that_is_given_or_current(stand_in, dispatcher, square):
    a, b, out = square(), square(), square()
    for stream in (None, None, 3, 4, None):
        dispatcher.matmul(a, b, out=out, stream=stream)
    assert stand_in.streams == [CURRENT, 3, 4, CURRENT]


def test_a_product_is_made_each_time(stand_in, dispatcher, square):
    a, b = square(), square()
    made = [dispatcher.matmul(a, b, stream=stream) for stream in (None, None, 3)]
    assert len({each.pointer for each in made}) == 3
    assert stand_in.streams == [CURRENT]  # for another stream memory is made with care
    assert [pointers["c"] for *_, pointers in stand_in.started] == [c.pointer for c in made]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (lambda a, b: {"pointer": a.pointer}, "out shares memory with a"),
        (lambda a, b: {"pointer": b.pointer + 4096}, "out shares memory with b"),
        (lambda a, b: {"pointer": b.pointer - 4096}, "out shares memory with b"),
        (lambda a, b: {"pointer": a.pointer + (1 << 20) + 8}, "out begins 8 bytes past"),
        (lambda a, b: {"pointer": 0}, "out has no memory"),
        (lambda a, b: {"data": (1 << 45, True)}, "out may not be written"),
        (lambda a, b: {"strides": (1, 64)}, "row-major"),
        (lambda a, b: {"dtype": "int32"}, "out is int32"),
    ],
)
def test_what_is_refused_first_is_refused_later(stand_in, dispatcher, square, place, message):
    a, b = square(), square()
    for _ in range(2):
        dispatcher.matmul(a, b, out=square())
    for _ in range(2):
        with pytest.raises(InvalidInput, match=message):
            dispatcher.matmul(a, b, out=square(**place(a, b)))
    assert len(stand_in.started) == 2


def test_neighbours_in_memory_do_not_overlap(stand_in, dispatcher, square):
    a, b = square(), square()
    dispatcher.matmul(a, b, out=square())
    for after in (a.pointer + 8192, a.pointer - 8192):
        dispatcher.matmul(a, b, out=square(pointer=after))
    dispatcher.matmul(a, a, out=square())
    assert len(stand_in.streams) == 3


def test_another_gpu_takes_the_careful_way(stand_in, dispatcher, square):
    a, b, out = square(), square(), square()
    for device in (0, 1, 1, 0):
        stand_in.device = device  # that is current: the arrays stay where they are
        dispatcher.matmul(a, b, out=out)
    assert len(stand_in.started) == 4
    assert stand_in.streams == [CURRENT]


def test_a_layout_tells_calls_apart(stand_in, dispatcher, square):
    a, b, out = square(), square(), square()
    for layout in ("nn", "nt", "nn", "nt", None):
        dispatcher.matmul(a, b, out=out, layout=layout)
    assert stand_in.streams == [CURRENT, CURRENT]
    with pytest.raises(InvalidInput, match="layout must be"):
        dispatcher.matmul(a, b, out=out, layout=["nn"])


def test_a_launch_with_scratch_is_made_with_care(stand_in, dispatcher, square, monkeypatch):
    monkeypatch.setattr(stand_in, "repeats", False)
    for _ in range(3):
        dispatcher.matmul(square(), square(), out=square())
    assert (len(stand_in.started), stand_in.streams) == (3, [])


def test_a_config_that_fails_later_is_passed_over_once(stand_in, dispatcher, square, caplog):
    a, b, out = square(), square(), square()
    for _ in range(2):
        dispatcher.matmul(a, b, out=out)
    first = stand_in.started[0][0]
    stand_in.refuse.add(first.key)
    for _ in range(3):
        assert dispatcher.matmul(a, b, out=out) is out
    after = [binary.key for binary, *_ in stand_in.started[2:]]
    assert len(set(after)) == 1
    assert first.key not in after
    assert len(stand_in.streams) == 3  # once before the failure, twice after it
    reports = [r for r in caplog.records if "out of resources" in r.getMessage()]
    assert len(reports) == 1


def test_a_new_problem_is_refused_while_a_graph_is_captured(stand_in, dispatcher, square, foreign):
    a, b, out = square(), square(), square()
    stand_in.capturing = True
    with pytest.raises(InvalidInput, match="nothing may be loaded while a CUDA graph is captured"):
        dispatcher.matmul(a, b, out=out)
    with pytest.raises(InvalidInput, match="is new"):
        dispatcher.prepare(SQUARE)
    stand_in.capturing = False
    dispatcher.prepare(SQUARE)
    stand_in.capturing = True
    for _ in range(2):
        dispatcher.matmul(a, b, out=out)
    assert len(stand_in.started) == 2


def test_memory_is_bounded(stand_in, dispatcher, square, foreign, monkeypatch):
    monkeypatch.setattr(recall, "MOST_KEPT", 4)
    for k in range(16, 160, 16):
        for _ in range(2):
            a, b = foreign((64, k)), foreign((k, 64))
            dispatcher.matmul(a, b, out=square())
    kept = dispatcher._recall
    assert 0 < len(kept._calls) <= 4
    assert 0 < len(kept._seen) <= 4
    assert 0 < len(kept._bound) <= 4
    assert len(stand_in.streams) == 9


def test_threads_share_what_is_known(stand_in, dispatcher, foreign):
    shapes = [(64, 16 * k) for k in range(1, 9)]
    expected, failed = [], []

    def work():
        try:
            for shape in shapes * 5:
                a, b, out = foreign(shape), foreign(shape[::-1]), foreign((64, 64))
                expected.append((a.pointer, b.pointer, out.pointer))
                dispatcher.matmul(a, b, out=out)
        except Exception as error:  # noqa: BLE001 - the main thread tells
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failed == []
    started = [tuple(pointers.values()) for *_, pointers in stand_in.started]
    assert sorted(started) == sorted(expected)
