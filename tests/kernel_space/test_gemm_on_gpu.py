"""Every kind of GEMM config on a real GPU, on shapes with tails of every sort."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from on_gpu import assert_right

from autotune.device import open_device
from autotune.records import Config, Limits
from kernel_space.gemm import Gemm, GemmProblem, ampere
from kernel_space.gemm.ampere.mechanisms import TRAITS

pytestmark = pytest.mark.gpu

COPYING = {"mechanism": ampere.MECHANISMS, "raster_group": [4]}
SHAPES = (
    (1, 1, 1),
    (3, 9, 2),
    (128, 96, 0),
    (130, 262, 166),  # rows of 4 bytes in every layout, 8 of fp32
    (60, 132, 44),  # rows of 8 bytes, 16 of fp32
    (130, 264, 168),
    (511, 777, 1),
    (300, 1000, 1112),
    (16, 512, 1024),
    (1, 129, 8),
    (7, 127, 16),
    (63, 65, 24),  # a step of K less than tiles of 32, and one more than those of 16
    (64, 64, 40),
    (65, 63, 56),
    (127, 7, 72),
    (129, 1, 8),
)
RINGS = [
    (name, barriers)
    for name, traits in TRAITS.items()
    for barriers in traits.barriers
    if len(traits.stages) > 1
]


@pytest.fixture(scope="module")
def device():
    opened = open_device("cuda:0", limits=Limits())
    yield opened
    opened.close()


def one_of_each_kind(dtype: str, layout: str, target) -> list[Config]:
    """Return a config of each mechanism, copy width and cache mode, the same ones every time."""
    kinds: dict[tuple, list[Config]] = {}
    for extent in (4096, 4100, 4098, 4095):  # rows of 16, 8, 4 and 2 bytes, if elements have 2
        problem = GemmProblem(extent, extent, extent, dtype, layout)
        for config in Gemm().space(problem, target).restricted(COPYING):
            kind = tuple(config[name] for name in ("mechanism", "barriers", "copy_bytes", "cache"))
            kinds.setdefault(kind, []).append(config)
    generator = random.Random(f"{dtype} {layout}")
    return [generator.choice(configs) for _, configs in sorted(kinds.items())]


def verified(device, problem: GemmProblem, configs: Iterable[Config]) -> set[Config]:
    """Return those of ``configs`` that fit ``problem``, once all have proved right."""
    space = Gemm().space(problem, device.identity.target)
    fitting = [c for c in configs if (space.broken(c) or ("raster",))[0] == "raster"]
    if fitting:
        assert_right(device, problem, fitting)
    return set(fitting)


@pytest.mark.parametrize("dtype", ["bf16", "fp16-fp32", "fp32"])
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_every_kind_of_config_multiplies_every_shape(device, dtype, layout):
    configs = one_of_each_kind(dtype, layout, device.identity.target)
    shapes = (GemmProblem(*shape, dtype, layout) for shape in SHAPES)
    tried = [verified(device, problem, configs) for problem in shapes]
    assert set().union(*tried) == set(configs)


@pytest.mark.parametrize(("mechanism", "barriers"), RINGS)
def test_a_ring_of_any_length_takes_any_number_of_tiles(device, mechanism, barriers):
    def config(problem: GemmProblem, stages: int) -> Config:
        shape = {"tile_m": 64, "tile_n": 64, "tile_k": 32, "warp_m": 32, "warp_n": 32}
        ring = {"mechanism": mechanism, "barriers": barriers, "stages": stages}
        return ampere.default(problem).replace(**shape, **ring)

    stages = TRAITS[mechanism].stages[1:] if barriers == 1 else TRAITS[mechanism].stages
    for tiles in (1, 2, stages[-1] - 1, stages[-1], 2 * stages[-1] + 1):
        problem = GemmProblem(65, 127, 32 * tiles - 8)
        configs = {config(problem, each) for each in stages}
        assert verified(device, problem, configs) == configs
