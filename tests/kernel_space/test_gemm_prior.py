"""The prediction of a GEMM's time, held against what an H200 measured and against physics."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.device.names import recordings
from autotune.records.targets import TARGETS
from autotune.store import Store
from kernel_space.gemm import Gemm, GemmProblem, ampere, hopper
from kernel_space.rates import rates_of

GEMM = Gemm()
H200 = TARGETS["sm_90a"]
HOST = replace(H200, arch="x86_64")
CUBE = GemmProblem(4096, 4096, 4096)


@pytest.fixture(scope="module")
def recorded():
    """Return a frame of each recorded problem: predicted and recorded time of each config, ns."""
    path = recordings()["h200"]
    with Store.open(f"sqlite:///{path}", read_only=True, immutable=True) as store:
        stored = [each for each in store.contexts() if each.context.kernel == GEMM.name]
        return {str(each.context.problem): _frame(each, store.answers(each)) for each in stored}


def _frame(stored, answers):
    problem = GemmProblem.parse(stored.context.problem.as_dict())
    times = {t.config: t.median_ns for t in answers.values() if t.median_ns is not None}
    estimates = GEMM.estimates(problem, times, stored.context.device.target)
    rows = [(estimates[config], recorded) for config, recorded in times.items()]
    return pd.DataFrame(rows, columns=["predicted", "recorded"])


def _agreement(frame):
    """Return Spearman's correlation."""
    ranks = frame.rank()
    return ranks.predicted.corr(ranks.recorded)


def test_predictions_rank_configs_as_the_h200_did(recorded):
    agreement = {problem: _agreement(frame) for problem, frame in recorded.items()}
    assert min(agreement.values()) > 0.85, agreement  # 0.92 to 0.96 on the nine it was fitted to


def test_the_fastest_tenth_is_predicted_in_the_fastest_third(recorded):
    for problem, frame in recorded.items():
        place = frame.rank(pct=True)
        fastest = place[place.recorded <= 0.1]
        assert (fastest.predicted <= 1 / 3).mean() > 0.95, problem


def test_of_the_ten_that_promise_most_one_is_within_15_percent_of_the_best(recorded):
    for problem, frame in recorded.items():
        tried = frame.nsmallest(10, "predicted")
        assert tried.recorded.min() < 1.15 * frame.recorded.min(), problem


def test_the_predicted_time_of_the_fastest_is_no_more_than_two_fifths_off(recorded):
    for problem, frame in recorded.items():
        fastest = frame.loc[frame.recorded.idxmin()]
        assert 5 / 7 < fastest.recorded / fastest.predicted < 7 / 5, problem


def _configs(problem, target, step):
    return list(GEMM.space(problem, target))[::step]


SIZES = st.integers(1, 600).map(lambda eighths: 8 * eighths)
LINES = st.integers(1, 75).map(lambda lines: 64 * lines)  # rows stay as ragged as they were
CONFIGS = st.sampled_from(_configs(CUBE, H200, 97))


@settings(max_examples=300, deadline=None)
@given(m=SIZES, n=SIZES, k=SIZES, config=CONFIGS, more=LINES, field=st.sampled_from("mnk"))
def test_more_work_never_takes_less_time(m, n, k, config, more, field):
    problem = GemmProblem(m, n, k)
    larger = replace(problem, **{field: getattr(problem, field) + more})
    slower = GEMM.estimate(larger, config, H200)
    assert slower >= GEMM.estimate(problem, config, H200)


@pytest.mark.parametrize("problem", [CUBE, GemmProblem(900, 900, 900)], ids=str)
def test_configs_are_predicted_together_as_alone(problem):
    """What many share is worked out once: it must be all that it follows from."""
    configs = _configs(problem, H200, 97)
    alone = {config: GEMM.estimate(problem, config, H200) for config in configs}
    assert GEMM.estimates(problem, configs, H200) == alone


def _beats_the_device(problem, config):
    rates, cost = rates_of(H200), GEMM.cost(problem)
    flop_per_clk = rates.wgmma_flop_per_clk * problem.tensor_speed
    flop_per_ns = flop_per_clk * rates.clock_ghz * H200.sm_count
    floor_ns = max(cost.flop / flop_per_ns, cost.bytes / rates.memory_bytes_per_ns)
    return GEMM.estimate(problem, config, H200) <= floor_ns


@settings(max_examples=300, deadline=None)
@given(m=SIZES, n=SIZES, k=SIZES, config=CONFIGS)
def test_no_config_is_predicted_to_beat_the_device(m, n, k, config):
    assert not _beats_the_device(GemmProblem(m, n, k), config)


@pytest.mark.parametrize("arch", [arch for arch in TARGETS if arch.startswith("sm_")])
@pytest.mark.parametrize(
    "problem",
    [
        GemmProblem(300, 200, 100),
        GemmProblem(65, 63, 1, "fp16", "tn"),
        GemmProblem(64, 64, 0),
        GemmProblem(129, 127, 50, "fp32", "nn"),
    ],
    ids=str,
)
def test_every_config_of_every_architecture_has_a_finite_time(problem, arch):
    configs = _configs(problem, TARGETS[arch], 53)
    estimates = GEMM.estimates(problem, configs, TARGETS[arch])
    assert len(estimates) == len(configs) > 0
    assert all(0 < ns < math.inf for ns in estimates.values())


