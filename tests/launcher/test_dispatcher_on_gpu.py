"""Known calls on a real GPU: they give what the first one gave, and nothing slips past them."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest
from transformer import Transformer

from autotune.device.loaded import Bound
from autotune.errors import InvalidInput
from autotune.launcher import Dispatcher, gpu
from autotune.records import load_kernel

pytestmark = pytest.mark.gpu

LAYOUTS = ("nn", "nt", "tn", "tt")
TUNED = (*(("bf16", layout) for layout in LAYOUTS), ("fp16", "nt"), ("fp32", "nt"))
CUBE = {"m": 512, "n": 512, "k": 512}  # every other size takes its config: few are compiled
M, N, K = 256, 384, 512
NAMES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}


@pytest.fixture(scope="module")
def table(make_table):
    """One config for each dtype and layout, and a second one to fall to where it fails."""
    kernel, target = load_kernel("gemm"), gpu.target(0)
    problems = [CUBE | {"dtype": dtype, "layout": layout} for dtype, layout in TUNED]
    answers = [
        (problem, kernel.default(kernel.problem_type.parse(problem), target))
        for problem in problems
    ]
    second, config = answers[TUNED.index(("bf16", "nt"))]
    config = config.replace(stages=4 if config["stages"] == 3 else 3)
    answers.append((second | {"m": 4096, "n": 4096, "k": 4096}, config))
    return make_table(*answers, arch=target.arch)


@pytest.fixture(scope="module")
def shared(table, binaries):
    return Dispatcher(table, store=binaries)


@pytest.fixture
def known(shared, monkeypatch):
    """The dispatcher, which from ``known()`` on answers known calls alone."""

    def only():
        monkeypatch.setattr(shared, "_matmul", _unknown)
        return shared

    yield only
    monkeypatch.undo()


def _unknown(*arguments, **named):
    raise AssertionError("this call took the careful way")


@pytest.fixture
def drawn(torch):
    """Draw a tensor on the GPU as a matrix of these extents, stored transposed for ``t``."""
    generator = torch.Generator("cuda").manual_seed(0)

    def draw(rows, columns, letter="n", dtype="bf16", device="cuda"):
        kind = getattr(torch, NAMES[dtype])
        shape = (rows, columns) if letter == "n" else (columns, rows)
        values = torch.rand(shape, device="cuda", generator=generator).mul_(2).sub_(1)
        stored = values.to(device, kind)
        return stored if letter == "n" else stored.t()

    return draw


def assert_near(torch, found, expected, *, relative=0.01):
    """Compare by norm: both sides round sums of their own order."""
    assert found.shape == expected.shape
    assert torch.isfinite(found).all()
    error = (found.double() - expected.double()).norm() / expected.double().norm()
    assert float(error.detach()) < relative


def assert_product(torch, found, a, b):
    assert_near(torch, found, a.double() @ b.double())


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


def test_a_launch_that_fails_later_falls_to_the_next_choice(
    torch, cupy, table, binaries, drawn, caplog
):
    dispatcher = Dispatcher(table, store=binaries)
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


@pytest.fixture
def models(torch, shared):
    """A small transformer by torch, and the same with every product by the operator."""
    torch.manual_seed(0)
    made = [
        Transformer(linear).to("cuda", torch.bfloat16)
        for linear in (torch.nn.functional.linear, shared.torch_op().linear)
    ]
    made[1].load_state_dict(made[0].state_dict())
    x = torch.randn(2, 128, 512, device="cuda", dtype=torch.bfloat16)
    return *made, x


class TestTransformer:
    def test_eager_is_as_torch_with_its_gradients(self, torch, models):
        plain, ours, x = models
        assert_near(torch, ours(x), plain(x), relative=0.02)
        for model in (plain, ours):
            model(x).float().square().mean().backward()
        for one, other in zip(ours.parameters(), plain.parameters(), strict=True):
            assert_near(torch, one.grad, other.grad, relative=0.05)

    @pytest.mark.filterwarnings("ignore")  # compiling warns of what torch itself calls
    @pytest.mark.parametrize("backend", ["inductor", "aot_eager"])
    def test_compiled_whole_it_is_as_eager(self, torch, models, backend):
        _, ours, x = models
        compiled = torch.compile(ours, fullgraph=True, backend=backend)
        with torch.set_grad_enabled(backend == "aot_eager"):
            found = compiled(x)
            assert_near(torch, found, ours(x), relative=0.02)
        if backend == "aot_eager":
            found.float().square().mean().backward()
            grads = [p.grad.clone() for p in ours.parameters()]
            ours.zero_grad()
            ours(x).float().square().mean().backward()
            for one, other in zip(grads, ours.parameters(), strict=True):
                assert_near(torch, one, other.grad, relative=0.02)

    def test_a_graph_replays_it(self, torch, models):
        plain, ours, x = models
        with torch.no_grad():
            ours(x)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                found = ours(x)
            for seed in range(2):
                torch.manual_seed(seed)
                x.normal_()
                graph.replay()
                torch.cuda.synchronize()
                assert_near(torch, found, ours(x), relative=0.002)
                assert_near(torch, found, plain(x), relative=0.02)
