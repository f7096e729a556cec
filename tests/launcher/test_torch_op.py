"""The operator of torch on the host: a product of torch's own stands in for the kernel."""

from __future__ import annotations

import copy
import pickle

import pytest

from autotune.errors import InvalidInput

torch = pytest.importorskip("torch")

from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode  # noqa: E402 - needs torch
from torch.autograd import forward_ad  # noqa: E402 - needs torch
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402 - needs torch
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402 - needs torch
from transformer import Transformer  # noqa: E402 - needs torch

from autotune.launcher import torch_op  # noqa: E402 - needs torch
from autotune.launcher.torch_op import TorchOp, registered  # noqa: E402 - needs torch


class Host:
    """A dispatcher that takes what a kernel takes, and multiplies on the host."""

    def __init__(self):
        self.calls = 0

    def matmul(self, a, b):
        self.calls += 1
        for each in (a, b):
            assert each.dim() == 2
            assert each.is_contiguous() or each.mT.is_contiguous()
            assert each.data_ptr() % 16 == 0
            if each.requires_grad and torch.is_grad_enabled():
                raise InvalidInput("requires a gradient")
        return torch.mm(a, b)


@pytest.fixture
def host():
    return Host()


@pytest.fixture
def op(host):
    return registered(host)


def test_torch_finds_no_fault_with_it(op):
    a = torch.rand(6, 5, dtype=torch.float64, requires_grad=True)
    stored = torch.rand(7, 5, dtype=torch.float64).t()
    for b in (stored.clone().requires_grad_(), stored.contiguous().requires_grad_()):
        torch.library.opcheck(torch.ops.autotune.matmul.default, (a, b, op.by))
        assert torch.autograd.gradcheck(op.matmul, (a, b))


@pytest.mark.parametrize("leading", [(), (3,), (2, 3), (0,)])
def test_a_linear_layer_is_that_of_torch(op, leading):
    x = torch.rand(*leading, 5)
    x = x if leading else x[None]
    weight, bias = torch.rand(4, 5), torch.rand(4)
    for given in (None, bias):
        expected = torch.nn.functional.linear(x, weight, given)
        torch.testing.assert_close(op.linear(x, weight, given), expected)


def test_a_sum_of_nothing_is_zero(op):
    given = torch.rand(2, 3, 0), torch.rand(4, 0)
    torch.testing.assert_close(op.linear(*given), torch.nn.functional.linear(*given))


def test_gradients_are_those_of_torch(op, host):
    leaves = [torch.rand(2, 3, 5), torch.rand(4, 5), torch.rand(4)]
    ours = [each.clone().requires_grad_() for each in leaves]
    theirs = [each.clone().requires_grad_() for each in leaves]
    op.linear(*ours).sum().backward()  # whose gradient has strides of zero
    torch.nn.functional.linear(*theirs).sum().backward()
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.grad, other.grad)
    assert ours[1].grad.is_contiguous()
    assert host.calls == 3


def test_a_frozen_weight_costs_no_product(op, host):
    x = torch.rand(3, 5, requires_grad=True)
    op.linear(x, torch.rand(4, 5)).sum().backward()
    assert host.calls == 2


def test_what_no_kernel_reads_is_copied(op):
    whole = torch.rand(64, 128)
    for a in (whole[:, ::2], whole.flatten()[1 : 1 + 64 * 64].view(64, 64), whole[:, 3:67]):
        torch.testing.assert_close(op.matmul(a, whole), a @ whole)
    lazily = torch._neg_view(whole)
    torch.testing.assert_close(op.matmul(lazily, whole.t()), -whole @ whole.t())


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # torch's own use of it
def test_derivatives_that_it_would_lose_are_refused(op):
    a, b, along = torch.rand(3, 4), torch.rand(4, 5), torch.ones(3, 4)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(a, along)
        for other in (b, b.clone().requires_grad_()):
            with pytest.raises(InvalidInput, match="no forward-mode derivatives"):
                op.matmul(dual, other)
        torch.testing.assert_close(op.matmul(a, b), a @ b)
    with pytest.raises(InvalidInput, match="no forward-mode derivatives"):
        torch.func.jvp(lambda each: op.matmul(each, b), (a,), (along,))


