"""Verification finds the faults that a GEMM can have: each is put in, built and measured.

Of these faults it may find nothing. What became of them is logged (--log-cli-level=INFO); that
they leave the next candidate alone is tested.

| fault | why nothing need be seen |
|---|---|
| ws_cp_async_ends_before_its_copies | consumers wait for every copy, and the block for them |
| hopper_frees_a_stage_while_it_is_multiplied | a refill takes longer than the rest of a product |
| sums_are_stored_before_the_last_product_is_done | the compiler puts the wait back, and says so |
| barriers_are_used_without_a_fence | sm_90a has no instruction for it: the code is the same |
| a_block_leaves_while_others_signal_its_barriers | what nobody waits for any more is lost unseen |
"""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from cards import H200
from gemm_mutants import Chained, Elsewhere, copy_sources
from gemm_mutants_ampere import AMPERE_MUTANTS
from gemm_mutants_hopper import HOPPER_MUTANTS

from autotune.device import open_device
from autotune.records import Binary, Candidate, Limits, Policy, Status
from autotune.toolchain import BinaryStore, Nvrtc, compile_now
from kernel_space.gemm import Gemm

MUTANTS = sorted(  # inputs and references of a problem are made once
    (*AMPERE_MUTANTS, *HOPPER_MUTANTS), key=lambda each: (each.chained, str(each.problem))
)
SAME_CODE = {"barriers_are_used_without_a_fence"}
MENDED = "sums_are_stored_before_the_last_product_is_done"
RUN_LIMIT_S = 2.0  # what a fault that hangs costs
VERIFY = Policy(
    warmup_ms=0.0,
    min_samples=1,
    max_samples=1,
    budget_ms=0.1,
    sample_us=10.0,
    cache="hot",
    repeats=20,
)
FAILED = {
    Status.INCORRECT,
    Status.NONDETERMINISTIC,
    Status.RUNTIME_ERROR,
    Status.TIMEOUT,
    Status.CRASHED,
}

each_mutant = pytest.mark.parametrize("mutant", MUTANTS, ids=[each.name for each in MUTANTS])


def compiled(mutant, kernel):
    unit = kernel.unit(mutant.problem, mutant.config, H200)
    binary = compile_now(Nvrtc(), BinaryStore(), unit, H200.arch)
    assert isinstance(binary, Binary), binary
    assert binary.resources.spill_bytes == 0  # else it would be refused, not verified
    return binary


@each_mutant
def test_a_fault_is_put_into_one_place_of_a_config_of_the_space(mutant):
    assert set(mutant.places()) == {1}
    assert Gemm().space(mutant.problem, H200).broken(mutant.config) is None


@pytest.mark.slow
@each_mutant
def test_a_fault_compiles_and_reaches_the_code(mutant, tmp_path):
    paths = [
        compiled(mutant, kernel).path for kernel in (Gemm(), Elsewhere(mutant.write(tmp_path)))
    ]
    right, wrong = (Path(path).read_bytes() for path in paths)
    assert (right == wrong) == (mutant.name in SAME_CODE)


def test_the_compiler_waits_for_sums_that_nobody_waits_for(tmp_path):
    mutant = next(each for each in MUTANTS if each.name == MENDED)
    binary = compiled(mutant, Elsewhere(mutant.write(tmp_path)))
    assert "(C7517)" in " ".join(binary.resources.warnings)  # its words differ by release


def test_every_fault_that_may_stay_unseen_is_listed_with_a_reason():
    rows = [row.split(" | ") for row in __doc__.splitlines() if row.startswith("| ")][1:]
    listed = [name.removeprefix("| ") for name, _ in rows]
    assert sorted(listed) == sorted(each.name for each in MUTANTS if not each.seen)


def test_the_second_launch_of_a_chain_reads_what_the_first_writes():
    mutant = next(each for each in MUTANTS if each.chained)
    launch = Chained().launch(mutant.problem, mutant.config, H200)
    assert launch.misnamed(mutant.problem.operands) is None
    first, second = ({str(each) for each in step.arguments} for step in launch.steps)
    assert ("between" in first, "c" in second) == (True, True)
    assert any("between" in each for each in second - {"between"})
    assert not any("name='a'" in each for each in second)


@pytest.fixture(scope="module")
def device():
    opened = open_device("cuda:0", limits=Limits(run_s=RUN_LIMIT_S))
    yield opened
    opened.close()


def built(device, mutant, folder):
    """Start to build a mutant's config from the sources in a folder."""
    target = device.identity.target
    kernel = Elsewhere(folder)
    candidate = Candidate(mutant.kernel_ref, mutant.problem, mutant.config, target, kernel)
    return candidate, device.build(candidate)


@pytest.fixture(scope="module")
def builds(device, tmp_path_factory):
    """Return, for each mutant that the device can run, its build and that of the right source."""
    target, right = device.identity.target, copy_sources(tmp_path_factory.mktemp("right"))
    return {
        mutant.name: (
            built(device, mutant, mutant.write(tmp_path_factory.mktemp("wrong"))),
            built(device, mutant, right),
        )
        for mutant in MUTANTS
        if Gemm().space(mutant.problem, target).broken(mutant.config) is None
    }


def measured(device, build):
    candidate, binary = build[0], build[1].result()
    assert isinstance(binary, Binary), binary
    return device.measure(candidate, binary, VERIFY)


@pytest.mark.gpu
@each_mutant
def test_verification_finds_the_fault(device, builds, mutant):
    if mutant.name not in builds:
        pytest.skip(f"{device.identity.target.arch} does not run this config")
    wrong, right = builds[mutant.name]
    outcome = measured(device, wrong)
    logging.getLogger(__name__).info("%s: %s: %s", mutant.name, outcome.status, outcome.message)
    after = measured(device, right)
    assert (after.status, after.message) == (Status.OK, "")
    if mutant.seen:
        assert outcome.status in FAILED, outcome