def test_a_device_whose_rates_are_unknown_has_no_prediction():
    assert GEMM.estimate(CUBE, GEMM.default(CUBE, H200), HOST) is None


def test_warp_groups_are_not_predicted_where_there_are_none():
    config = GEMM.default(CUBE, H200)
    assert config["mechanism"] in hopper.MECHANISMS
    assert GEMM.estimate(CUBE, config, TARGETS["sm_80"]) is None


def _fastest(problem, mechanisms, **fixed):
    """Return the least prediction among the valid configs of some mechanisms, in ns."""
    allowed = {"mechanism": [*mechanisms], **{name: [value] for name, value in fixed.items()}}
    configs = GEMM.space(problem, H200).restricted(allowed)
    return min(GEMM.estimates(problem, configs, H200).values())


def test_every_mechanism_is_predicted():
    assert all(
        _fastest(CUBE, [name], raster="along_m", raster_group=1) for name in ampere.MECHANISMS
    )


def test_the_ladder_is_predicted_in_its_order():
    """The reason for each rung: loads ahead, then asynchronous copies, TMA, and roles."""
    rungs = ("sync1",), ("cp_async",), ("tma",), ("ws_cooperative", "ws_pingpong")
    times = [_fastest(CUBE, rung, raster="along_m", raster_group=1) for rung in rungs]
    assert times == sorted(times, reverse=True)


def test_small_k_favours_the_epilogue_that_hides():
    flat = GemmProblem(8192, 8192, 512)
    raster = {"raster": "along_m", "raster_group": 1}
    pingpong, cooperative = (
        _fastest(flat, [m], **raster) for m in ("ws_pingpong", "ws_cooperative")
    )
    assert pingpong < cooperative


def test_few_rows_favour_swapped_operands():
    skinny = GemmProblem(16, 4096, 7168)
    given_, swapped = (
        _fastest(skinny, ["ws_basic"], raster="along_m", raster_group=1, operands=order)
        for order in ("given", "swapped")
    )
    assert swapped < given_


def test_bands_pay_where_operands_exceed_the_cache():
    large = GemmProblem(16384, 16384, 16384)
    narrow, wide = (
        _fastest(large, ["ws_cooperative"], raster="along_m", raster_group=group)
        for group in (1, 8)
    )
    assert wide < narrow


class TestEightBits:
    """Nothing is recorded of them: they are held against physics and against 16-bit elements."""

    LARGE = GemmProblem(8192, 8192, 8192, "e4m3-bf16")
    LONG_ROWS = GemmProblem(16, 16384, 16384, "e4m3-bf16")
    SKINNY = GemmProblem(16, 4096, 7168, "e4m3-bf16")
    DEEP = GemmProblem(64, 256, 16384, "e4m3-bf16")

    def configs(self, problem):
        """Return every config with one raster and one hint to the cache."""
        hints = {"raster": ["along_m"], "raster_group": [1], "l2_promotion": [256]}
        return list(GEMM.space(problem, H200).restricted({**hints, "keep": ["neither"]}))

    def promising(self, problem):
        """Return the twenty configs of which the prior promises most."""
        estimates = GEMM.estimates(problem, self.configs(problem), H200)
        return sorted(estimates, key=lambda config: estimates[config])[:20]

    @pytest.mark.parametrize("problem", [LARGE, SKINNY, DEEP], ids=str)
    def test_every_config_is_predicted_and_none_beats_the_device(self, problem):
        configs = self.configs(problem)
        estimates = GEMM.estimates(problem, configs, H200)
        assert len(estimates) == len(configs) > 100
        fastest = min(configs, key=lambda config: estimates[config])
        assert not _beats_the_device(problem, fastest)

    @pytest.mark.parametrize(
        ("problem", "mechanism", "group"),
        [(LARGE, "ws_cooperative", 8), (LONG_ROWS, "ws_basic", 1)],
        ids=["limited by products", "limited by memory"],
    )
    def test_the_fastest_takes_half_as_long_as_with_16_bits(self, problem, mechanism, group):
        wide, narrow = (
            _fastest(each, [mechanism], raster="along_m", raster_group=group)
            for each in (replace(problem, dtype="bf16"), problem)
        )
        assert narrow == pytest.approx(wide / 2, rel=0.1)

    def test_large_products_favour_large_tiles_and_whole_sums(self):
        first = self.promising(self.LARGE)
        assert min(config["tile_m"] * config["tile_n"] for config in first) >= 128 * 128
        assert {config["split_k"] for config in first} == {1}

    def test_few_rows_favour_swapped_operands(self):
        assert self.promising(self.SKINNY)[0]["operands"] == "swapped"

    def test_few_tiles_of_long_sums_favour_a_split(self):
        assert min(config["split_k"] for config in self.promising(self.DEEP)) > 1
