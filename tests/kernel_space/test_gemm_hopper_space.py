"""Which clusters and products in flight Hopper's mechanisms have, and how many blocks start."""

from __future__ import annotations

import dataclasses

import pytest
from cards import A100, H200

from kernel_space.gemm import Gemm, GemmProblem, hopper

GEMM = Gemm()
SMALL = GemmProblem(300, 1000, 1112)
LARGE = GemmProblem(4096, 4096, 4096)
FOUR = {
    "mechanism": "ws_cooperative",
    "tile_m": 128,
    "tile_n": 64,
    "stages": 8,
    "epilogue": "direct",
}
TMA = {"mechanism": "tma", "in_flight": 1}


def changed(problem, **changes):
    return GEMM.default(problem, H200).replace(**changes)


def clusters(problem, **allowed):
    space = GEMM.space(problem, H200).restricted(
        {"mechanism": hopper.MECHANISMS, "raster": ["along_m"], "raster_group": [1], **allowed}
    )
    return {(config["cluster_m"], config["cluster_n"], config["split_k"]) for config in space}


def test_a_cluster_has_up_to_eight_blocks_of_every_shape():
    found = clusters(SMALL)
    sides = [(m, n) for m in (1, 2, 4) for n in (1, 2, 4) if m * n <= 8]
    assert {(m, n) for m, n, parts in found if parts == 1} == set(sides)
    assert {(4, 1, 2), (1, 4, 2), (2, 2, 2), (2, 1, 4)} <= found
    assert max(m * n * parts for m, n, parts in found) == 8


@pytest.mark.parametrize(
    ("changes", "name", "reason"),
    [
        ({"cluster_m": 4, "cluster_n": 4}, "cluster", "16 blocks are more than the 8"),
        ({"cluster_m": 4, "split_k": 4}, "cluster", "16 blocks are more than the 8"),
        ({"tile_n": 48, "cluster_m": 4}, "cluster", "4 blocks cannot share 48 lines of B"),
        ({**TMA, "cluster_n": 4}, "cluster", "nobody waits for the other blocks"),
        ({"tile_m": 256, "tile_n": 144, "cluster_n": 4}, "accumulators", "144 sums"),
        ({"in_flight": 0}, "in_flight", "ws_cooperative has 1 or 2 here, not 0"),
        ({**TMA, "in_flight": 2}, "in_flight", "tma has 1 here, not 2"),
        ({"mechanism": "ws_pingpong", "in_flight": 0}, "in_flight", "has 1 or 2 here"),
    ],
    ids=str,
)
def test_each_rule_says_what_it_removes(changes, name, reason):
    found = GEMM.space(SMALL, H200).broken(changed(SMALL, **{**FOUR, **changes}))
    assert found is not None
    assert found[0] == name
    assert reason in found[1]


def test_only_warp_groups_have_products_in_flight():
    config = GEMM.default(LARGE, A100)
    assert config["in_flight"] == 0
    found = GEMM.space(LARGE, A100).broken(config.replace(in_flight=1))
    assert found == ("no_choice", "in_flight can only be 0 here, not 1")


@pytest.mark.parametrize("mechanism", hopper.MECHANISMS)
def test_people_see_products_in_flight_where_they_are_not_the_usual_ones(mechanism):
    usual = hopper.IN_FLIGHT[mechanism][-1]
    assert "in_flight" not in GEMM.shown(changed(LARGE, mechanism=mechanism, in_flight=usual))
    assert "in_flight" in GEMM.shown(changed(LARGE, mechanism="ws_basic", in_flight=1))


@pytest.mark.parametrize(
    ("cluster", "blocks"),
    [((1, 1), 132), ((2, 1), 132), ((1, 4), 120), ((2, 2), 120), ((4, 2), 120)],
)
def test_no_more_clusters_start_than_uneven_groups_of_multiprocessors_hold(cluster, blocks):
    config = changed(LARGE, cluster_m=cluster[0], cluster_n=cluster[1])
    assert GEMM.launch(LARGE, config, H200).grid == (blocks, 1, 1)


def test_tiles_are_padded_to_whole_clusters():
    """Three tiles by eight: of four blocks one has no tile, but loads and signals like the rest."""
    config = changed(SMALL, **FOUR, cluster_m=4, cluster_n=2)
    assert GEMM.launch(SMALL, config, H200).grid == (8 * (1 * 8), 1, 1)


def test_a_device_smaller_than_a_cluster_still_starts_one():
    few = dataclasses.replace(H200, sm_count=4)
    config = changed(LARGE, cluster_m=4, cluster_n=2)
    assert GEMM.launch(LARGE, config, few).grid == (8, 1, 1)