class Watching(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, called, types, args=(), kwargs=None):
        self.seen.append(str(called))
        return called(*args, **kwargs or {})


def test_whatever_watches_torch_sees_the_operator(op):
    a, b = torch.rand(3, 4), torch.rand(4, 5)
    with Watching() as watching:
        op.matmul(a, b)
    traced = make_fx(lambda left: op.matmul(left, b))(a)
    assert watching.seen == ["autotune.matmul.default"]
    assert "autotune.matmul" in traced.code
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert isinstance(op.matmul(a, b), FakeTensor)


@pytest.mark.filterwarnings("ignore:There is a performance drop")  # torch loops over the batch
def test_a_transform_of_torch_is_followed(op):
    batch, b = torch.rand(2, 3, 4), torch.rand(4, 5)
    found = torch.func.vmap(lambda each: op.matmul(each, b))(batch)
    torch.testing.assert_close(found, batch @ b)


def test_what_nobody_watches_goes_straight_to_the_dispatcher(op, host, monkeypatch):
    monkeypatch.setattr(torch_op, "_op", None)
    a, b = torch.rand(3, 4), torch.rand(4, 5, requires_grad=True)
    with torch.no_grad():
        torch.testing.assert_close(op.matmul(a, b), a @ b)
        torch.testing.assert_close(op.matmul(a[:, ::2], b[::2]), a[:, ::2] @ b[::2])
    assert host.calls == 2


def test_each_dispatcher_has_its_own(op, host):
    other = Host()
    second = registered(other)
    op.matmul(torch.rand(2, 2), torch.rand(2, 2))
    second.matmul(torch.rand(2, 2), torch.rand(2, 2))
    assert (host.calls, other.calls) == (1, 1)
    assert second != op


def test_it_goes_with_a_model_that_is_copied(op):
    assert copy.deepcopy(op) == pickle.loads(pickle.dumps(op)) == op


def test_a_model_from_another_process_is_told_what_it_lacks():
    with pytest.raises(InvalidInput, match="no dispatcher 'of another process'"):
        TorchOp("of another process").matmul(torch.rand(2, 2), torch.rand(2, 2))


class Layers(torch.nn.Module):
    def __init__(self, op):
        super().__init__()
        self.op = op
        self.first, self.second = torch.nn.Linear(16, 32), torch.nn.Linear(32, 16)

    def forward(self, x):
        hidden = torch.relu(self.op.linear(x, self.first.weight, self.first.bias))
        return x + self.op.linear(hidden, self.second.weight, self.second.bias)


@pytest.mark.parametrize("dynamic", [False, True])
def test_compiling_keeps_it_whole(op, dynamic):
    layers = Layers(op)
    compiled = torch.compile(layers, fullgraph=True, backend="aot_eager", dynamic=dynamic)
    for rows in (4, 7):
        x = torch.rand(2, rows, 16)
        grads = []
        for each in (layers, compiled):
            layers.zero_grad()
            each(x).square().mean().backward()
            grads.append([p.grad.clone() for p in layers.parameters()])
        torch.testing.assert_close(compiled(x), layers(x))
        for one, other in zip(*grads, strict=True):
            torch.testing.assert_close(one, other)


def test_a_transformer_is_that_of_torch(op):
    torch.manual_seed(0)
    plain, ours = (Transformer(f, width=64) for f in (torch.nn.functional.linear, op.linear))
    ours.load_state_dict(plain.state_dict())
    x = torch.randn(2, 8, 64)
    torch.testing.assert_close(ours(x), plain(x))
    compiled = torch.compile(ours, fullgraph=True, backend="aot_eager")
    compiled(x).square().mean().backward()
    plain(x).square().mean().backward()
    for one, other in zip(ours.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-6)


def test_shapes_that_do_not_fit_are_refused_while_tracing(op):
    with pytest.raises(RuntimeError, match="@"):
        op.matmul(torch.rand(2, 3, device="meta"), torch.rand(2, 3, device="meta"))
