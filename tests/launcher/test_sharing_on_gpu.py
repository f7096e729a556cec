"""Known calls of several streams, threads, GPUs and graphs on real ones."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from products import K, M, N, assert_product

from autotune.errors import InvalidInput

pytestmark = pytest.mark.gpu


def test_streams_order_known_calls(torch, shared, known, drawn):
    """The inputs are written late on the same stream: any other stream would read zeros."""
    a, b = drawn(M, K), drawn(K, N, "t")
    late, out = torch.zeros_like(a), torch.empty(M, N, device="cuda", dtype=a.dtype)
    shared.matmul(late, b, out=out)
    again = known()
    torch.cuda.synchronize()
    for give in (False, True):
        stream, work = torch.cuda.Stream(), torch.ones(4096, 4096, device="cuda")
        late.zero_()
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            for _ in range(8):
                work = work @ work * 1e-9
            late.copy_(a)
            if not give:
                again.matmul(late, b, out=out)
        if give:
            again.matmul(late, b, out=out, stream=stream)
        stream.synchronize()
        assert_product(torch, out, a, b)


def test_threads_that_never_used_cuda_launch_what_is_known(torch, shared, drawn):
    b = drawn(K, N, "t")
    inputs = [drawn(M, K) for _ in range(8)]
    outs = [torch.full((M, N), torch.nan, device="cuda", dtype=b.dtype) for _ in inputs]
    shared.matmul(inputs[0], b, out=outs[0])
    torch.cuda.synchronize()

    def work(at):
        for _ in range(50):
            shared.matmul(inputs[at], b, out=outs[at])

    with ThreadPoolExecutor(len(inputs)) as pool:
        list(pool.map(work, range(len(inputs))))
    torch.cuda.synchronize()
    for a, out in zip(inputs, outs, strict=True):
        assert_product(torch, out, a, b)


def test_each_gpu_launches_its_own(torch, shared, drawn):
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU alone")
    pairs = [
        (drawn(M, K, device=f"cuda:{i}"), drawn(K, N, "t", device=f"cuda:{i}")) for i in (0, 1)
    ]
    for _ in range(3):
        for a, b in pairs:
            found = shared.matmul(a, b)
            torch.cuda.synchronize(a.device)
            assert found.device == a.device
            assert_product(torch, found, a, b)
    with torch.cuda.device(1):
        assert_product(torch, shared.matmul(*pairs[1]), *pairs[1])
    with pytest.raises(InvalidInput, match="several GPUs"):
        shared.matmul(pairs[0][0], pairs[1][1])


def test_a_graph_holds_known_calls_and_refuses_new_ones(torch, shared, known, drawn):
    a, b = drawn(M, K), drawn(K, N, "t")
    out = torch.empty(M, N, device="cuda", dtype=a.dtype)
    new = drawn(M, 200), drawn(200, N, "t")
    shared.matmul(a, b)
    shared.matmul(a, b, out=out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        with pytest.raises(InvalidInput, match="nothing may be loaded while a CUDA graph"):
            shared.matmul(*new, out=out)
        made = known().matmul(a, b)
        shared.matmul(a, b, out=out)
    for seed in range(2):
        torch.manual_seed(seed)
        a.uniform_(-1, 1)
        out.zero_()
        graph.replay()
        torch.cuda.synchronize()
        for found in (made, out):
            assert_product(torch, found, a, b)
