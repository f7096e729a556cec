"""A small transformer whose every product is the operator's, on a real GPU."""

from __future__ import annotations

import pytest
from products import assert_near
from transformer import Transformer

pytestmark = pytest.mark.gpu


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


def test_eager_is_as_torch_with_its_gradients(torch, models):
    plain, ours, x = models
    assert_near(torch, ours(x), plain(x), relative=0.02)
    for model in (plain, ours):
        model(x).float().square().mean().backward()
    for one, other in zip(ours.parameters(), plain.parameters(), strict=True):
        assert_near(torch, one.grad, other.grad, relative=0.05)


@pytest.mark.filterwarnings("ignore")  # compiling warns of what torch itself calls
@pytest.mark.parametrize("backend", ["inductor", "aot_eager"])
def test_compiled_whole_it_is_as_eager(torch, models, backend):
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


def test_a_graph_replays_it(torch, models):
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
