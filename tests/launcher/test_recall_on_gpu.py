"""Known calls on a real GPU: they give what the first one gave, and nothing slips past them."""

from __future__ import annotations

import logging

import pytest
from products import TUNED, K, M, N, assert_product

from autotune.device.loaded import Bound
from autotune.errors import InvalidInput
from autotune.launcher import Dispatcher

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize(("dtype", "layout"), TUNED)
def test_a_known_call_gives_what_the_careful_way_gives(torch, shared, known, drawn, dtype, layout):
    def pair():
        return drawn(M, K, layout[0], dtype), drawn(K, N, layout[1], dtype)

    def out():
        return torch.full((M, N), torch.nan, device="cuda", dtype=first[0].dtype)

    first, second = pair(), pair()
    careful = [shared._matmul(*each, None, out=out(), stream=None) for each in (first, second)]
    shared.matmul(*first)
    stored = [each if each.is_contiguous() else each.t() for each in second]
    shared.matmul(*stored, out=out(), layout=layout)
    again = known()
    assert torch.equal(again.matmul(*first, out=out()), careful[0])
    assert torch.equal(again.matmul(*second, out=out()), careful[1])
    assert torch.equal(again.matmul(*second), careful[1])
    assert torch.equal(again.matmul(*stored, out=out(), layout=layout), careful[1])
    assert_product(torch, careful[1], *second)


def test_arrays_of_cupy_are_known_too(torch, cupy, shared, known, drawn):
    left, right = drawn(M, K, dtype="fp16"), drawn(K, N, "t", "fp16")
    a, b = cupy.from_dlpack(left), cupy.from_dlpack(right)
    out = cupy.empty((M, N), cupy.float16)
    for given in (out, None):
        shared.matmul(a, b, out=given)
    out.fill(cupy.nan)
    again = known()
    made = again.matmul(a, b)
    again.matmul(a, b, out=out)
    cupy.cuda.Device().synchronize()
    for found in (made, out):
        assert_product(torch, torch.from_dlpack(found), left, right)


def test_what_is_refused_first_is_refused_later(torch, shared, drawn):
    a, b = drawn(K, K), drawn(K, K, "t")
    out = torch.empty(K, K, device="cuda", dtype=a.dtype)
    memory = torch.zeros(K * K + 64, device="cuda", dtype=a.dtype)
    for _ in range(2):
        shared.matmul(a, b, out=out)
    for _ in range(2):
        with pytest.raises(InvalidInput, match="out shares memory with a"):
            shared.matmul(a, b, out=a)
        with pytest.raises(InvalidInput, match="out shares memory with b"):
            shared.matmul(a, b, out=b.t())
        with pytest.raises(InvalidInput, match="out begins 2 bytes past"):
            shared.matmul(a, b, out=memory[1 : 1 + K * K].view(K, K))
        with pytest.raises(InvalidInput, match="a is lazily negated"):
            shared.matmul(torch._neg_view(a), b, out=out)
        with pytest.raises(InvalidInput, match="b is on cpu"):
            shared.matmul(a, b.cpu(), out=out)
        with pytest.raises(InvalidInput, match="a is sparse_coo"):
            shared.matmul(a.to_sparse(), b, out=out)
    shared.matmul(a, b, out=memory[8 : 8 + K * K].view(K, K))
    assert_product(torch, memory[8 : 8 + K * K].view(K, K), a, b)


def test_gradients_are_refused_whenever_they_are_wanted(torch, shared, drawn):
    a, b = drawn(M, K).requires_grad_(), drawn(K, N, "t")
    for _ in range(2):
        with torch.no_grad():
            assert not shared.matmul(a, b).requires_grad
        with pytest.raises(InvalidInput, match="a requires a gradient"):
            shared.matmul(a, b)


def test_a_launch_that_fails_later_falls_to_the_next_choice(
    torch, cupy, gpu_table, binaries, drawn, caplog
):
    dispatcher = Dispatcher(gpu_table, store=binaries)
    a, b = drawn(M, K), drawn(K, N, "t")
    out = torch.full((M, N), torch.nan, device="cuda", dtype=a.dtype)
    for _ in range(2):
        dispatcher.matmul(a, b, out=out)
    [plan] = dispatcher._plans.values()
    [bound] = dispatcher._recall._bound
    dispatcher._recall._bound[bound] = Bound((lambda: 701,), None)

    def start(pointers):
        raise cupy.cuda.driver.CUDADriverError(701)

    plan.program.start = start
    out.fill_(torch.nan)
    with caplog.at_level(logging.WARNING, logger="autotune.launcher"):
        for _ in range(3):
            dispatcher.matmul(a, b, out=out)
    torch.cuda.synchronize()
    assert_product(torch, out, a, b)
    reports = [r for r in caplog.records if "passed over" in r.getMessage()]
    assert len(reports) == 1
    [after] = dispatcher._plans.values()
    assert after.choice.config != plan.choice.config
