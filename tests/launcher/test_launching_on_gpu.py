"""Products on a real GPU, against a product in fp32 or fp64 of the same inputs."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from autotune.errors import InvalidInput
from autotune.launcher import Dispatcher, gpu

pytestmark = pytest.mark.gpu

SHAPES = [(128, 256, 64), (1, 1, 1), (17, 33, 65), (127, 129, 31), (300, 1000, 1112), (5, 8, 4104)]


@pytest.fixture(scope="module")
def dispatcher(binaries):
    return Dispatcher(None, store=binaries)


def filled(cupy, shape, dtype, seed):
    values = np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)
    ml_dtypes = pytest.importorskip("ml_dtypes")
    own = {"bf16": ml_dtypes.bfloat16, "fp16": np.float16, "fp32": np.float32}[dtype]
    return cupy.asarray(values.astype(own))


def keep_busy(cupy):
    """Give the current stream some milliseconds of work."""
    work = cupy.ones((4096, 4096), cupy.float32)
    for _ in range(200):
        work *= 1.0001


def assert_product(gemm, c, a, b, dtype):
    """Compare on the host, in fp64, with the kernel's own tolerance."""
    left, right, found = (x.get().astype(np.float64) for x in (a, b, c))
    (m, k), n = left.shape, right.shape[1]
    problem = gemm.problem_type(m=m, n=n, k=k, dtype=dtype)
    tolerance, expected = gemm.tolerance(problem), left @ right
    assert found.shape == (m, n)
    assert np.isfinite(found).all()
    excess = np.abs(found - expected) - tolerance.relative * np.abs(expected)
    assert excess.max(initial=0.0) <= tolerance.absolute


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32"])
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_views_in_every_layout_are_multiplied(dispatcher, cupy, gemm, dtype, layout):
    for seed, (m, n, k) in enumerate(SHAPES):
        a = filled(cupy, (m, k) if layout[0] == "n" else (k, m), dtype, seed)
        b = filled(cupy, (k, n) if layout[1] == "n" else (n, k), dtype, seed + 100)
        stored = dispatcher(a, b, layout=layout)
        a, b = (a if layout[0] == "n" else a.T), (b if layout[1] == "n" else b.T)
        assert_product(gemm, dispatcher(a, b), a, b, dtype)
        assert_product(gemm, stored, a, b, dtype)


def test_fifty_odd_shapes(dispatcher, cupy, gemm):
    chance = np.random.default_rng(7)
    for seed in range(50):
        m, n, k = (int(extent) for extent in chance.integers(1, 700, 3))
        a, b = filled(cupy, (m, k), "bf16", seed), filled(cupy, (n, k), "bf16", seed + 100)
        assert_product(gemm, dispatcher(a, b.T), a, b.T, "bf16")


def test_empty_outputs_and_empty_sums(dispatcher, cupy):
    def ones(*shape):
        return cupy.ones(shape, cupy.float16)

    assert dispatcher(ones(0, 64), ones(64, 32)).shape == (0, 32)
    assert dispatcher(ones(64, 64), ones(64, 0)).shape == (64, 0)
    out = cupy.full((64, 32), cupy.nan, cupy.float16)
    assert dispatcher(ones(64, 0), ones(0, 32), out=out) is out
    assert (out.get() == 0).all()


def test_the_inputs_stay_as_they_are(dispatcher, cupy):
    a, b = filled(cupy, (300, 200), "fp16", 0), filled(cupy, (200, 100), "fp16", 1)
    before = a.get(), b.get()
    dispatcher(a, b)
    assert (a.get() == before[0]).all()
    assert (b.get() == before[1]).all()


def test_configs_in_turn_do_not_disturb_each_other(binaries, cupy, gemm, make_table):
    """A with few stages, then B with many, then A: each call carries its own config."""
    target = gpu.target(0)
    small = {"m": 256, "n": 256, "k": 256, "dtype": "fp16", "layout": "nn"}
    large = small | {"m": 512, "n": 512, "k": 512}
    default = gemm.default(gemm.problem_type.parse(small), target)
    table = make_table(
        (small, default.replace(stages=3)), (large, default.replace(stages=4)), arch=target.arch
    )
    dispatcher = Dispatcher(table, store=binaries)
    for seed, size in enumerate((256, 512, 256, 512)):
        a, b = filled(cupy, (size, size), "fp16", seed), filled(cupy, (size, size), "fp16", 9)
        assert dispatcher.prepare(small | {"m": size, "n": size, "k": size}).source == "exact"
        assert_product(gemm, dispatcher(a, b), a, b, "fp16")


