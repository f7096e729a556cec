"""The campaign's CUDA kernel compiles here, so that what a GPU shows is no slip of the kernel's."""

from __future__ import annotations

import pytest
from faults_campaign import KERNEL, PROBLEM
from faults_candidates import GPU

from autotune.errors import InvalidInput
from autotune.records import Failure, Status, load_kernel
from autotune.records.targets import TARGETS
from autotune.toolchain import Nvrtc

pytest.importorskip("cuda.bindings")


@pytest.fixture(scope="module")
def compiled():
    """Every config of the campaign, by its fault, as NVRTC answers it."""
    kernel, target = load_kernel(KERNEL["cuda"]), TARGETS["sm_90a"]
    problem = kernel.problem_type.parse(PROBLEM["cuda"])

    def one(config):
        try:
            return Nvrtc().compile(kernel.unit(problem, config, target), target.arch)
        except InvalidInput as error:  # a header that is nowhere
            return Failure(status=Status.COMPILE_ERROR, message=error.message)

    return {config["fault"]: one(config) for config in kernel.space(problem, target)}


def of_status(status):
    return {name for (_, each), names in GPU.items() if each is status for name in names.split()}


def test_every_fault_of_the_campaign_is_one_of_the_kernel(compiled):
    named = {name for names in GPU.values() for name in names.split()}
    assert named == set(compiled) - {"none"}


def test_only_faults_of_the_compile_do_not_compile(compiled):
    failed = {name for name, outcome in compiled.items() if isinstance(outcome, Failure)}
    assert failed == of_status(Status.COMPILE_ERROR)


def test_only_the_one_that_shall_spill_spills(compiled):
    built = {name: each for name, each in compiled.items() if not isinstance(each, Failure)}
    assert {name for name, each in built.items() if each.resources.spill_bytes} == {"spills"}