def test_clusters_of_one_call_are_not_those_of_the_next(binaries, cupy, gemm, make_table):
    """Blocks in clusters of two, then alone, then in clusters again; and nothing in between."""
    target = gpu.target(0)
    if target.arch != "sm_90a":
        pytest.skip("no clusters of blocks")
    paired = {"m": 256, "n": 256, "k": 256, "dtype": "fp16", "layout": "nn"}
    alone = paired | {"m": 512, "n": 512, "k": 512}
    default = gemm.default(gemm.problem_type.parse(paired), target)
    table = make_table(
        (paired, default.replace(cluster_m=2)),
        (alone, default.replace(cluster_m=1)),
        arch=target.arch,
    )
    dispatcher = Dispatcher(table, store=binaries)
    for seed, size in enumerate((256, 512, 256, 512, 256)):
        a, b = filled(cupy, (size, size), "fp16", seed), filled(cupy, (size, size), "fp16", 9)
        choice = dispatcher.prepare(paired | {"m": size, "n": size, "k": size})
        assert (choice.source, choice.config["cluster_m"]) == ("exact", 2 if size == 256 else 1)
        for _ in range(2):
            assert_product(gemm, dispatcher(a, b), a, b, "fp16")
        assert dispatcher(a[:0], b).shape == (0, size)


@pytest.mark.parametrize("give", ["current", "object", "handle", "protocol"])
def test_the_callers_stream_orders_the_launch(dispatcher, cupy, gemm, give):
    """The inputs are written late on the same stream: any other stream would read zeros."""
    stream = cupy.cuda.Stream(non_blocking=True)
    source_a, source_b = filled(cupy, (512, 512), "fp16", 0), filled(cupy, (512, 512), "fp16", 1)
    a, b = cupy.zeros_like(source_a), cupy.zeros_like(source_b)
    dispatcher(a, b)
    cupy.cuda.Device().synchronize()
    with stream:
        keep_busy(cupy)
        a[:], b[:] = source_a, source_b
        given = {"current": None, "object": stream, "handle": stream.ptr, "protocol": Bare(stream)}
        if give == "current":
            c = dispatcher(a, b)
    if give != "current":
        c = dispatcher(a, b, stream=given[give])
    stream.synchronize()
    assert_product(gemm, c, source_a, source_b, "fp16")


class Bare:
    """A stream that is known by the CUDA stream protocol alone."""

    def __init__(self, stream):
        self._stream = stream

    def __cuda_stream__(self):
        return 0, self._stream.ptr


class Interface:
    """An array that is known by its CUDA array interface alone."""

    def __init__(self, array, **changes):
        self._array = array
        self.dtype = array.dtype
        self.__cuda_array_interface__ = array.__cuda_array_interface__ | changes


class Capsule:
    """An array that is known by DLPack alone."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **arguments):
        return self._array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


@pytest.mark.parametrize(
    ("wrap", "dtype"),
    [
        (Interface, "fp16"),
        (Interface, "fp32"),
        (Interface, "bf16"),
        (Capsule, "fp16"),
        (Capsule, "fp32"),
    ],
)
def test_foreign_arrays_are_multiplied(dispatcher, cupy, gemm, wrap, dtype):
    a, b = filled(cupy, (130, 70), dtype, 0), filled(cupy, (90, 70), dtype, 1).T
    c = dispatcher(wrap(a), wrap(b))
    assert isinstance(c, cupy.ndarray)
    assert_product(gemm, c, a, b, dtype)


def test_sums_are_kept_as_they_are_if_there_is_room(dispatcher, cupy, gemm):
    a, b = filled(cupy, (130, 72), "fp16", 0), filled(cupy, (90, 72), "fp16", 1).T
    out = cupy.zeros((130, 90), cupy.float32)
    dispatcher(a, b, out=out)
    exact = a.astype(cupy.float64) @ b.astype(cupy.float64)
    assert float(abs(out - exact).max()) < 1e-4  # a rounding to fp16 would be 1e-3


def test_a_foreign_producer_is_waited_for(dispatcher, cupy, gemm):
    producer = cupy.cuda.Stream(non_blocking=True)
    source, b = filled(cupy, (512, 512), "fp16", 0), filled(cupy, (512, 512), "fp16", 1)
    a = cupy.zeros_like(source)
    dispatcher(a, b)
    cupy.cuda.Device().synchronize()
    with producer:
        keep_busy(cupy)
        a[:] = source
    c = dispatcher(Interface(a, stream=producer.ptr), b)
    cupy.cuda.get_current_stream().synchronize()
    assert_product(gemm, c, source, b, "fp16")


def test_what_cannot_be_read_in_place_is_refused(dispatcher, cupy):
    whole = cupy.zeros((64, 128), cupy.float16)
    b = cupy.zeros((64, 64), cupy.float16)
    with pytest.raises(InvalidInput, match="neither it nor its transpose"):
        dispatcher(whole[:, ::2], b)
    with pytest.raises(InvalidInput, match="begins 2 bytes past"):
        dispatcher(whole.ravel()[1 : 1 + 64 * 64].reshape(64, 64), b)
    with pytest.raises(InvalidInput, match="out shares memory with b"):
        dispatcher(cupy.zeros((64, 64), cupy.float16), b, out=b)


def test_a_prepared_product_can_be_captured(dispatcher, cupy, gemm):
    a, b = filled(cupy, (256, 256), "fp16", 0), filled(cupy, (256, 256), "fp16", 1)
    out = cupy.zeros((256, 256), cupy.float16)
    fields = {"m": 256, "n": 256, "k": 256, "dtype": "fp16", "layout": "nn"}
    dispatcher.prepare(fields, kernel="gemm")
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        stream.begin_capture()
        dispatcher(a, b, out=out)
        graph = stream.end_capture()
    assert (out.get() == 0).all()
    graph.launch(stream)
    stream.synchronize()
    assert_product(gemm, out, a, b, "fp16")


ODD = (777, 531, 1001)  # rows that Hopper's copy engine cannot address: they are repacked
REPEATS = 30


def odd_products(cupy, count):
    """Return inputs of one shape, different ones each time."""
    m, n, k = ODD
    return [
        (filled(cupy, (m, k), "bf16", seed), filled(cupy, (n, k), "bf16", seed + 100).T)
        for seed in range(count)
    ]


def test_streams_that_run_at_once_do_not_share_scratch(dispatcher, cupy, gemm):
    inputs = odd_products(cupy, 2)
    dispatcher(*inputs[0])
    cupy.cuda.Device().synchronize()
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in inputs]
    results = [[], []]
    for _ in range(REPEATS):
        for pair, stream, made in zip(inputs, streams, results, strict=True):
            made.append(dispatcher(*pair, stream=stream))
    cupy.cuda.Device().synchronize()
    for pair, made in zip(inputs, results, strict=True):
        assert_product(gemm, made[0], *pair, "bf16")
        assert all((each.view("uint16") == made[0].view("uint16")).all() for each in made)


def test_threads_that_launch_one_plan_do_not_share_scratch(dispatcher, cupy, gemm):
    def work(pair):
        with cupy.cuda.Stream(non_blocking=True) as stream:
            made = [dispatcher(*pair) for _ in range(REPEATS)]
            stream.synchronize()
            return made

    inputs = odd_products(cupy, 4)
    with ThreadPoolExecutor(len(inputs)) as pool:
        for pair, made in zip(inputs, pool.map(work, inputs), strict=True):
            for each in (made[0], made[-1]):
                assert_product(gemm, each, *pair, "bf16")


def test_captured_products_have_scratch_of_their_own(dispatcher, cupy, gemm):
    """Both are captured on one stream, and then run on two at once."""
    inputs, outs, graphs = odd_products(cupy, 2), [], []
    dispatcher(*inputs[0])
    cupy.cuda.Device().synchronize()
    with cupy.cuda.Stream(non_blocking=True) as capturing:
        for pair in inputs:
            outs.append(cupy.zeros((ODD[0], ODD[1]), inputs[0][0].dtype))
            capturing.begin_capture()
            for _ in range(3):
                dispatcher(*pair, out=outs[-1])
            graphs.append(capturing.end_capture())
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in graphs]
    for _ in range(REPEATS):
        for graph, stream in zip(graphs, streams, strict=True):
            graph.launch(stream)
    dispatcher(*inputs[1])  # beside them
    cupy.cuda.Device().synchronize()
    for pair, out in zip(inputs, outs, strict=True):
        assert_product(gemm, out, *pair, "bf16")


def test_run_launches_on_operands_by_name(dispatcher, cupy, gemm):
    problem = gemm.problem_type(m=100, n=50, k=30, dtype="fp16", layout="nt")
    a, b = filled(cupy, (100, 30), "fp16", 0), filled(cupy, (50, 30), "fp16", 1)
    c = cupy.full((100, 50), cupy.nan, cupy.float16)
    dispatcher.run(problem, {"a": a, "b": b, "c": c}, kernel="gemm")
    assert_product(gemm, c, a, b.T, "fp16")


class TestTorch:
    @pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
    def test_tensors_in_tensor_out(self, dispatcher, torch, dtype):
        torch.manual_seed(0)
        kind = getattr(torch, dtype)
        a = torch.rand(130, 72, device="cuda").to(kind)
        w = torch.rand(90, 72, device="cuda").to(kind)
        c = dispatcher(a, w.T)
        assert (c.dtype, c.device, c.shape) == (kind, a.device, (130, 90))
        expected = (a.double() @ w.double().T).to(kind)
        torch.testing.assert_close(c, expected, rtol=2e-2, atol=1e-3)

    def test_the_current_torch_stream_is_used(self, dispatcher, torch):
        source = torch.rand(512, 512, device="cuda").half()
        a, work = torch.zeros_like(source), torch.ones(4096, 4096, device="cuda")
        dispatcher(a, source)
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(4):
                work = work @ work * 1e-9
            a.copy_(source)
            c = dispatcher(a, source)
        stream.synchronize()
        expected = (source.double() @ source.double()).half()
        torch.testing.assert_close(c, expected, rtol=1e-2, atol=1e-2)

    def test_two_torch_streams_at_once_repack_apart(self, dispatcher, torch):
        m, n, k = ODD
        inputs = [
            (torch.rand(m, k, device="cuda").bfloat16(), torch.rand(n, k, device="cuda").bfloat16())
            for _ in range(2)
        ]
        streams = [torch.cuda.Stream() for _ in inputs]
        outs = [torch.empty(m, n, device="cuda", dtype=torch.bfloat16) for _ in inputs]
        torch.cuda.synchronize()
        for _ in range(REPEATS):
            for (a, w), stream, out in zip(inputs, streams, outs, strict=True):
                with torch.cuda.stream(stream):
                    dispatcher(a, w.T, out=out)
        torch.cuda.synchronize()
        for (a, w), out in zip(inputs, outs, strict=True):
            expected = (a.double() @ w.double().T).bfloat16()
            torch.testing.assert_close(out, expected, rtol=2e-2, atol=1e-3)

    def test_a_graph_of_torch_may_hold_a_repacked_product(self, dispatcher, torch):
        a, w = (torch.rand(300, 1001, device="cuda").bfloat16() for _ in range(2))
        out = torch.empty(300, 300, device="cuda", dtype=torch.bfloat16)
        dispatcher(a, w.T, out=out)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            dispatcher(a, w.T, out=out)
        out.zero_()
        graph.replay()
        torch.cuda.synchronize()
        expected = (a.double() @ w.double().T).bfloat16()
        torch.testing.assert_close(out, expected, rtol=2e-2, atol=1e-3)

    def test_a_tensor_that_wants_a_gradient_is_refused(self, dispatcher, torch):
        a = torch.rand(64, 64, device="cuda", requires_grad=True)
        with pytest.raises(InvalidInput, match="requires a gradient"):
            dispatcher(a, a)
        with torch.no_grad():
            assert not dispatcher(a, a).requires_grad

    def test_a_tensor_on_the_host_is_refused(self, dispatcher, torch):
        with pytest.raises(InvalidInput, match="a is on cpu, not on a GPU"):
            dispatcher(torch.zeros(2, 2), torch.zeros(2, 2))


def test_the_target_is_the_one_that_devices_measure_on():
    from autotune.device.cuda import CudaBackend

    measured = CudaBackend(0).identity.target
    assert dataclasses.asdict(gpu.target(0)) == dataclasses.asdict(measured)
